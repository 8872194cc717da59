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
from typing import Any

import numpy as np

from embassay.comparison.runs import StoredRun, read_run
from embassay.corpora.io.labelling import CHOSEN_BY, DISAGREEMENT, TO_LABEL, ChosenBy
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
    chosen_by: ChosenBy
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
        writer.writerow(["id", "question", "document", CHOSEN_BY, DISAGREEMENT, *columns])
        for number, question in enumerate(self.questions):
            # The user fills this column in.
            right_document = ""
            disagreement = f"{question.disagreement:.3f}"
            first_documents = [question.first[candidate] for candidate in self.candidates]
            cells = (f"{TO_LABEL}{number}", question.question, right_document, question.chosen_by, disagreement)
            writer.writerow([*cells, *first_documents])
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
    questions = [Question(f"{PREFIX}{number}", text, right=()) for number, text in enumerate(texts)]
    # The labelled questions stay: the diagnostic refuses a corpus in which nothing can be found.
    all_questions = replace(corpus, samples=(*corpus.samples, *questions))
    searches = _search(stored, all_questions, specs, len(questions))
    disagreement = _disagreement([search.documents for search in searches.values()])
    chosen = []
    for place, chosen_by in _order(disagreement, count, stored.result.seed):
        first_documents = {candidate: search.first[place] for candidate, search in searches.items()}
        chosen.append(ToLabel(texts[place], float(disagreement[place]), chosen_by, first_documents))
    return Chosen(tuple(chosen), candidates=tuple(searches))


def question_texts(path: Path) -> list[str]:
    """Return the questions of a table, or of a text file with one on each line.

    Raises
    ------
    SourceError
        If the file cannot be read, or no column is recognised.
    """
    if path.suffix == ".txt":
        lines = [line.strip() for line in read_text(path).splitlines()]
        return [line for line in lines if line]
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


@dataclass(frozen=True)
class _Search:
    """What one candidate finds for the unlabelled questions.

    Attributes
    ----------
    first
        For each question the id of the document that is found first; empty where nothing is found.
    documents
        For each question the places in the corpus of all documents that are found, k at most.
    """

    first: list[str]
    documents: list[frozenset[int]]


def _search(run: StoredRun, corpus: Corpus[Question], specs: Sequence[Any], count: int) -> dict[str, _Search]:
    """Return what each candidate finds for the last ``count`` questions of a corpus."""
    request = RunRequest(
        encoders=specs,
        corpora=corpus,
        diagnostics=["retrieval"],
        baselines=False,
        cache="default",
        seed=run.result.seed,
        # Only what is found is read, so one resample will do.
        resamples=1,
        examples=0,
    )
    plan = prepare(request)
    outcome = execute(plan)
    if outcome.failures:
        raise EncoderError("; ".join(failure.sentence for failure in outcome.failures))
    (task,) = outcome.scored(plan)
    references = References(corpus)
    searches = {}
    for scores in task.scores:
        first: list[str] = []
        documents: list[frozenset[int]] = []
        # (count, k) the rows of the nearest passages, the nearest first; NaN where there are fewer than k.
        for nearest in scores.values["found"][-count:]:
            passages = nearest[~np.isnan(nearest)].astype(int).tolist()
            # A question whose vector has no similarity finds nothing.
            first.append(references.document(passages[0]).id if passages else "")
            documents.append(frozenset(references.place(passage) for passage in passages))
        searches[scores.origin.encoder] = _Search(first, documents)
    return searches


def _disagreement(documents_of: Sequence[Sequence[frozenset[int]]]) -> Floats:
    """Return the (n,) disagreement on each question: 1 − the mean Jaccard similarity of two candidates' documents.

    Parameters
    ----------
    documents_of
        For each candidate and each of the n questions, the documents that are found.
    """
    # (pairs of candidates, n)
    similarities = []
    for one, other in combinations(documents_of, 2):
        of_pair = []
        for documents, other_documents in zip(one, other, strict=True):
            in_both = documents & other_documents
            in_either = documents | other_documents
            # Two candidates that find nothing have nothing in common.
            of_pair.append(len(in_both) / max(len(in_either), 1))
        similarities.append(of_pair)
    mean_similarity: Floats = np.mean(np.array(similarities, dtype=np.float64), axis=0)
    return 1 - mean_similarity


def _order(disagreement: Floats, count: int, seed: int) -> list[tuple[int, ChosenBy]]:
    """Return the places of the questions to label: by turns one at random and the one with the largest disagreement.

    Parameters
    ----------
    disagreement
        (n,) of all questions.
    count
        How many to return, at most.
    """
    count = min(count, len(disagreement))
    random_count = (count + 1) // 2
    # A question that is drawn at random stays a random one, whatever its disagreement: the random half must be a sample
    # of all questions.
    shuffled = generator(seed, "label first").permutation(len(disagreement))
    at_random = shuffled[:random_count].tolist()
    largest_first = np.argsort(-disagreement, kind="stable")
    others = largest_first[~np.isin(largest_first, at_random)].tolist()
    order: list[tuple[int, ChosenBy]] = []
    for turn in range(count):
        if turn % 2 == 0:
            order.append((at_random[turn // 2], "random"))
        else:
            order.append((others[turn // 2], "disagreement"))
    return order
