"""What a model is adapted on: the union of corpora, its split, the sentences to pre-train on, the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from typing import Any

from embassay.adaptation.options import By
from embassay.adaptation.splits import Split, WordForWord, check_apart, split
from embassay.corpora.io.passages import sentences
from embassay.errors import InputError, SpecError
from embassay.result import MIN_UNITS
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

LEAST_TRAIN, LEAST_TEST = 50, 30
"""The least numbers of questions: with fewer there is too little to learn from, or no test can show anything."""
LONGEST = 300
"""The most characters of a passage that is taken for one sentence if it holds no sentence end."""
SENTENCE_ENDS = ".!?。"


@dataclass(frozen=True)
class Material:
    """The data of trainings and tests.

    Attributes
    ----------
    union
        The corpora as one; ids as ``label/id`` if there are several.
    split
        Which of its questions are for training, for stopping and for the test.
    sentences
        Distinct sentences of the documents, for pre-training; no test or dev question stands in one.
    tests
        For each corpus its test questions, with all of its documents.
    withheld
        How many sentences were left out because a test or dev question stands in them.
    by
        What training and test questions do not share.
    """

    union: Corpus[Question]
    split: Split
    sentences: tuple[str, ...]
    tests: tuple[Corpus[Question], ...]
    withheld: int = 0
    by: By = "question"

    @property
    def train(self) -> tuple[Question, ...]:
        """The questions to learn from."""
        return self._questions(self.split.train)

    @property
    def dev(self) -> tuple[Question, ...]:
        """The questions that decide when to stop."""
        return self._questions(self.split.dev)

    @property
    def held_out(self) -> frozenset[str]:
        """Ids of the documents that are held out: split by context, those that answer test and dev questions."""
        if self.by == "question":
            return frozenset()
        questions = self._questions((*self.split.test, *self.split.dev))
        return frozenset(name for question in questions for name in question.right)

    def warnings(self) -> tuple[str, ...]:
        """Return what to know before training, one sentence each.

        Sentences that were left out; tests of too few independent units for an interval.
        """
        warnings = []
        if self.withheld:
            warnings.append(
                f"{self.withheld:,} sentences of the documents are not pre-trained on: a test or dev question stands "
                "in them word for word"
            )
        for test in self.tests:
            units = len(set(test.units.tolist()))
            if units < MIN_UNITS:
                warnings.append(
                    f"{test.name}: its test questions are {units} independent units; under {MIN_UNITS} there is no "
                    "interval, so that the verdict will say nothing on them: take more documents, or --by question"
                )
        return tuple(warnings)

    def ids(self) -> dict[str, dict[str, list[str]]]:
        """Return the split by corpus: {label: {train, dev, test: ids as that corpus has them}}."""
        parts = asdict(self.split)
        if len(self.tests) == 1:
            return {self.union.name: {part: list(names) for part, names in parts.items()}}
        by_corpus = {}
        for test in self.tests:
            prefix = f"{test.name}/"
            by_corpus[test.name] = {part: _without_prefix(names, prefix) for part, names in parts.items()}
        return by_corpus

    def _questions(self, names: Sequence[str]) -> tuple[Question, ...]:
        wanted = set(names)
        return tuple(sample for sample in self.union.samples if sample.id in wanted)


def gather(corpora: Sequence[Corpus[Any]], *, by: By = "question", test: float = 0.2, seed: int = 0) -> Material:
    """Join corpora, divide their questions, and check that there are enough and that nothing is on both sides.

    Parameters
    ----------
    by, test, seed
        As :func:`~embassay.adaptation.splits.split` takes them; the share is of all corpora together.

    Raises
    ------
    InputError
        If a corpus has no questions, or too few are left for training or for a test.
    """
    if not corpora:
        raise SpecError("no corpus is given; name one or more of questions and documents with -c")
    _check_labels([corpus.name for corpus in corpora])
    for corpus in corpora:
        if corpus.shape != "retrieval":
            raise SpecError(
                f"corpus {corpus.name!r} is of shape {corpus.shape}; adaptation learns from questions and their right "
                "documents (shape retrieval)"
            )
    union = corpora[0] if len(corpora) == 1 else joined(corpora)
    parts = split(union, test=test, seed=seed, by=by)

    # Documents may quote questions, as lists of frequent questions do.
    not_learnt = {*parts.test, *parts.dev}
    held_out = WordForWord(sample.question for sample in union.samples if sample.id in not_learnt)
    all_sentences = dict.fromkeys(_sentences(union))
    learnt_sentences = tuple(sentence for sentence in all_sentences if not held_out.within(sentence))
    check_apart(union, parts, by=by, sentences=learnt_sentences)

    tests = []
    for corpus in corpora:
        names = parts.test if len(corpora) == 1 else _without_prefix(parts.test, f"{corpus.name}/")
        tests.append(_test_corpus(corpus, set(names)))
    _check_enough(union, parts, tests, test)
    withheld = len(all_sentences) - len(learnt_sentences)
    return Material(union, parts, learnt_sentences, tuple(tests), withheld, by)


def joined(corpora: Sequence[Corpus[Any]]) -> Corpus[Question]:
    """Return several corpora as one, ids and units as ``label/id``."""
    samples: list[Question] = []
    documents: list[Document] = []
    for corpus in corpora:
        prefix = f"{corpus.name}/"
        for sample in corpus.samples:
            right = tuple(prefix + name for name in sample.right)
            units = tuple(prefix + unit for unit in sample.units)
            samples.append(replace(sample, id=prefix + sample.id, right=right, units=units))
        documents += (Document(prefix + document.id, document.passages) for document in corpus.documents)
    return Corpus(
        " + ".join(corpus.name for corpus in corpora),
        "retrieval",
        tuple(samples),
        licence=" / ".join(dict.fromkeys(corpus.licence for corpus in corpora)),
        source=" / ".join(dict.fromkeys(corpus.source for corpus in corpora if corpus.source)),
        documents=tuple(documents),
    )


def _without_prefix(names: Sequence[str], prefix: str) -> list[str]:
    """Return the names that begin with a prefix, without it."""
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def _test_corpus(corpus: Corpus[Question], names: set[str]) -> Corpus[Question]:
    """Return a corpus with its test questions only, and all of its documents."""
    samples = tuple(sample for sample in corpus.samples if sample.id in names)
    note = f"{len(samples)} of {len(corpus.samples)} questions, held out from adaptation"
    return replace(corpus, samples=samples, notes=(*corpus.notes, note))


def _check_labels(labels: Sequence[str]) -> None:
    for label, other in permutations(labels, 2):
        if label == other:
            raise SpecError(f"two corpora have the label {label!r}; name one of them: -c NAME=SOURCE")
        if other.startswith(f"{label}/"):
            raise SpecError(
                f"the corpora {label!r} and {other!r}: their ids, label/id, could be the same; name one of them "
                "without a slash: -c NAME=SOURCE"
            )


def _check_enough(union: Corpus[Question], parts: Split, tests: Sequence[Corpus[Question]], share: float) -> None:
    if len(parts.train) < LEAST_TRAIN:
        raise InputError(
            f"corpus {union.name!r}: {len(parts.train)} questions are left to learn from; at least {LEAST_TRAIN} are "
            "needed: take more questions, or a smaller --test"
        )
    for test in tests:
        answered = sum(bool(sample.right) for sample in test.samples)
        if answered < LEAST_TEST:
            raise InputError(
                f"corpus {test.name!r}: {answered} answered questions are left to test with (--test {share:g}); at "
                f"least {LEAST_TEST} are needed: take more questions, or a larger --test"
            )


def _sentences(corpus: Corpus[Question]) -> Iterator[str]:
    """Yield the sentences of the documents; a short passage without a sentence end is one."""
    for text in corpus.learnt():
        if len(text) <= LONGEST and not any(mark in text for mark in SENTENCE_ENDS):
            yield " ".join(text.split())
        else:
            for _, sentence in sentences(text):
                yield sentence
