"""The data of an adaptation: the union of the corpora, its split, the pre-training sentences, the tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from embassay.core.errors import InputError, SpecError
from embassay.core.formatting import counted
from embassay.core.result import MIN_UNITS
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import AnyCorpus, Corpus
from embassay.corpora.io.passages import sentences
from embassay.corpora.queries.made import SOURCES
from embassay.run.plan import check_labels
from embassay.training.adaptation.negatives import NONE, Mined
from embassay.training.adaptation.options import By
from embassay.training.adaptation.splits import DEV, Split, WordForWord, split

LEAST_TRAIN, LEAST_TEST = 50, 30
"""Minimum numbers of questions: fewer are too few to learn from, or for a test to show anything."""
LONGEST = 300
"""A passage without a sentence end and with at most this many characters is one sentence."""
SENTENCE_ENDS = ".!?。"


@dataclass(frozen=True)
class Material:
    """The data of trainings and tests.

    Attributes
    ----------
    corpora
        The corpora of the domain.
    union
        All of them joined into one. If there are several, ids are ``label/id``.
    split
        The training, dev and test questions.
    sentences
        Distinct sentences of the documents and of further text, for pre-training. None contains a test or dev question.
    tests
        For each corpus its test questions, with all of its documents.
    withheld
        How many sentences were left out because they contain a test or dev question.
    by
        What training and test questions must not share.
    own
        The user's own triplets; without any, negatives are mined.
    """

    corpora: tuple[Corpus[Question], ...]
    union: Corpus[Question]
    split: Split
    sentences: tuple[str, ...]
    tests: tuple[Corpus[Question], ...]
    withheld: int = 0
    by: By = "question"
    own: Mined = NONE

    @property
    def learnt(self) -> tuple[str, ...]:
        """The texts of all questions that a training sees."""
        questions = (question.question for question in (*self.train, *self.dev))
        return (*questions, *(triplet.question for triplet in self.own.triplets))

    @property
    def train(self) -> tuple[Question, ...]:
        """The questions to learn from."""
        return self._questions(self.split.train)

    @property
    def dev(self) -> tuple[Question, ...]:
        """The questions that decide when to stop."""
        return self._questions(self.split.dev)

    @property
    def held_out_questions(self) -> tuple[Question, ...]:
        """The test and dev questions."""
        return self._questions((*self.split.test, *self.split.dev))

    @property
    def held_out(self) -> frozenset[str]:
        """Ids of the held-out documents: with a split by context, those that answer test and dev questions."""
        if self.by == "question":
            return frozenset()
        return frozenset(name for question in self.held_out_questions for name in question.right)

    def warnings(self) -> tuple[str, ...]:
        """Return warnings before training, one sentence each.

        They name sentences that were left out, and tests with too few independent units for an interval.
        """
        warnings = []
        if self.withheld:
            warnings.append(
                f"left out of pre-training: {counted(self.withheld, 'sentence')} that contain a test or dev question "
                "word for word"
            )
        for test in self.tests:
            units = len(set(test.units.tolist()))
            if units < MIN_UNITS:
                warnings.append(
                    f"{test.name}: the test questions have only {units} independent units; with fewer than "
                    f"{MIN_UNITS} there is no interval and no verdict: use more documents, or --by question"
                )
        return tuple(warnings)

    def ids(self) -> dict[str, dict[str, list[str]]]:
        """Return the split by corpus: {label: {train, dev, test: ids of that corpus}}."""
        by_corpus = {}
        for corpus in self.corpora:
            parts = asdict(self.split).items()
            by_corpus[corpus.name] = {part: _of_corpus(names, corpus, self.corpora) for part, names in parts}
        return by_corpus

    def _questions(self, names: Sequence[str]) -> tuple[Question, ...]:
        wanted = set(names)
        return tuple(sample for sample in self.union.samples if sample.id in wanted)


def gather(
    corpora: Sequence[AnyCorpus],
    *,
    by: By = "question",
    test: float = 0.2,
    seed: int = 0,
    texts: Sequence[str] = (),
    least_train: int = LEAST_TRAIN,
) -> Material:
    """Join corpora, divide their questions, and check that there are enough.

    Parameters
    ----------
    by, test, seed
        See :func:`~embassay.training.adaptation.splits.split`. The share refers to all corpora together.
    texts
        Further texts, whose sentences are used in pre-training.
    least_train
        The minimum number of training questions.

    Raises
    ------
    InputError
        If a corpus has no questions, or too few are left for training or for a test.
    """
    for corpus in corpora:
        corpus.need_texts("adaptation")
    if not corpora:
        raise SpecError("no corpus given; name one or more corpora of questions and documents with -c")
    check_labels("corpora", "-c", [(corpus.name, corpus.name) for corpus in corpora])
    for corpus in corpora:
        if corpus.shape != "retrieval":
            raise SpecError(
                f"corpus {corpus.name!r} has shape {corpus.shape}; adaptation needs questions and their right "
                "documents (shape retrieval)"
            )
        if corpus.loader == "documents" and corpus.source in SOURCES.values():
            raise InputError(
                f"corpus {corpus.name!r} has no questions, only {corpus.source}; add questions=FILE, build such "
                "queries on purpose with 'embassay build retrieval', or use its text in pre-training with --text"
            )
    union = corpora[0] if len(corpora) == 1 else joined(corpora)
    parts = split(union, test=test, seed=seed, by=by)

    # Documents may quote questions, as lists of frequent questions do.
    not_learnt = {*parts.test, *parts.dev}
    held_out_questions = [sample.question for sample in union.samples if sample.id in not_learnt]
    held_out = WordForWord(held_out_questions)
    all_sentences = dict.fromkeys(_sentences((*union.learnt(), *texts)))
    learnt_sentences = tuple(sentence for sentence in all_sentences if not held_out.within(sentence))

    tests = [_test_corpus(corpus, set(_of_corpus(parts.test, corpus, corpora))) for corpus in corpora]
    _check_enough(corpora, len(parts.train), tests, test, least_train)
    withheld = len(all_sentences) - len(learnt_sentences)
    return Material(tuple(corpora), union, parts, learnt_sentences, tuple(tests), withheld, by)


def joined(corpora: Sequence[AnyCorpus]) -> Corpus[Question]:
    """Return several corpora as one, ids and units as ``label/id``."""
    samples: list[Question] = []
    documents: list[Document] = []
    for corpus in corpora:
        # Two corpora may use the same ids, for example line numbers.
        prefix = f"{corpus.name}/"
        for sample in corpus.samples:
            right = tuple(prefix + name for name in sample.right)
            units = tuple(prefix + unit for unit in sample.units)
            samples.append(replace(sample, id=prefix + sample.id, right=right, units=units))
        documents += (replace(document, id=prefix + document.id) for document in corpus.documents)
    return Corpus(
        " + ".join(corpus.name for corpus in corpora),
        "retrieval",
        tuple(samples),
        licence=" / ".join(dict.fromkeys(corpus.licence for corpus in corpora)),
        source=" / ".join(dict.fromkeys(corpus.source for corpus in corpora if corpus.source)),
        documents=tuple(documents),
    )


def _of_corpus(names: Sequence[str], corpus: AnyCorpus, corpora: Sequence[AnyCorpus]) -> list[str]:
    """Return the ids of a corpus among those of the union."""
    prefix = f"{corpus.name}/" if len(corpora) > 1 else ""
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def _test_corpus(corpus: Corpus[Question], names: set[str]) -> Corpus[Question]:
    """Return a corpus with its test questions only, and all of its documents."""
    samples = tuple(sample for sample in corpus.samples if sample.id in names)
    note = f"{len(samples)} of {len(corpus.samples)} questions, held out from training"
    return replace(corpus, samples=samples, notes=(*corpus.notes, note))


def _check_enough(
    corpora: Sequence[Corpus[Question]], train: int, tests: Sequence[Corpus[Question]], share: float, least_train: int
) -> None:
    tested = [_answered(test) for test in tests]
    if train >= least_train and min(tested) >= LEAST_TEST:
        return
    # Each corpus is tested; the early stopping takes a share of what is left, and the training the rest.
    least = math.ceil(LEAST_TEST + least_train / (1 - DEV) / len(corpora))
    fewest = min(map(_answered, corpora))
    questions = max(fewest, least)
    smallest_share = LEAST_TEST / questions
    largest_share = 1 - least_train / (1 - DEV) / (questions * len(corpora))
    # Not the smallest one: groups of questions are not divided, so the test may get fewer.
    best_share = round(smallest_share + (largest_share - smallest_share) / 4, 2)
    remedy = "use more questions"
    if fewest < least:
        remedy = f"use {least} answered questions or more (in each corpus), with --test {best_share:g}"
    elif share != best_share:
        remedy = f"use --test {best_share:g}"
    names = " + ".join(corpus.name for corpus in corpora)
    raise InputError(
        f"corpus {names!r}: {train} questions are left for training, and {' and '.join(map(str, tested))} answered "
        f"ones for the test; at least {least_train} and {LEAST_TEST} are needed: {remedy}"
    )


def _answered(corpus: Corpus[Question]) -> int:
    """Return the number of questions that have a right document."""
    return sum(bool(sample.right) for sample in corpus.samples)


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of texts; a short text without a sentence end is one sentence."""
    for text in texts:
        if len(text) <= LONGEST and not any(mark in text for mark in SENTENCE_ENDS):
            yield " ".join(text.split())
        else:
            for _, sentence in sentences(text):
                yield sentence
