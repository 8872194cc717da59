"""Which questions a model is adapted on, stopped by and tested on: disjoint by question, or by what they share.

Roychowdhury et al. (2024), section 2.4, hold out 20 % of the questions. Questions of one text stay together. With
``by="context"`` so do questions that share a unit, a right document or the text of one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from embassay.adaptation.options import By
from embassay.errors import InputError
from embassay.randomness import generator
from embassay.samples.groups import closure
from embassay.samples.retrieval import Question
from embassay.training.triplets import normalised
from embassay.types import Corpus

DEV = 0.1
"""Share of the questions that are not tested by which training is stopped."""
LEAST_WORDS = 3
"""A question of fewer words is looked for as the whole of a text only: *why?* occurs in too many."""


@dataclass(frozen=True)
class Split:
    """Ids of questions, each in the order of the corpus.

    Attributes
    ----------
    train, dev
        Those with a right document that are learnt from, and that decide when to stop.
    test
        Those that are assayed; also some that no document answers.
    """

    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]


def split(corpus: Corpus[Question], *, test: float = 0.2, seed: int = 0, by: By = "question") -> Split:
    """Divide the questions of a corpus, whole groups of connected questions at a time.

    Groups come in random order. Each joins the test questions if that brings their number nearer to the requested
    share, else the dev questions likewise, else the training questions. Questions without a right document are divided
    in the same way, so that the test has its share of them. They are used for nothing but the test.

    Parameters
    ----------
    test
        The share of all questions that is tested, above 0 and below 1.
    by
        ``question``: no text of a question is on both sides. ``context``: nor a unit or a right document.

    Raises
    ------
    InputError
        If no question is left for training or test.
    """
    groups = _groups(corpus, by)
    order = generator(seed, "split", by, corpus.fingerprint).permutation(len(groups)).tolist()
    test_size = test * len(corpus.samples)
    dev_size = DEV * (len(corpus.samples) - test_size)
    test_ids: set[str] = set()
    dev_ids: set[str] = set()
    train_ids: set[str] = set()
    for place in order:
        group = groups[place]
        # A group brings a part nearer to its size if at most half of the group is too much.
        if len(group) <= 2 * (test_size - len(test_ids)):
            test_ids.update(group)
        elif len(group) <= 2 * (dev_size - len(dev_ids)):
            dev_ids.update(group)
        else:
            train_ids.update(group)

    answered = {sample.id for sample in corpus.samples if sample.right}
    if not answered & train_ids or not answered & test_ids:
        largest = max(map(len, groups), default=0)
        raise InputError(
            f"corpus {corpus.name!r}: its {len(answered)} answered questions cannot be divided into training and test: "
            f"they hang together in {len(groups)} groups, the largest of {largest}"
        )
    return Split(
        _in_order(corpus, answered & train_ids),
        _in_order(corpus, answered & dev_ids),
        _in_order(corpus, test_ids),
    )


def check_apart(corpus: Corpus[Question], found: Split, *, by: By = "question", sentences: Sequence[str] = ()) -> None:
    """Make sure that nothing that is tested is learnt from or stopped by.

    Parameters
    ----------
    sentences
        What is pre-trained on: no test or dev question stands in it.
    by
        ``question``: no test question is among the others, by id or by normalised text. ``context``: nor do a test
        question and another one share a unit, a right document or the text of one.

    Raises
    ------
    InputError
        With the first two questions that share something, and what; with the first sentence that holds a test or dev
        question; also for an id that is not in the corpus.
    """
    samples = {sample.id: sample for sample in corpus.samples}
    learnt = (*found.train, *found.dev)
    for name in (*learnt, *found.test):
        if name not in samples:
            raise InputError(f"corpus {corpus.name!r} has no question {name!r}, which the split names")
    texts = _document_texts(corpus) if by == "context" else {}
    learnt_ids = set(learnt)
    learnt_keys = {key: name for name in learnt for key in _keys(samples[name], texts, by)}
    for name in found.test:
        if name in learnt_ids:
            raise InputError(f"corpus {corpus.name!r}: question {name!r} is both learnt from and tested")
        for key in _keys(samples[name], texts, by):
            if key in learnt_keys:
                raise InputError(
                    f"corpus {corpus.name!r}: test question {name!r} and question {learnt_keys[key]!r}, which is "
                    f"learnt from, share a {key[0]}"
                )
    held_out = WordForWord(samples[name].question for name in (*found.test, *found.dev))
    for sentence in sentences:
        if held_out.within(sentence):
            raise InputError(
                f"corpus {corpus.name!r}: a test or dev question stands in {sentence[:80]!r}, which is pre-trained on"
            )


class WordForWord:
    """Questions that are looked for in texts, all in normalised form; a short one only as the whole of a text."""

    def __init__(self, questions: Iterable[str]):
        self._whole = {normalised(question) for question in questions}
        # By their first words: a text has far fewer of these beginnings than there are questions.
        self._by_beginning: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for question in self._whole:
            words = question.split()
            if len(words) >= LEAST_WORDS:
                self._by_beginning[tuple(words[:LEAST_WORDS])].append(f" {question} ")

    def within(self, text: str) -> bool:
        """Return whether one of the questions stands in a text."""
        form = normalised(text)
        if form in self._whole:
            return True
        words = form.split()
        padded = f" {form} "
        for start in range(len(words) - LEAST_WORDS + 1):
            beginning = tuple(words[start : start + LEAST_WORDS])
            if any(question in padded for question in self._by_beginning.get(beginning, ())):
                return True
        return False


def _groups(corpus: Corpus[Question], by: By) -> list[list[str]]:
    """Return the ids of the questions that must stay together, in the order of the corpus."""
    texts = _document_texts(corpus) if by == "context" else {}
    # A graph of questions and of what they share; its connected components are the groups.
    nodes: dict[tuple[str, str], int] = {}
    edges = []
    for place, sample in enumerate(corpus.samples):
        for key in _keys(sample, texts, by):
            node = nodes.setdefault(key, len(nodes))
            edges.append((place, len(corpus.samples) + node))
    component = closure(edges)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for place, sample in enumerate(corpus.samples):
        groups[component[place]].append(sample.id)
    return list(groups.values())


def _keys(sample: Question, texts: Mapping[str, str], by: By) -> Iterator[tuple[str, str]]:
    """Yield what a question may share with none of another side: (what it is, which one)."""
    yield "text", normalised(sample.question)
    if by == "context":
        for unit in sample.units:
            yield "unit", unit
        for name in sample.right:
            yield "right document", texts[name]


def _document_texts(corpus: Corpus[Question]) -> dict[str, str]:
    return {document.id: normalised(" ".join(document.passages)) for document in corpus.documents}


def _in_order(corpus: Corpus[Question], names: set[str]) -> tuple[str, ...]:
    return tuple(sample.id for sample in corpus.samples if sample.id in names)
