"""A service that answers as ``/rerank`` of Cohere, Jina or text-embeddings-inference (TEI) does, near or far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from embassay.core.errors import EndpointError, SpecError
from embassay.core.types import Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import spec_of
from embassay.models.limits import Amount, AmountOrZero, Count
from embassay.models.rerank.pairs import PairScorer, Question
from embassay.models.services.service import BLANK, Service, in_order
from embassay.models.services.spending import guess

EXTRA = "api"
REQUIRES = ("httpx2",)


def of_service(
    target: str,
    runtime: Runtime,
    *,
    base_url: str = "",
    key_env: str = "",
    version: str = "",
    price: AmountOrZero | None = None,
    budget: Amount | None = None,
    timeout: Amount = 120.0,
    concurrency: Count = 4,
) -> PairScorer:
    """Describe the service; nothing is sent yet.

    Parameters
    ----------
    base_url
        Its address, without ``/rerank``.
    key_env
        The name of the environment variable that holds the key; by default none is sent.
    version
        Identifies what the model computes; without it, scores are not kept for other runs.
    price, budget, timeout, concurrency
        See :class:`~embassay.models.services.service.Service`; a request has the texts of one question.

    Raises
    ------
    SpecError
        If the address or the key is missing, or the key would travel unencrypted.
    """
    spec = f"rerank:api:{target}"
    place = f"encoder {spec!r}"
    if not base_url:
        raise SpecError(f"{place}: set base_url=, the address before /rerank, such as https://api.jina.ai/v1")
    service = Service(
        place,
        base_url,
        key_env,
        timeout=timeout,
        concurrency=concurrency,
        price=price,
        budget=budget,
        tell=runtime.tell,
    )
    return PairScorer(
        name=target,
        spec=spec_of(spec, {"base_url": service.url, "version": version}),
        fingerprint=content_hash(["rerank api", service.place, service.query, target, version]),
        cached=bool(version),
        each=partial(service.each, PairService(service, target).score),
        route=service.route,
        spending=service.spending,
    )


@dataclass
class PairService:
    """A model of a service.

    Attributes
    ----------
    is_tei
        Whether the service is TEI, whose requests have other fields; the first answer tells.
    """

    service: Service
    model: str
    is_tei: bool = False

    async def score(self, question: Question) -> DenseVectors:
        """Return the (n,) scores of n texts by one request; by several if the service finds it too large.

        Raises
        ------
        EndpointError
            If there is no usable answer.
        """
        query, texts = question
        return await self.service.in_parts(lambda part: self._ask(query or BLANK, part), texts)

    async def _ask(self, query: str, texts: Sequence[str]) -> DenseVectors:
        payload: dict[str, object] = {"model": self.model, "query": query, "documents": texts}
        # Another request may find out while this one waits for its answer.
        as_tei = self.is_tei
        if as_tei:
            # It refuses long texts unless it may truncate them.
            payload = {"query": query, "texts": texts, "truncate": True}
        try:
            return await self.service.ask(
                "/rerank",
                payload,
                lambda answer: read_scores(answer, len(texts)),
                tokens=sum(guess(query + text) for text in texts),
                divisible=len(texts) > 1,
            )
        except EndpointError as error:
            if as_tei or "missing field `texts`" not in error.said:
                raise
        self.is_tei = True
        return await self._ask(query, texts)


def read_scores(answer: Any, number: int) -> DenseVectors:
    """Return the (number,) scores of an answer, in the order of the texts.

    Raises
    ------
    ValueError
        If the answer does not have one number for each text.
    """
    # TEI sends the list alone.
    entries = in_order({"results": answer} if isinstance(answer, list) else answer, "results", number)
    try:
        scores = [float(entry.get("relevance_score", entry.get("score"))) for entry in entries]
        return np.array(scores, dtype=np.float32)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("the answer does not have a number, 'relevance_score', for each text") from None
