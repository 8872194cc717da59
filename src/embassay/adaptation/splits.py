"""Which questions a model is adapted on, stopped by and tested on: disjoint by question, or by what they share.

Roychowdhury et al. (2024), section 2.4, hold out 20 % of the questions. Questions of one text are never parted; with
``by="context"`` neither are those that share a unit, a right document or the text of one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from embassay.errors import InputError, SpecError
from embassay.randomness import generator
from embassay.samples.groups import closure
from embassay.samples.retrieval import Question
from embassay.training.triplets import normalised
from embassay.types import Corpus

By = Literal["question", "context"]
"""What training and test do not share: a question, or also its context."""
LEAST_WORDS = 3
"""Words of a question under which it is looked for as the whole of a text only: *why?* stands in too many."""


@dataclass(frozen=True)
class Split:
    """Ids of questions, each in the order of the corpus.

    Attributes
    ----------
    train, dev
        Those with a right document that are learnt from, and that say when to stop.
    test
        Those that are assayed; also some that no document answers.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]


def split(
    corpus: Corpus[Question], *, test: float = 0.2, dev: float = 0.1, seed: int = 0, by: By = "question"
) -> Split:
    """Divide the questions of a corpus, whole groups of questions that hang together at a time.

    Groups come in an order drawn by the seed. Each joins the test questions where that brings their number nearer to
    the share asked for, else the dev questions likewise, else the training questions. Questions without a right
    document are divided alike, so that the test has its share of them; the others of them are left out.

    Parameters
    ----------
    test
        The share of all questions that is tested, above 0 and below 1.
    dev
        The share of the others that training is stopped by, 0 or more and below 1.
    by
        ``question``: no text of a question is on both sides. ``context``: nor a unit or a right document.

    Raises
    ------
    SpecError
        For a share out of range, or another ``by``.
    InputError
        If no question is left for training or test.
    """
    _check(test, dev, by)
    answered = {sample.id for sample in corpus.samples if sample.right}
    groups = _groups(corpus, by)
    order = generator(seed, "split", by, corpus.fingerprint).permutation(len(groups)).tolist()
    wanted_test = test * len(corpus.samples)
    wanted_dev = dev * (len(corpus.samples) - wanted_test)
    parts: dict[str, list[str]] = {"test": [], "dev": [], "train": []}
    for place in order:
        group = groups[place]
        for name, wanted in (("test", wanted_test), ("dev", wanted_dev), ("train", float("inf"))):
            if len(group) <= 2 * (wanted - len(parts[name])):
                parts[name] += group
                break
    found = Split(
        _ordered(corpus, answered & set(parts["train"])),
        _ordered(corpus, answered & set(parts["dev"])),
        _ordered(corpus, set(parts["test"])),
    )
    _check_sides(corpus, found, answered, groups)
    return found


def check_apart(corpus: Corpus[Question], found: Split, *, by: By = "question", sentences: Sequence[str] = ()) -> None:
    """Make sure that nothing tested was learnt from or stopped by.

    Parameters
    ----------
    sentences
        What is pre-trained on: a test or dev question stands in none.
    by
        ``question``: no test question stands among the others, by id or by normalised text. ``context``: nor do a test
        question and another one share a unit, a right document or the text of one.

    Raises
    ------
    InputError
        With the first two questions that share something, and what; with the first sentence that holds a test or dev
        question; also for an id that the corpus has not.
    """
    samples = {sample.id: sample for sample in corpus.samples}
    learnt = (*found.train, *found.dev)
    for name in (*learnt, *found.test):
        if name not in samples:
            raise InputError(f"corpus {corpus.name!r} has no question {name!r}, which the split names")
    texts = _document_texts(corpus) if by == "context" else {}
    both = set(learnt) & set(found.test)
    seen = {key: name for name in learnt for key in _keys(samples[name], texts, by)}
    for name in found.test:
        if name in both:
            raise InputError(f"corpus {corpus.name!r}: question {name!r} is both learnt from and tested")
        for key in _keys(samples[name], texts, by):
            if key in seen:
                raise InputError(
                    f"corpus {corpus.name!r}: test question {name!r} and question {seen[key]!r}, which is learnt from, "
                    f"share a {key[0]}"
                )
    held_out = WordForWord(samples[name].question for name in (*found.test, *found.dev))
    if told := next(filter(held_out.within, sentences), None):
        raise InputError(
            f"corpus {corpus.name!r}: a test or dev question stands in {told[:80]!r}, which is pre-trained on"
        )


class WordForWord:
    """Questions that are looked for in texts, all in normalised form; a short one only as the whole of a text."""

    def __init__(self, questions: Iterable[str]):
        self._whole = {normalised(question) for question in questions}
        self._begun: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for question in self._whole:
            words = question.split()
            if len(words) >= LEAST_WORDS:
                self._begun[tuple(words[:LEAST_WORDS])].append(f" {question} ")

    def within(self, text: str) -> bool:
        """Say whether one of the questions stands in a text."""
        own = normalised(text)
        if own in self._whole:
            return True
        words, padded = own.split(), f" {own} "
        begun = (tuple(words[start : start + LEAST_WORDS]) for start in range(len(words) - LEAST_WORDS + 1))
        return any(question in padded for start in begun for question in self._begun.get(start, ()))


def _check(test: float, dev: float, by: str) -> None:
    if not 0 < test < 1:
        raise SpecError(f"test must be above 0 and below 1 (0.2 is a fifth of the questions), is {test:g}")
    if not 0 <= dev < 1:
        raise SpecError(f"dev must be 0 or more and below 1, is {dev:g}")
    if by not in get_args(By):
        raise SpecError(f"by must be {' or '.join(get_args(By))}, is {by!r}")


def _check_sides(corpus: Corpus[Question], found: Split, answered: set[str], groups: Sequence[Sequence[str]]) -> None:
    if not found.train or not answered & set(found.test):
        largest = max(map(len, groups), default=0)
        raise InputError(
            f"corpus {corpus.name!r}: its {len(answered)} answered questions cannot be divided into training and test: "
            f"they hang together in {len(groups)} groups, the largest of {largest}"
        )


def _groups(corpus: Corpus[Question], by: By) -> list[list[str]]:
    """Return the ids of the questions that must stay together, in the order of the corpus."""
    texts = _document_texts(corpus) if by == "context" else {}
    numbers: dict[tuple[str, str], int] = {}
    size = len(corpus.samples)
    pairs = [
        (place, size + numbers.setdefault(key, len(numbers)))
        for place, sample in enumerate(corpus.samples)
        for key in _keys(sample, texts, by)
    ]
    joined = closure(pairs)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for place, sample in enumerate(corpus.samples):
        groups[joined[place]].append(sample.id)
    return list(groups.values())


def _keys(sample: Question, texts: Mapping[str, str], by: By) -> Iterator[tuple[str, str]]:
    """Yield what a question must share with none of another side: (what it is, which one)."""
    yield "text", normalised(sample.question)
    if by == "context":
        yield from (("unit", unit) for unit in sample.units)
        yield from (("right document", texts[name]) for name in sample.right)


def _document_texts(corpus: Corpus[Question]) -> dict[str, str]:
    return {document.id: normalised(" ".join(document.passages)) for document in corpus.documents}


def _ordered(corpus: Corpus[Question], names: set[str]) -> tuple[str, ...]:
    return tuple(sample.id for sample in corpus.samples if sample.id in names)
