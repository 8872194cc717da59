"""A service that answers as ``/rerank`` of Cohere, Jina or text-embeddings-inference (TEI) does, near or far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from embassay.core.errors import EndpointError, SpecError
from embassay.core.formatting import counted
from embassay.core.types import Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import Route, spec_of
from embassay.models.checks import check_whole
from embassay.models.endpoint.access import check_amounts, open_endpoint
from embassay.models.endpoint.attempts import Retries
from embassay.models.endpoint.client import Endpoint
from embassay.models.endpoint.spending import Spending, guess
from embassay.models.remote.embeddings import ANSWER_BYTES, ENTRY_BYTES, is_too_large
from embassay.models.rerank.pairs import PairScorer

EXTRA = "api"
REQUIRES = ("httpx2",)
BLANK = " "
"""Sent in place of an empty text, which services refuse."""
CHARACTER_BYTES = 12
"""Maximum bytes of a character in JSON; services may repeat the texts."""
RETRIES = Retries()


def of_service(
    target: str,
    runtime: Runtime,
    *,
    base_url: str = "",
    key_env: str = "",
    version: str = "",
    price: float | None = None,
    budget: float | None = None,
    timeout: float = 120.0,
    concurrency: int = 4,
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
    price, budget
        Price of a million tokens, and the maximum cost of a run.
    timeout
        Seconds for one attempt, from connecting to the last byte of the answer.
    concurrency
        Maximum number of simultaneous requests, one for each question.

    Raises
    ------
    SpecError
        If an option is out of range, the address or the key is missing, or the key would travel unencrypted.
    """
    place = f"encoder 'rerank:api:{target}'"
    if not base_url:
        raise SpecError(f"{place}: set base_url=, the address before /rerank, such as https://api.jina.ai/v1")
    check_whole(place, concurrency=concurrency)
    check_amounts(place, price=price, budget=budget, timeout=timeout)
    endpoint = open_endpoint(
        place,
        base_url,
        key_env,
        timeout=timeout,
        concurrency=concurrency,
        retries=RETRIES,
        spending=Spending(price, budget),
        tell=lambda line: runtime.tell(f"rerank:api:{target}: {line}"),
    )
    service = PairService(endpoint, target)
    return PairScorer(
        name=target,
        spec=spec_of(f"rerank:api:{target}", {"base_url": endpoint.address.shown, "version": version}),
        fingerprint=content_hash(["rerank api", endpoint.address.place, endpoint.address.query, target, version]),
        cached=bool(version),
        score=service.score,
        each=endpoint.each,
        route=service.route,
        release=endpoint.close,
        spending=endpoint.spending,
    )


@dataclass
class PairService:
    """A model of a service.

    Attributes
    ----------
    is_tei
        Whether the service is TEI, whose requests have other fields; the first answer tells.
    """

    endpoint: Endpoint
    model: str
    is_tei: bool = False

    def score(self, query: str, texts: list[str]) -> DenseVectors:
        """Return the (n,) scores of n texts by one request; by two if the service finds it too large.

        Raises
        ------
        EndpointError
            If there is no usable answer.
        """
        sent = [text or BLANK for text in texts]
        payload: dict[str, object] = {"model": self.model, "query": query or BLANK, "documents": sent}
        # Another thread may find out while this one waits for its answer.
        as_tei = self.is_tei
        if as_tei:
            # It refuses long texts unless it may truncate them.
            payload = {"query": query or BLANK, "texts": sent, "truncate": True}
        tokens = sum(guess(query + text) for text in sent)
        longest = ANSWER_BYTES + sum(ENTRY_BYTES + CHARACTER_BYTES * len(text) for text in sent)
        try:
            answer = self.endpoint.post("/rerank", payload, tokens=tokens, longest=longest)
        except EndpointError as error:
            if "missing field `texts`" in error.said and not as_tei:
                self.is_tei = True
                return self.score(query, texts)
            if len(texts) == 1 or not is_too_large(error.status, error.said):
                raise
            half = len(texts) // 2
            return np.concatenate([self.score(query, texts[:half]), self.score(query, texts[half:])])
        try:
            return read_scores(answer, len(texts))
        except ValueError as error:
            raise self.endpoint.error(str(error), 200) from None

    def route(self) -> Route:
        """Return requests, tokens and cost."""
        spent = self.endpoint.spending
        names = ("requests", "retries", "tokens", "cost")
        return {"url": self.endpoint.address.shown, **{name: getattr(spent, name) for name in names}}


def read_scores(answer: object, number: int) -> DenseVectors:
    """Return the (number,) scores of an answer, in the order of the texts.

    Raises
    ------
    ValueError
        If the answer does not have one number for each text.
    """
    entries = answer.get("results") if isinstance(answer, dict) else answer
    try:
        # Protobuf leaves out a number that is 0.
        score_of = {
            entry.get("index", 0): entry.get("relevance_score", entry.get("score")) for entry in cast("Any", entries)
        }
        return np.array([float(score_of[place]) for place in range(number)], dtype=np.float32)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        problem = f"the answer has not for each of {counted(number, 'text')} an 'index' and a 'relevance_score'"
        raise ValueError(problem) from None
