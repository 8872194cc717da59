"""How far queries made from documents agree with real questions about them: XQuAD English and TeleQuAD.

    EMBASSAY_DATA=FOLDER python tools/made_questions.py [xquad telequad] [--limit 500] [--seed 0]

Real questions, headings and sentences (inverse cloze) search the same documents, the paragraphs of the data set. Each
candidate is an encoder with a size of passage; a document is as near as its nearest passage. Printed are the rank
correlations of the candidates' scores between real and made questions, beside that between two halves of the real
questions, which is what sampling allows. Needs the extra ``minilm``. 500 queries of each kind take about four minutes
on two cores.

XQuAD's paragraphs have no headings, only the title of their article, so headings cannot be measured there.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

import embassay as ea
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import cutter
from embassay.corpora.io.squad import paragraphs
from embassay.corpora.queries.made import MadeQueries, made_queries
from embassay.randomness import generator
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus, Encoder

FILES = {"xquad": "xquad_en/xquad.en.json", "telequad": "telequad/TeleQuAD-v4-full.json"}
LEXICAL = ("bow", "tfidf", "bm25", "hashing")
DIMENSIONS = (64, 128, 256, 384)
SIZES = ("document", "100", "sentence")
"""Sizes of passages."""
MEASURES = ("Success@5", "nDCG@10", "RR")
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
    for paragraph in paragraphs(path):
        text = markdown(paragraph.text) if name == "telequad" else paragraph.text
        sources.append(SourceDocument(paragraph.id, text, paragraph.title, paragraph.article))
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
    for passage in made.groups.passages:
        bodies.setdefault(passage.document, []).append(passage.body)
    return {document: "\n\n".join(parts) for document, parts in bodies.items()}


def made_questions(made: MadeQueries) -> tuple[Question, ...]:
    """Return the queries; the documents of their passages are right."""
    questions = list[Question]()
    for query in made.queries:
        right = tuple(dict.fromkeys(passage.document for passage in query.right))
        questions.append(Question(query.id, query.text, right, units=right))
    return tuple(questions)


def corpus_of(name: str, questions: Sequence[Question], texts: Mapping[str, str], size: str) -> Corpus[Question]:
    """Return a corpus whose documents are divided into passages of a size."""
    cut = cutter(size)
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
            if (
                row.diagnostic == "retrieval"
                and row.quantity in MEASURES
                and (row.subset, row.condition) == ("all", "")
            ):
                scores[size, row.encoder, row.quantity] = row.value
    return scores


def agreement(real: Scores, other: Scores, measure: str) -> dict[str, float]:
    """Return how far the candidates' scores on two kinds of queries agree.

    Returns
    -------
    ``spearman`` and ``kendall`` over all candidates; ``within``, the mean Spearman correlation of the encoders over the
    sizes of passages; ``loss``, how much lower the real score of the candidate is that the other queries rank first.
    """
    keys = [key for key in real if key[2] == measure]
    of_real = np.array([real[key] for key in keys])
    of_other = np.array([other[key] for key in keys])
    within = list[float]()
    for size in SIZES:
        places = [place for place, key in enumerate(keys) if key[0] == size]
        within.append(spearmanr(of_real[places], of_other[places]).statistic)
    return {
        "spearman": spearmanr(of_real, of_other).statistic,
        "kendall": kendalltau(of_real, of_other).statistic,
        "within": float(np.mean(within)),
        "loss": of_real.max() - of_real[of_other.argmax()],
    }


def measure(name: str, limit: int, seed: int, share: float = 0.6) -> dict[str, Any]:
    """Return the scores of all candidates on real and on made queries of a data set."""
    path = Path(os.environ["EMBASSAY_DATA"]) / FILES[name]
    sources = chosen_paragraphs(documents_of(name, path), limit, seed)
    encoders = candidates()
    texts = {source.id: source.text for source in sources}
    first, second = halves(path, set(texts), seed)
    scores = {"half 1": scores_of(first, texts, encoders), "half 2": scores_of(second, texts, encoders)}
    scores["real"] = {key: (value + scores["half 2"][key]) / 2 for key, value in scores["half 1"].items()}
    numbers = {"paragraphs": len(texts), "real": len(first) + len(second)}
    for method in ("headings", "cloze"):
        made = made_queries(sources, method, passages="document", seed=seed, share=share)
        numbers[method] = len(made.queries)
        if made.queries:
            scores[method] = scores_of(made_questions(made), made_texts(made), encoders)
    return {"scores": scores, "numbers": numbers}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(FILES))
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--leak", type=float, default=0.6)
    options = parser.parse_args()
    for name in options.names:
        start = time.perf_counter()
        measured = measure(name, options.limit, options.seed, options.leak)
        scores = measured["scores"]
        print(name, measured["numbers"], f"{time.perf_counter() - start:.0f} s")
        pairs = {"half 2": "half 1", "headings": "real", "cloze": "real"}
        for kind, compared in pairs.items():
            if kind in scores:
                for quantity in MEASURES:
                    print(
                        kind,
                        quantity,
                        {k: round(v, 3) for k, v in agreement(scores[compared], scores[kind], quantity).items()},
                    )
        for key in scores["real"]:
            if key[2] == "Success@5":
                print(*key, *(f"{kind}={of[key]:.3f}" for kind, of in scores.items()))


if __name__ == "__main__":
    main()
