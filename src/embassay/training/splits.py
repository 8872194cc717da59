"""The split into training, dev and test questions: disjoint by question text, or also by context.

Roychowdhury et al. (2024), section 2.4, hold out 20 % of the questions. Questions with the same text stay together.
With ``by="context"`` so do questions that share a unit, a right document or the text of one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from embassay.core.errors import InputError
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Question
from embassay.core.samples.shapes import closure
from embassay.core.types import Corpus
from embassay.training.negatives import normalised
from embassay.training.options import By

DEV = 0.1
"""Share of the remaining questions, after the test questions, that decides when to stop training."""
LEAST_WORDS = 3
"""A question with fewer words only matches a whole text: *why?* occurs in too many texts."""


@dataclass(frozen=True)
class Split:
    """Questions, each part in the order of the corpus.

    Attributes
    ----------
    train, dev
        Questions with a right document: those to learn from, and those that decide which step is kept.
    test
        The test questions, including some that no document answers.
    """

    train: tuple[Question, ...]
    dev: tuple[Question, ...]
    test: tuple[Question, ...]


def split(corpus: Corpus[Question], *, test: float = 0.2, seed: int = 0, by: By = "question") -> Split:
    """Divide the questions of a corpus, whole groups of connected questions at a time.

    Groups are taken in random order. Each group joins the test questions if that brings their number nearer to the
    requested share, otherwise the dev questions by the same rule, otherwise the training questions. Questions without a
    right document are divided in the same way, so that the test has its share of them; they are used for the test only.

    Parameters
    ----------
    test
        The share of test questions among all questions, above 0 and below 1.
    by
        ``question``: no question text is on both sides. ``context``: nor is a unit or a right document.

    Raises
    ------
    InputError
        If no question is left for training or test.
    """
    texts = {document.id: normalised(" ".join(document.passages)) for document in corpus.documents}
    # The groups are the connected components of a graph of questions and what they must not share: (kind, value).
    nodes: dict[tuple[str, str], int] = {}
    edges = []
    for place, sample in enumerate(corpus.samples):
        keys = [("text", normalised(sample.question))]
        if by == "context":
            keys += [("unit", unit) for unit in sample.units]
            keys += [("right document", texts[name]) for name in sample.right]
        edges += [(place, len(corpus.samples) + nodes.setdefault(key, len(nodes))) for key in keys]
    component = closure(edges)
    members: defaultdict[int, list[str]] = defaultdict(list)
    for place, sample in enumerate(corpus.samples):
        members[component[place]].append(sample.id)
    # In the order of the corpus.
    groups = list(members.values())
    remaining = {"test": test * len(corpus.samples)}
    remaining["dev"] = DEV * (len(corpus.samples) - remaining["test"])
    part_of: dict[str, str] = {}
    for place in generator(seed, "split", by, corpus.fingerprint).permutation(len(groups)).tolist():
        group, part = groups[place], "train"
        for name, size in remaining.items():
            # A group brings a part nearer to its size if at most half of the group is too much.
            if len(group) <= 2 * size:
                part = name
                remaining[name] -= len(group)
                break
        part_of.update(dict.fromkeys(group, part))

    parts: dict[str, list[Question]] = {"train": [], "dev": [], "test": []}
    for sample in corpus.samples:
        part = part_of[sample.id]
        if sample.right or part == "test":
            parts[part].append(sample)
    if not parts["train"] or not any(sample.right for sample in parts["test"]):
        raise InputError(
            f"corpus {corpus.name!r}: its questions cannot be divided into training and test: they form {len(groups)} "
            "connected groups"
        )
    return Split(tuple(parts["train"]), tuple(parts["dev"]), tuple(parts["test"]))


def contains_any(text: str, questions: Collection[str]) -> bool:
    """Return whether a text contains one of some questions, which are in normalised form, word for word.

    A short question only matches a whole text.
    """
    words = normalised(text)
    long_questions = (question for question in questions if question.count(" ") >= LEAST_WORDS - 1)
    return words in questions or any(f" {question} " in f" {words} " for question in long_questions)
