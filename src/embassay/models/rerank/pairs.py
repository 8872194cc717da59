"""What scores pairs of a question and a text: as an encoder, its vector of a pair, written as one text, is the score.

So scores are cached, and a run that was stopped continues with those that are missing, as with vectors.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from embassay.core.errors import EncoderError, quoted
from embassay.core.samples.base import Role
from embassay.core.types import Card
from embassay.core.vectors import DenseVectors, Indices, VectorBatch
from embassay.models.base import BaseEncoder, Route
from embassay.models.neural.batching import encode_distinct
from embassay.models.objects.calls import off_device
from embassay.models.services.spending import Spending


def pair(query: str, text: str) -> str:
    """Return a question and a text as one text."""
    return json.dumps([query, text], ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class PairScorer(BaseEncoder):
    """Scores pairs. The texts of a question are scored together, so that no other question changes its scores.

    Attributes
    ----------
    spec
        Its part of the spec of a reranker, without secrets.
    fingerprint
        A hash of all that its scores depend on.
    cached
        Whether its scores are kept for other runs.
    score
        Takes a question and n texts, and returns (n,) scores; larger is better.
    each
        Calls a function with each of several items; yields (index, result), in any order.
    route
        Returns what scoring took, for ``run.json``.
    release
        Releases what was loaded or opened.
    spending
        Tokens and price of a service; None of what costs nothing.
    rates
        For each question, the seconds that a pair took.
    """

    name: str
    spec: str
    fingerprint: str
    cached: bool = True
    score: Callable[[str, list[str]], object]
    each: Callable[..., Iterable[tuple[int, DenseVectors]]] = lambda work, items: enumerate(map(work, items))
    route: Callable[[], Route] = dict
    release: Callable[[], None] = lambda: None
    spending: Spending | None = field(default=None, compare=False, repr=False)
    rates: list[float] = field(default_factory=list, compare=False, repr=False)

    @property
    def card(self) -> Card:
        """What is known without scoring."""
        return Card(self.spec, cached=self.cached, similarity="dot")

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return the (n, 1) scores of pairs."""
        return encode_distinct(texts, lambda distinct: self.batches(distinct, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[VectorBatch]:
        """Yield (indices into ``texts``, their (m, 1) scores) of the pairs of each question.

        Raises
        ------
        EncoderError
            If there is not one score for each text.
        """
        pairs = [json.loads(text) for text in texts]
        places_of: dict[str, list[int]] = defaultdict(list)
        for place, (query, _) in enumerate(pairs):
            places_of[query].append(place)
        questions = [np.array(places) for places in places_of.values()]

        def score(places: Indices) -> DenseVectors:
            query, passages = pairs[places[0]][0], [pairs[place][1] for place in places]
            start = time.perf_counter()
            scores = np.asarray(off_device(self.score(query, passages)), dtype=np.float32).reshape(-1, 1)
            self.rates.append((time.perf_counter() - start) / len(passages))
            if len(scores) != len(passages):
                raise EncoderError(f"question {quoted(query)}: scores {len(scores)} of {len(passages)} texts")
            return scores

        for number, scores in self.each(score, questions):
            yield questions[number], scores

    def batch_invariant(self) -> bool:
        """Return True: a question is scored by itself."""
        return True
