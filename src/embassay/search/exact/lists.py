"""The lists of retrievers: checked when they are given, joined, and read as the answer of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError
from embassay.core.samples.retrieval import right_pairs
from embassay.core.types import AnyCorpus
from embassay.core.vectors import Indices, Neighbours
from embassay.search.retrievers.base import Lists, Questions

NONE = Lists(
    rows=np.empty(0, dtype=np.int64),
    documents=np.empty((0, 0), dtype=np.int64),
    scores=np.empty((0, 0)),
    passages=np.empty((0, 0), dtype=np.int64),
    seconds=np.empty(0),
)
"""The lists of no question."""


def lists_of(nearest: Neighbours, depth: int) -> Lists:
    """Return the first documents of each question, as a retriever gets them from a part."""
    rows = np.arange(len(nearest.documents))
    return Lists(rows, nearest.documents[:, :depth], nearest.similarity[:, :depth], nearest.passages[:, :depth])


def of_rows(questions: Questions, rows: Indices) -> Questions:
    """Return some of the questions, with their lists from the parts.

    Parameters
    ----------
    rows
        (m,) rows of ``questions.samples``; every part has a list in each.
    """
    parts = {}
    for label, lists in questions.parts.items():
        passages = np.asarray(lists.passages)[rows]
        parts[label] = Lists(np.arange(len(rows)), lists.documents[rows], lists.scores[rows], passages)
    return replace(questions, samples=[questions.samples[row] for row in rows.tolist()], parts=parts)


def validated_lists(lists: Lists, questions: Questions, seconds: float) -> Lists:
    """Check lists, and fill in what the retriever does not know: passages, times, and what is after their ends.

    Parameters
    ----------
    seconds
        The time that these lists took together.

    Raises
    ------
    EncoderError
        If a list has a document twice, or a score that rises or is no number; it names the question.
    """
    is_listed = lists.documents >= 0
    in_order = np.sort(lists.documents, axis=1)
    is_repeated = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] >= 0)
    # Without scores, all of a list are NaN.
    has_scores = (is_listed & ~np.isnan(lists.scores)).any(axis=1, keepdims=True)
    rises = lists.scores[:, 1:] > lists.scores[:, :-1]
    problems = {
        "a document is listed twice; list each one once, where it is nearest": is_repeated,
        "a score is no finite number": is_listed & has_scores & ~np.isfinite(lists.scores),
        "a score is higher than the one before; the nearest document comes first (leave out distances)": rises,
    }
    for problem, is_wrong in problems.items():
        for row in lists.rows[is_wrong.any(axis=1)]:
            raise EncoderError(f"the list of question {questions.samples[row].id!r}: {problem}")
    passages = lists.passages
    if passages is None:
        passages = questions.first_passages[lists.documents]
    seconds_of_each = lists.seconds
    if seconds_of_each is None:
        seconds_of_each = np.full(len(lists.rows), seconds / max(len(lists.rows), 1))
    return replace(
        lists,
        scores=np.where(is_listed, lists.scores, np.nan),
        passages=np.where(is_listed, passages, -1),
        seconds=seconds_of_each,
    )


def joined(parts: Sequence[Lists]) -> Lists:
    """Return checked lists of different questions as one record, as wide as the longest list."""
    width = max(part.documents.shape[1] for part in parts)

    def padded(name: str, filler: float) -> NDArray[Any]:
        arrays = [getattr(part, name) for part in parts]
        widened = [np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=filler) for each in arrays]
        return np.concatenate(widened)

    return Lists(
        rows=np.concatenate([part.rows for part in parts]),
        documents=padded("documents", -1),
        scores=padded("scores", np.nan),
        passages=padded("passages", -1),
        seconds=np.concatenate([part.seconds for part in parts if part.seconds is not None]),
        unknown=tuple(chain.from_iterable(part.unknown for part in parts)),
        facts=tuple(dict.fromkeys(chain.from_iterable(part.facts for part in parts))),
    )


def ranked(corpus: AnyCorpus, lists: Lists, rest: Neighbours | None = None, pairs: Indices | None = None) -> Neighbours:
    """Return checked lists as the answer of a search: a row for each question, and the ranks of the right documents.

    Documents with equal scores are tied; without scores, each has a rank of its own. A right document that is in no
    list has the rank that it has in ``rest``, after those of the list; −1 without that.

    Parameters
    ----------
    pairs
        (R, 2) the right documents of questions, where they are known already.
    """

    def of_all(values: NDArray[Any] | None, filler: float) -> NDArray[Any]:
        spread = np.full((len(corpus.samples), lists.documents.shape[1]), filler, dtype=np.asarray(values).dtype)
        spread[lists.rows] = values
        return spread

    documents, passages = of_all(lists.documents, -1), of_all(lists.passages, -1)
    scores = of_all(lists.scores, np.nan)
    if pairs is None:
        pairs = right_pairs(corpus.samples, corpus.documents)
    of_pair, right = pairs.T
    own = np.full(len(pairs), np.nan)
    own_passages, greater, tied = (np.full(len(pairs), -1, dtype=np.int64) for _ in range(3))
    if rest is not None:
        own_passages = rest.own_passages.copy()
        # The list has the first of the documents that are tied where it ends; the others of them come after it.
        greater = np.where(rest.greater < 0, -1, np.maximum(rest.greater, (documents >= 0).sum(axis=1)[of_pair]))
        tied = rest.tied + rest.greater - greater
    is_right = documents[of_pair] == right[:, None]
    listed = is_right.any(axis=1)
    question, place = of_pair[listed], is_right[listed].argmax(axis=1)
    score = scores[question, place]
    own[listed], own_passages[listed] = score, passages[question, place]
    higher = np.count_nonzero(scores[question] > score[:, None], axis=1)
    equal = np.count_nonzero(scores[question] == score[:, None], axis=1)
    greater[listed] = np.where(np.isnan(score), place, higher)
    tied[listed] = np.where(np.isnan(score), 1, equal)
    return Neighbours(documents, passages, scores, own, own_passages, greater, tied)
