"""What a model is adapted on: the union of corpora, its split, the sentences to pre-train on, the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from embassay.adaptation.splits import By, Split, WordForWord, check_apart, split
from embassay.corpora.io.passages import sentences
from embassay.errors import InputError, SpecError
from embassay.result import MIN_UNITS
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

LEAST_TRAIN, LEAST_TEST = 50, 30
"""Questions under which nothing is trained: too few to learn from, or for a test to show anything."""
LONGEST = 300
"""Characters of a passage that is taken for one sentence where it holds no sentence end."""


@dataclass(frozen=True)
class Material:
    """All that adaptation and its tests take.

    Attributes
    ----------
    union
        The corpora as one; ids as ``label/id`` where there are several.
    split
        Which of its questions are for what.
    sentences
        Distinct sentences of the documents, for pre-training; no test or dev question stands in one.
    tests
        For each corpus its test questions, with all of its documents.
    withheld
        How many sentences were left out because one does.
    by
        What training and test do not share.
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
        """The questions that say when to stop."""
        return self._questions(self.split.dev)

    @property
    def held_out(self) -> frozenset[str]:
        """Ids of the documents that are held out: split by context, those that answer test and dev questions."""
        if self.by == "question":
            return frozenset()
        questions = self._questions((*self.split.test, *self.split.dev))
        return frozenset(name for question in questions for name in question.right)

    def warnings(self) -> tuple[str, ...]:
        """Return what to know before training, a sentence each.

        Sentences that were left out; tests of too few independent units for an interval.
        """
        withheld = (
            f"{self.withheld:,} sentences of the documents are not pre-trained on: a test or dev question stands in "
            "them word for word",
        ) * bool(self.withheld)
        units = {test.name: len(set(test.units.tolist())) for test in self.tests}
        return withheld + tuple(
            f"{name}: its test questions are {number} independent units; under {MIN_UNITS} there is no interval, so "
            "that the verdict will say nothing on them: take more documents, or --by question"
            for name, number in units.items()
            if number < MIN_UNITS
        )

    def ids(self) -> dict[str, dict[str, list[str]]]:
        """Return the split by corpus: {label: {train, dev, test: ids as that corpus has them}}."""
        if len(self.tests) == 1:
            return {self.union.name: {part: list(names) for part, names in vars(self.split).items()}}
        return {
            test.name: {
                part: [_own(name, test.name) for name in names if _of(name, test)]
                for part, names in vars(self.split).items()
            }
            for test in self.tests
        }

    def _questions(self, names: Sequence[str]) -> tuple[Question, ...]:
        wanted = set(names)
        return tuple(sample for sample in self.union.samples if sample.id in wanted)


def gather(
    corpora: Sequence[Corpus[Any]], *, by: By = "question", test: float = 0.2, dev: float = 0.1, seed: int = 0
) -> Material:
    """Join corpora, divide their questions, and make sure that there are enough and that nothing is on both sides.

    Parameters
    ----------
    by, test, dev, seed
        As :func:`~embassay.adaptation.splits.split` takes them; the shares are of all corpora together.

    Raises
    ------
    InputError
        If a corpus has no questions, or too few are left for training or for a test.
    """
    if not corpora:
        raise SpecError("no corpus is given; name one or more of questions and documents with -c")
    labels = [corpus.name for corpus in corpora]
    _check_labels(labels)
    for corpus in corpora:
        if corpus.shape != "retrieval":
            raise SpecError(
                f"corpus {corpus.name!r} is of shape {corpus.shape}; adaptation learns from questions and their right "
                "documents (shape retrieval)"
            )
    union = joined(corpora)
    found = split(union, test=test, dev=dev, seed=seed, by=by)
    told, kept = _sentences(union, found)
    check_apart(union, found, by=by, sentences=kept)
    tests = tuple(_tested(corpus, found, len(corpora) > 1) for corpus in corpora)
    _check_enough(union, found, tests, test)
    return Material(union, found, kept, tests, told - len(kept), by)


def joined(corpora: Sequence[Corpus[Any]]) -> Corpus[Question]:
    """Return several corpora as one, ids and units as ``label/id``; a single one as it is."""
    if len(corpora) == 1:
        return corpora[0]
    samples = tuple(
        replace(
            s,
            id=f"{c.name}/{s.id}",
            right=tuple(f"{c.name}/{name}" for name in s.right),
            units=tuple(f"{c.name}/{unit}" for unit in s.units),
        )
        for c in corpora
        for s in c.samples
    )
    documents = tuple(Document(f"{c.name}/{d.id}", d.passages) for c in corpora for d in c.documents)
    return Corpus(
        " + ".join(c.name for c in corpora),
        "retrieval",
        samples,
        licence=" / ".join(dict.fromkeys(c.licence for c in corpora)),
        source=" / ".join(dict.fromkeys(c.source for c in corpora if c.source)),
        documents=documents,
    )


def _tested(corpus: Corpus[Question], found: Split, several: bool) -> Corpus[Question]:
    tested = {_own(n, corpus.name) for n in found.test if _of(n, corpus)} if several else set(found.test)
    samples = tuple(sample for sample in corpus.samples if sample.id in tested)
    note = f"{len(samples)} of {len(corpus.samples)} questions, held out from adaptation"
    return replace(corpus, samples=samples, notes=(*corpus.notes, note))


def _of(name: str, corpus: Corpus[Question]) -> bool:
    return name.startswith(f"{corpus.name}/")


def _own(name: str, label: str) -> str:
    return name.removeprefix(f"{label}/")


def _check_labels(labels: Sequence[str]) -> None:
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise SpecError(f"two corpora have the label {twice!r}; name one of them: -c NAME=SOURCE")
    for label, other in permutations(labels, 2):
        if other.startswith(f"{label}/"):
            raise SpecError(
                f"the corpora {label!r} and {other!r}: their ids, label/id, could be the same; name one of them "
                "without a slash: -c NAME=SOURCE"
            )


def _check_enough(union: Corpus[Question], found: Split, tests: Sequence[Corpus[Question]], share: float) -> None:
    if len(found.train) < LEAST_TRAIN:
        raise InputError(
            f"corpus {union.name!r}: {len(found.train)} questions are left to learn from; at least {LEAST_TRAIN} are "
            "needed: take more questions, or a smaller --test"
        )
    for test in tests:
        answered = sum(bool(sample.right) for sample in test.samples)
        if answered < LEAST_TEST:
            raise InputError(
                f"corpus {test.name!r}: {answered} answered questions are left to test with (--test {share:g}); at "
                f"least {LEAST_TEST} are needed: take more questions, or a larger --test"
            )


def _sentences(corpus: Corpus[Question], found: Split) -> tuple[int, tuple[str, ...]]:
    """Return how many distinct sentences the documents have, and those in which no test or dev question stands."""
    names = {*found.test, *found.dev}
    held_out = WordForWord(sample.question for sample in corpus.samples if sample.id in names)
    told = dict.fromkeys(_told(corpus))
    return len(told), tuple(sentence for sentence in told if not held_out.within(sentence))


def _told(corpus: Corpus[Question]) -> Iterator[str]:
    """Yield the sentences of the documents; a short passage without a sentence end is one."""
    for text in corpus.learnt():
        if len(text) <= LONGEST and not any(mark in text for mark in ".!?。"):
            yield " ".join(text.split())
        else:
            yield from (sentence for _, sentence in sentences(text))
