"""Which questions to label first: those on which the candidates disagree, and as many at random.

Questions on which the candidates find the same documents cannot tell them apart, so labels are best spent on the
others. But questions that are chosen by disagreement are harder than usual, and a difference measured on them alone is
too large. So half of the questions are drawn at random from all of them: figures for a decision come from those, and
the others show where the candidates fail.

A file can grow: a later round adds questions to it. Its random questions are a sample of all questions only if the
later draw may also meet those that disagreement chose before; these have a row already and become random ones.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from embassay.comparison.runs import StoredRun, read_run
from embassay.corpora.io.labelling import CHOSEN_BY, DISAGREEMENT, TO_LABEL, ChosenBy
from embassay.corpora.io.records import read_table
from embassay.corpora.io.texts import read_text
from embassay.diagnostics.retrieval.scores import References
from embassay.errors import EncoderError, SourceError, SpecError
from embassay.formatting import counted
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
COLUMNS = ("id", "question", "document", CHOSEN_BY, DISAGREEMENT)
"""Those of the file, before a column for each candidate; the user fills ``document`` in."""


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
class LabellingFile:
    """The file of earlier rounds, with what the user has added to it.

    Attributes
    ----------
    columns
        The names of its columns; empty where there was no earlier round.
    rows
        The cells of each row by column.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def read(cls, path: Path) -> LabellingFile:
        """Read the file, if there is one.

        Raises
        ------
        SourceError
            If it cannot be read, or is another table.
        """
        if not path.exists():
            return cls()
        table = read_table(path)
        if missing := [column for column in COLUMNS if column not in table.names]:
            problem = f"exists and is no file of questions to label (no column {missing[0]!r}); name another with -o"
            raise SourceError(problem, path)
        return cls(table.names, tuple(row.values for row in table.read(table.names)))

    def questions(self, chosen_by: ChosenBy) -> set[str]:
        """Return the questions that were chosen in this way."""
        return {row["question"].strip() for row in self.rows if row[CHOSEN_BY].strip() == chosen_by}

    @property
    def next_number(self) -> int:
        """The number in the id of the next question."""
        numbers = [row["id"].strip().removeprefix(TO_LABEL) for row in self.rows]
        return 1 + max((int(number) for number in numbers if number.isdecimal()), default=-1)


NO_EARLIER_ROUND = LabellingFile()


@dataclass(frozen=True)
class Chosen:
    """The questions to label first, in an order that can be stopped anywhere.

    Attributes
    ----------
    earlier
        The file that the questions are added to.
    now_random
        Its questions that were chosen by disagreement and are now drawn at random.
    """

    questions: tuple[ToLabel, ...]
    candidates: tuple[str, ...]
    earlier: LabellingFile = NO_EARLIER_ROUND
    now_random: frozenset[str] = frozenset()

    @property
    def summary(self) -> str:
        """How many questions there are to label, in words."""
        if not self.earlier.rows:
            return f"{counted(len(self.questions), 'question')} to label first"
        text = f"{counted(len(self.questions), 'question')} added to the {len(self.earlier.rows):,} rows"
        if self.now_random:
            text += f", of which {len(self.now_random):,} chosen by disagreement were now drawn at random"
        return text

    def as_csv(self) -> bytes:
        """Return a table with an empty column of right documents, which ``questions=`` reads when it is filled."""
        first_columns = [f"first of {candidate}" for candidate in self.candidates]
        text = io.StringIO()
        columns = dict.fromkeys([*self.earlier.columns, *COLUMNS, *first_columns])
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        for row in self.earlier.rows:
            is_drawn = row["question"].strip() in self.now_random
            writer.writerow({**row, CHOSEN_BY: "random"} if is_drawn else row)
        for number, question in enumerate(self.questions, self.earlier.next_number):
            row = {
                "id": f"{TO_LABEL}{number}",
                "question": question.question,
                CHOSEN_BY: question.chosen_by,
                DISAGREEMENT: f"{question.disagreement:.3f}",
            }
            for candidate, column in zip(self.candidates, first_columns, strict=True):
                row[column] = question.first[candidate]
            writer.writerow(row)
        return text.getvalue().encode("utf-8", "replace")


def choose(
    run: str | Path,
    unlabelled: str | Path,
    count: int,
    trusted: Collection[str] = (),
    *,
    earlier: LabellingFile = NO_EARLIER_ROUND,
) -> Chosen:
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
    earlier
        The file that they will be added to; none of its questions is chosen again.

    Raises
    ------
    SpecError
        If the run has not one retrieval corpus, or fewer than two candidates, or one of them must be trusted; if its
        questions are from another file of this kind than ``earlier``.
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
    _check_is_of_run(earlier, corpus)
    path = source_path(unlabelled)
    distinct = dict.fromkeys(question_texts(path))
    earlier_hard = earlier.questions("disagreement")
    by_disagreement = [text for text in distinct if text in earlier_hard]
    known = {sample.question for sample in corpus.samples} | earlier.questions("random") | earlier_hard
    texts = [text for text in distinct if text not in known]
    if not texts:
        raise SourceError("has no question that the run's corpus or the file of -o does not have already", path)
    questions = [Question(f"{PREFIX}{number}", text, right=()) for number, text in enumerate(texts)]
    # The labelled questions stay: the diagnostic refuses a corpus in which nothing can be found.
    all_questions = replace(corpus, samples=(*corpus.samples, *questions))
    searches = _search(stored, all_questions, specs, len(questions))
    disagreement = _disagreement([search.documents for search in searches.values()])
    # Each round has a draw of its own.
    rounds = [str(earlier.next_number)] if earlier.rows else []
    rng = generator(stored.result.seed, "label first", *rounds)
    order, drawn_again = _order(disagreement, len(by_disagreement), count, rng)
    chosen = []
    for place, chosen_by in order:
        first_documents = {candidate: search.first[place] for candidate, search in searches.items()}
        chosen.append(ToLabel(texts[place], float(disagreement[place]), chosen_by, first_documents))
    now_random = frozenset(by_disagreement[place] for place in drawn_again)
    return Chosen(tuple(chosen), candidates=tuple(searches), earlier=earlier, now_random=now_random)


def _check_is_of_run(earlier: LabellingFile, corpus: Corpus[Question]) -> None:
    """Refuse a file that lacks questions which the run's corpus has from an earlier round."""
    ids = {row["id"].strip() for row in earlier.rows}
    missing = [sample.id for sample in corpus.samples if sample.id.startswith(TO_LABEL) and sample.id not in ids]
    if missing:
        raise SpecError(
            f"the run's questions are from an earlier round ({missing[0]!r}); name the file of that round with -o: it "
            "keeps its rows, and no question is chosen twice"
        )


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


def _order(
    disagreement: Floats, earlier: int, count: int, rng: np.random.Generator
) -> tuple[list[tuple[int, ChosenBy]], list[int]]:
    """Choose by turns a question at random and the one with the largest disagreement.

    Parameters
    ----------
    disagreement
        (n,) of all questions that have not been chosen yet.
    earlier
        The number of those that were chosen by disagreement before. They can be drawn at random, too: a question that
        is drawn at random is a random one, whatever its disagreement, as the random half must be a sample of all.
    count
        How many to choose, at most.

    Returns
    -------
    The places of the n questions to label, and the places of the earlier ones that were drawn.
    """
    new = len(disagreement)
    count = min(count, new)
    drawn = rng.permutation(new + earlier)[: (count + 1) // 2]
    at_random = drawn[drawn < new].tolist()
    largest_first = np.argsort(-disagreement, kind="stable")
    others = largest_first[~np.isin(largest_first, at_random)][: count - len(at_random)].tolist()
    order: list[tuple[int, ChosenBy]] = []
    for random_place, place in zip_longest(at_random, others):
        if random_place is not None:
            order.append((random_place, "random"))
        if place is not None:
            order.append((place, "disagreement"))
    return order, (drawn[drawn >= new] - new).tolist()
