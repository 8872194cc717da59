"""Which questions to label first: those on which the candidates disagree, and as many at random.

Questions on which the candidates find the same documents cannot tell them apart, so labels are best spent on the
others. But questions that are chosen by disagreement are harder than usual, and a difference measured on them alone is
too large. So half of the questions are drawn at random from all of them: figures for a decision come from those, and
the others show where the candidates fail.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from embassay.comparison.runs import StoredRun, read_run
from embassay.corpora.io.records import read_table
from embassay.corpora.io.texts import read_text
from embassay.diagnostics.retrieval.scores import References
from embassay.errors import EncoderError, SourceError, SpecError
from embassay.randomness import generator
from embassay.run.execute import execute
from embassay.run.items import read_corpora
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import check_stored_spec
from embassay.run.specs import parse
from embassay.samples.retrieval import Question
from embassay.stats.units import Floats
from embassay.store.paths import source_path
from embassay.types import Corpus, is_chance

QUESTION = ("question", "query", "text")
"""Column names of questions, tried in this order."""
PREFIX = "unlabelled:"
"""Before the ids of the questions that have no label yet."""


@dataclass(frozen=True)
class ToLabel:
    """A question to label.

    Attributes
    ----------
    disagreement
        From 0 to 1: one less the mean share of documents that two candidates both find among their first k.
    chosen_by
        ``disagreement`` or ``random``.
    first
        By candidate the id of the document that it finds first.
    """

    question: str
    disagreement: float
    chosen_by: Literal["disagreement", "random"]
    first: Mapping[str, str]


@dataclass(frozen=True)
class Chosen:
    """The questions to label first, in an order that can be stopped anywhere."""

    questions: tuple[ToLabel, ...]
    candidates: tuple[str, ...]

    def as_csv(self) -> bytes:
        """Return a table with an empty column of right documents, which ``questions=`` reads when it is filled."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = [f"first of {candidate}" for candidate in self.candidates]
        writer.writerow(["question", "document", "chosen_by", "disagreement", *columns])
        for question in self.questions:
            documents = [question.first[candidate] for candidate in self.candidates]
            disagreement = f"{question.disagreement:.3f}"
            writer.writerow([question.question, "", question.chosen_by, disagreement, *documents])
        return text.getvalue().encode("utf-8", "replace")


def choose(run: str | Path, unlabelled: str | Path, count: int, trusted: Collection[str] = ()) -> Chosen:
    """Choose which unlabelled questions to label first.

    The candidates of the run search the documents of its retrieval corpus; documents are taken from the vector cache.

    Parameters
    ----------
    unlabelled
        A table of questions (CSV, TSV, JSON lines, Parquet), or one question a line (.txt).
    count
        How many to choose, at most.
    trusted
        Labels of encoders that may run code or send texts, though only the run's files name them.

    Raises
    ------
    SpecError
        If the run has not one retrieval corpus, or fewer than two candidates, or one of them must be trusted.
    SourceError
        If the questions or the documents cannot be read, or no question is new.
    EncoderError
        If an encoder fails.
    """
    if count < 1:
        raise SpecError(f"--count must be 1 or more, is {count}")
    stored = read_run(run)
    corpus = _corpus(stored)
    specs = _candidates(stored, trusted)
    labelled = {sample.question for sample in corpus.samples}
    path = source_path(unlabelled)
    distinct = dict.fromkeys(question_texts(path))
    texts = [text for text in distinct if text not in labelled]
    if not texts:
        raise SourceError("has no question that the run's corpus does not have already", path)
    questions = tuple(Question(f"{PREFIX}{number}", text, ()) for number, text in enumerate(texts))
    # The labelled questions stay: the diagnostic refuses a corpus in which nothing can be found.
    whole = replace(corpus, samples=(*corpus.samples, *questions))
    first, nearest = _search(stored, whole, specs, len(questions))
    disagreement = _disagreement(list(nearest.values()))
    chosen = []
    for place, chosen_by in _order(disagreement, count, stored.result.seed):
        first_documents = {name: first[name][place] for name in nearest}
        chosen.append(ToLabel(texts[place], float(disagreement[place]), chosen_by, first_documents))
    return Chosen(tuple(chosen), tuple(nearest))


def question_texts(path: Path) -> list[str]:
    """Return the questions of a table, or of a text file with one on each line.

    Raises
    ------
    SourceError
        If the file cannot be read, or no column is recognised.
    """
    if path.suffix == ".txt":
        return [line.strip() for line in read_text(path).splitlines() if line.strip()]
    table = read_table(path)
    column = table.perhaps("", QUESTION)
    if not column:
        raise SourceError(f"no column of questions; name it {QUESTION[0]!r}", path, table.line)
    return [row.text(column).strip() for row in table.read((column,))]


def _corpus(run: StoredRun) -> Corpus[Question]:
    """Return the run's only retrieval corpus, read again."""
    all_corpora = read_corpora(run.path, run.record).values()
    corpora = [corpus for corpus in all_corpora if corpus.shape == "retrieval"]
    if len(corpora) != 1:
        raise SpecError(f"--unlabelled needs a run with one corpus of questions and documents; it has {len(corpora)}")
    return corpora[0]


def _candidates(run: StoredRun, trusted: Collection[str]) -> list[Any]:
    """Return the specs of the candidates, with their labels."""
    specs = []
    for record in run.result.encoders:
        if record.baseline or is_chance(record.spec):
            continue
        check_stored_spec(record.spec, trusted=record.name in trusted)
        specs.append(replace(parse(record.spec, "encoder"), label=record.name))
    if len(specs) < 2:
        raise SpecError("--unlabelled needs a run with two candidates or more: one cannot disagree")
    return specs


def _search(
    run: StoredRun, corpus: Corpus[Question], specs: Sequence[Any], count: int
) -> tuple[dict[str, list[str]], dict[str, list[frozenset[int]]]]:
    """Let all candidates search the last ``count`` questions.

    Returns
    -------
    By candidate and question the id of the first document, and the places of all that are found.
    """
    request = RunRequest(
        specs, corpus, ["retrieval"], baselines=False, cache="default", seed=run.result.seed, resamples=1, examples=0
    )
    plan = prepare(request)
    outcome = execute(plan)
    if outcome.failures:
        raise EncoderError("; ".join(failure.sentence for failure in outcome.failures))
    (task,) = outcome.scored(plan)
    references = References(corpus)
    first: dict[str, list[str]] = {}
    nearest: dict[str, list[frozenset[int]]] = {}
    for scores in task.scores:
        encoder = scores.origin.encoder
        first[encoder] = []
        nearest[encoder] = []
        # (count, k) the codes of the nearest passages, the nearest first; NaN where there are fewer than k.
        for row in scores.values["found"][-count:]:
            passages = row[~np.isnan(row)]
            nearest[encoder].append(frozenset(references.place(int(passage)) for passage in passages))
            # A question whose vector has no similarity finds nothing.
            first[encoder].append(references.document(int(passages[0])).id if len(passages) else "")
    return first, nearest


def _disagreement(nearest: Sequence[Sequence[frozenset[int]]]) -> Floats:
    """Return (n,) one less the mean share of documents that two candidates have in common, over all pairs."""
    shares = []
    for one, other in combinations(nearest, 2):
        of_pair = []
        for documents, other_documents in zip(one, other, strict=True):
            common = documents & other_documents
            together = documents | other_documents
            # Two candidates that find nothing have nothing in common.
            of_pair.append(len(common) / max(len(together), 1))
        shares.append(of_pair)
    mean_share: Floats = np.mean(np.array(shares, dtype=np.float64), axis=0)
    return 1 - mean_share


def _order(disagreement: Floats, count: int, seed: int) -> list[tuple[int, Literal["disagreement", "random"]]]:
    """Return which questions to label, by turns the one with the largest disagreement and one at random."""
    count = min(count, len(disagreement))
    random_count = (count + 1) // 2
    # A question that is drawn at random stays a random one, whatever its disagreement: the random half must be a sample
    # of all questions.
    at_random = generator(seed, "label first").permutation(len(disagreement))[:random_count].tolist()
    by_disagreement = np.argsort(-disagreement, kind="stable")
    hardest = by_disagreement[~np.isin(by_disagreement, at_random)].tolist()
    order: list[tuple[int, Literal["disagreement", "random"]]] = []
    for turn in range(count):
        if turn % 2 == 0:
            order.append((at_random[turn // 2], "random"))
        else:
            order.append((hardest[turn // 2], "disagreement"))
    return order
