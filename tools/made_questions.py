"""Measure how far queries made from documents agree with real questions about them: XQuAD English and TeleQuAD.

    EMBASSAY_DATA=FOLDER python tools/made_questions.py [xquad telequad] [--limit 200] [--seed 0]

Real questions and sentences (inverse cloze) search the same documents, paragraphs of the data set. A
candidate is one of eight encoders with one of three sizes of passages; a document is as near as its nearest passage.
Printed are the rank correlations of the candidates' scores between real and made questions, next to those between two
halves of the real questions, which is what sampling allows. Needs the extra ``minilm``. 200 paragraphs of each data set
take about four minutes on two cores.

TeleQuAD's paragraphs are sections of specifications and web pages that begin with their headings.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import embassay as ea
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus, Encoder
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import Cutter
from embassay.corpora.queries.made import MadeQueries, made_queries
from embassay.corpora.retrieval.squad import articles_of

FILES = {"xquad": "xquad_en/xquad.en.json", "telequad": "telequad/TeleQuAD-v4-full.json"}
LEXICAL = ("bow", "tfidf", "bm25", "hashing")
DIMENSIONS = (64, 128, 256, 384)
SIZES = ("document", "100", "sentence")
"""Sizes of passages."""
MEASURES = ("Success@5", "nDCG@10")
WHOLE = max(DIMENSIONS)
LIMIT = 200
"""The default for the number of paragraphs."""
_NUMBERED = re.compile(r"([A-Z]?\d*(?:\.\d+)*[a-zA-Z]?)\t+(\S.*)")
_ADDRESS = re.compile(r"(?:3GPP-Specs#|https?:)\S*")


@dataclass(frozen=True)
class Truncated:
    """The leading dimensions of an encoder whose vectors are computed once for all."""

    base: Encoder
    dim: int
    vectors: dict[str, NDArray[np.float32]] = field(compare=False, repr=False)
    version: str = "1"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the (n, dim) vectors."""
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, np.asarray(self.base.encode(new)), strict=True))
        return np.array([self.vectors[text][: self.dim] for text in texts])


def candidates() -> list[str | Encoder]:
    """Return the encoders to compare."""
    base = ea.encoder("all-MiniLM-L6-v2")
    vectors = dict[str, NDArray[np.float32]]()
    truncated = [ea.encoder(Truncated(base, dim, vectors), name=f"minilm-{dim}") for dim in DIMENSIONS]
    return [*LEXICAL, *truncated]


# --- The data ---


def markdown(context: str) -> str:
    """Return a section of TeleQuAD with its numbered headings as Markdown; addresses are dropped."""
    lines = list[str]()
    after_address = False
    for line in context.split("\n"):
        numbered = _NUMBERED.fullmatch(line.strip())
        if _ADDRESS.fullmatch(line.strip()):
            after_address = True
        elif numbered:
            depth = min(numbered.group(1).count(".") + 1, 6)
            lines += ["", f"{'#' * depth} {numbered.group(2)}", ""]
            after_address = False
        elif after_address and line.strip():
            # The title of a web page has no number.
            lines += [f"# {line.strip()}", ""]
            after_address = False
        else:
            lines.append(line)
    return "\n".join(lines).strip()


def documents_of(name: str, path: Path) -> list[SourceDocument]:
    """Return the paragraphs of a data set; the ids are those of the loader ``squad``."""
    sources = list[SourceDocument]()
    for number, article in enumerate(articles_of(path)):
        for index, paragraph in enumerate(article.paragraphs):
            text = markdown(paragraph.context) if name == "telequad" else paragraph.context
            sources.append(SourceDocument(f"{number}-{index}", text))
    return sources


def chosen_paragraphs(sources: Sequence[SourceDocument], limit: int, seed: int) -> list[SourceDocument]:
    """Return at most ``limit`` randomly chosen paragraphs."""
    places = generator(seed, "made questions", "paragraphs").permutation(len(sources))[:limit]
    return [sources[place] for place in sorted(places)]


def halves(path: Path, ids: set[str], seed: int) -> list[tuple[Question, ...]]:
    """Return the real questions that these paragraphs answer, in two random halves."""
    corpus = ea.load(f"real={path},documents=paragraphs")
    questions = [question for question in corpus.samples if question.right and ids.issuperset(question.right)]
    order = generator(seed, "made questions", "halves").permutation(len(questions))
    return [tuple(questions[place] for place in order[start::2]) for start in (0, 1)]


def made_texts(made: MadeQueries) -> dict[str, str]:
    """Return the documents without the queries that were made from them."""
    bodies = dict[str, list[str]]()
    for passage in made.passages:
        bodies.setdefault(passage.unit, []).append(passage.body)
    return {document: "\n\n".join(parts) for document, parts in bodies.items()}


def made_questions(made: MadeQueries) -> tuple[Question, ...]:
    """Return the queries; the documents of their passages are right."""
    questions = list[Question]()
    for query in made.queries:
        right = tuple(dict.fromkeys(passage.unit for passage in query.right))
        questions.append(Question(query.id, query.text, right, units=right))
    return tuple(questions)


def corpus_of(name: str, questions: Sequence[Question], texts: Mapping[str, str], size: str) -> Corpus[Question]:
    """Return a corpus whose documents are divided into passages of a size."""
    cut = Cutter(size)
    documents = tuple(Document(key, cut(text)) for key, text in texts.items())
    return Corpus(name, "retrieval", tuple(questions), documents=documents)


# --- The measurement ---

Scores = dict[tuple[str, str, str], float]
"""The mean of a measure by (size of passages, encoder, measure)."""


def scores_of(questions: Sequence[Question], texts: Mapping[str, str], encoders: Sequence[str | Encoder]) -> Scores:
    """Return the scores of each candidate."""
    scores = Scores()
    for size in SIZES:
        corpus = corpus_of("measured", questions, texts, size)
        result = ea.assay(encoders, [corpus], ["retrieval"], baselines=False, resamples=20, cache=None)
        for row in result.rows:
            if row.diagnostic == "retrieval" and row.metric in MEASURES and (row.subset, row.condition) == ("all", ""):
                scores[size, row.encoder, row.metric] = row.value
    return scores


@dataclass(frozen=True)
class Measured:
    """The scores of all candidates on each kind of queries of a data set, and the numbers of queries.

    Kinds are ``real``, ``half 1`` and ``half 2`` of them, and ``cloze``.
    """

    paragraphs: int
    queries: Mapping[str, int]
    scores: Mapping[str, Scores]

    def correlation(self, kind: str, other: str, metric: str) -> float:
        """Return Spearman's correlation of all candidates' scores between two kinds of queries."""
        keys = [key for key in self.scores[kind] if key[2] == metric]
        return _spearman(self.scores[kind], self.scores[other], keys)

    def correlation_of_encoders(self, kind: str, other: str, metric: str) -> float:
        """Return the same of the encoders with one size of passages, the mean over the sizes."""
        values = list[float]()
        for size in SIZES:
            keys = [key for key in self.scores[kind] if key[0] == size and key[2] == metric]
            values.append(_spearman(self.scores[kind], self.scores[other], keys))
        return float(np.mean(values))

    def loss(self, kind: str, metric: str) -> float:
        """Return how much lower the real score of the candidate that a kind ranks first is than the best one."""
        keys = [key for key in self.scores["real"] if key[2] == metric]
        real = np.array([self.scores["real"][key] for key in keys])
        first = np.argmax([self.scores[kind][key] for key in keys])
        return float(real.max() - real[first])


def _spearman(one: Scores, other: Scores, keys: Sequence[tuple[str, str, str]]) -> float:
    return float(spearmanr([one[key] for key in keys], [other[key] for key in keys]).statistic)


def measure(name: str, limit: int = LIMIT, seed: int = 0) -> Measured:
    """Return the scores of all candidates on real and on made queries of a data set."""
    path = Path(os.environ["EMBASSAY_DATA"]) / FILES[name]
    sources = chosen_paragraphs(documents_of(name, path), limit, seed)
    texts = {source.id: source.text for source in sources}
    encoders = candidates()
    first, second = halves(path, set(texts), seed)
    queries = {"real": len(first) + len(second), "half 1": len(first), "half 2": len(second)}
    scores = {"half 1": scores_of(first, texts, encoders), "half 2": scores_of(second, texts, encoders)}
    scores["real"] = {key: (value + scores["half 2"][key]) / 2 for key, value in scores["half 1"].items()}
    # Whole documents, so that each is searched with each size of passages.
    made = made_queries(sources, passages="document", seed=seed)
    queries["cloze"] = len(made.queries)
    scores["cloze"] = scores_of(made_questions(made), made_texts(made), encoders)
    return Measured(len(texts), queries, scores)


TITLES = {"xquad": "XQuAD", "telequad": "TeleQuAD"}
HEAD = (
    "documents",
    "queries",
    "all candidates: Success@5",
    "nDCG@10",
    "encoders: Success@5",
    "nDCG@10",
    "loss",
    "Success@5 of bm25",
    "of all-MiniLM-L6-v2",
)


def rows(name: str, measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a data set."""
    kinds = {"half 2": "real, one half against the other", "cloze": "cloze"}
    for kind, title in kinds.items():
        compared = "half 1" if kind == "half 2" else "real"
        shown = "real" if kind == "half 2" else kind
        correlations = [measured.correlation(kind, compared, metric) for metric in MEASURES]
        of_encoders = [measured.correlation_of_encoders(kind, compared, metric) for metric in MEASURES]
        levels = [measured.scores[shown]["100", encoder, "Success@5"] for encoder in ("bm25", f"minilm-{WHOLE}")]
        yield (
            f"{TITLES[name]}, {measured.paragraphs} paragraphs",
            f"{title}: {measured.queries[shown]:,}",
            *(f"{value:.2f}" for value in (*correlations, *of_encoders)),
            f"{100 * measured.loss(kind, 'Success@5'):.1f}",
            *(f"{100 * value:.1f}" for value in levels),
        )


def table(limit: int = LIMIT, seed: int = 0, names: Sequence[str] = tuple(FILES)) -> str:
    """Return the measurement as a Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD)]
    for name in names:
        lines += rows(name, measure(name, limit, seed))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{' or '.join(FILES)}; both by default")
    parser.add_argument("--limit", type=int, default=LIMIT, help="the number of paragraphs of each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(table(options.limit, options.seed, options.names or tuple(FILES)), end="")


if __name__ == "__main__":
    main()
