"""What scores pairs of a question and a text: as an encoder, its vector of a pair, written as one text, is the score.

So scores are cached, and a run that was stopped continues with those that are missing, as with vectors.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from embassay.core.errors import EncoderError, quoted
from embassay.core.samples.base import Role
from embassay.core.types import Card
from embassay.models.base import Batch, BatchEncoder, Route
from embassay.models.objects.calls import off_device
from embassay.models.services.spending import Spending

Question: TypeAlias = tuple[str, list[str]]
"""A question and the texts to score for it."""
Scored: TypeAlias = tuple[int, object, float]
"""The index of a question, the (n,) scores of its n texts, and the seconds that they took."""
Each: TypeAlias = Callable[[Sequence[Question]], Iterable[Scored]]


def pair(query: str, text: str) -> str:
    """Return a question and a text as one text."""
    return json.dumps([query, text], ensure_ascii=False)


def one_by_one(score: Callable[[str, list[str]], object], questions: Sequence[Question]) -> Iterator[Scored]:
    """Score the texts of one question after the other."""
    for number, (query, texts) in enumerate(questions):
        start = time.perf_counter()
        scores = score(query, texts)
        yield number, scores, time.perf_counter() - start


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairScorer(BatchEncoder):
    """Scores pairs. The texts of a question are scored together, so that no other question changes its scores.

    Attributes
    ----------
    spec
        Its part of the spec of a reranker, without secrets.
    fingerprint
        A hash of all that its scores depend on.
    cached
        Whether its scores are kept for other runs.
    each
        Scores the texts of several questions and yields the questions in any order; a larger score is better.
    route
        Returns requests, tokens and cost, for ``run.json``.
    release
        Releases what was loaded or opened.
    spending
        Tokens and price of a service; None if scoring costs nothing.
    rates
        For each question, the seconds that a pair took.
    """

    name: str
    spec: str
    fingerprint: str
    cached: bool = True
    each: Each
    route: Callable[[], Route] = dict
    release: Callable[[], None] = lambda: None
    spending: Spending | None = None
    rates: list[float] = field(default_factory=list)

    @property
    def card(self) -> Card:
        """What is known without scoring."""
        return Card(self.spec, cached=self.cached, similarity="dot")

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, 1) scores) of the pairs of each question.

        Raises
        ------
        EncoderError
            If there is not one score for each text.
        """
        places_of: dict[str, list[int]] = defaultdict(list)
        passages_of: dict[str, list[str]] = defaultdict(list)
        for place, text in enumerate(texts):
            query, passage = json.loads(text)
            places_of[query].append(place)
            passages_of[query].append(passage)
        questions = list(passages_of.items())
        for number, scored, seconds in self.each(questions):
            query, passages = questions[number]
            scores = np.asarray(off_device(scored), dtype=np.float32).reshape(-1, 1)
            if len(scores) != len(passages):
                raise EncoderError(f"question {quoted(query)}: {len(scores)} scores for {len(passages)} texts")
            self.rates.append(seconds / len(passages))
            yield places_of[query], scores

    def batch_invariant(self) -> bool:
        """Return True: a question is scored by itself."""
        return True
