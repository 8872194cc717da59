"""A service that answers as OpenAI's ``/embeddings`` does, near or far: ``api:MODEL``.

Texts are sent to the service, which may cost money. With ``price=``, a dry run estimates the cost; with ``budget=``,
the run stops before it costs more. Nothing is sent before the first text is encoded or the fingerprint is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Indices, Similarity
from embassay.models.base import BaseEncoder, Prompts, Route, spec_of
from embassay.models.endpoint.access import OPENAI, OPENAI_KEY, check_amounts, check_whole, open_endpoint
from embassay.models.endpoint.address import Address
from embassay.models.endpoint.attempts import Retries
from embassay.models.endpoint.spending import Spending, guess
from embassay.models.neural.prompts import unprompted_texts
from embassay.models.probe import PROBES, remembered, settled, steps
from embassay.models.remote.embeddings import Service, in_order

EXTRA = "api"
REQUIRES = ("httpx2",)
TARGET = "MODEL"
MOST = 2048
"""Maximum number of texts in a request."""
BLANK = " "
RETRIES = Retries()


def create(
    target: str,
    runtime: Runtime,
    *,
    base_url: str = "",
    key_env: str = OPENAI_KEY,
    dim: int | None = None,
    price: float | None = None,
    budget: float | None = None,
    batch: int = 128,
    tokens: int = 8000,
    query_prompt: str = "",
    document_prompt: str = "",
    text_prompt: str = "",
    similarity: Similarity = "cosine",
    concurrency: int = 4,
    max_length: int | None = None,
    timeout: float = 120.0,
) -> ApiEncoder:
    """Describe the service; nothing is sent yet.

    Parameters
    ----------
    base_url
        Its address, without ``/embeddings``; ``$OPENAI_BASE_URL`` by default, else OpenAI's.
    key_env
        The name of the environment variable that holds the key; ``key_env=`` sends none.
    dim
        Request vectors of this many dimensions, from models that can shorten them.
    price, budget
        Price of a million tokens, and the maximum cost of a run.
    batch, tokens
        Maximum number of texts, and approximate maximum number of tokens, per request.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role.
    similarity
        Similarity of queries and documents.
    concurrency
        Maximum number of simultaneous requests.
    max_length
        The model's token limit: longer texts are counted, and the service decides how to handle them.
    timeout
        Seconds for one attempt, from connecting to the last byte of the answer.

    Raises
    ------
    SpecError
        If an option is out of range, the key is missing, or it would travel unencrypted.
    """
    place = f"encoder 'api:{target}'"
    check_whole(place, dim=dim, tokens=tokens, max_length=max_length, concurrency=concurrency, batch=batch)
    check_amounts(place, price=price, budget=budget, timeout=timeout)
    if batch > MOST:
        raise SpecError(f"{place}, option 'batch': must be {MOST} or less, is {batch}")
    if budget is not None and price is None:
        raise SpecError(f"{place}, option 'budget': also needs price=, the price of a million tokens")
    endpoint = open_endpoint(
        place,
        base_url,
        key_env,
        timeout=timeout,
        concurrency=concurrency,
        retries=RETRIES,
        spending=Spending(price, budget),
        tell=lambda line: runtime.tell(f"api:{target}: {line}"),
    )
    prompts: dict[Role, str] = {"text": text_prompt, "query": query_prompt, "document": document_prompt}
    return ApiEncoder(Service(endpoint, target, dim, batch, tokens), runtime, prompts, similarity, max_length)


@dataclass(frozen=True)
class ApiEncoder(BaseEncoder):
    """An encoder that sends texts to a service, in simultaneous requests of several texts."""

    service: Service
    runtime: Runtime = field(repr=False)
    prompts: Prompts
    similarity: Similarity
    max_length: int | None
    seen: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.service.model

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without a request."""
        address = self._address.shown
        options = {
            "base_url": "" if address == OPENAI else address,
            "dim": self.service.dim,
            "document_prompt": self.prompts["document"],
            "max_length": self.max_length,
            "query_prompt": self.prompts["query"],
            "similarity": self.similarity,
            "text_prompt": self.prompts["text"],
        }
        return Card(
            spec_of(f"api:{self.name}", options),
            target=f"api:{self.name}",
            options={name: value for name, value in options.items() if value},
            max_tokens=self.max_length,
            prompts={role: prompt for role, prompt in self.prompts.items() if prompt},
            warnings=tuple(unprompted_texts(self.prompts)),
            similarity=self.similarity,
            remote=True,
            price=self._spending.price,
        )

    @property
    def fingerprint(self) -> str:
        """A hash of address, model, dimensions, prompts, and of the vectors of sixteen short texts.

        The first access costs a request.

        Raises
        ------
        EncoderError
            If the service fails; the failure is remembered until :meth:`release`.
        """
        probe = self._probe
        if isinstance(probe, EncoderError):
            raise probe
        return self._fingerprint(probe)

    def known_fingerprint(self) -> str | None:
        """Return the last fingerprint, without a request; None if there is none."""
        probe = vars(self).get("_probe")
        if not isinstance(probe, np.ndarray):
            probe = remembered(self.runtime.remembered, self._probe_key)
        if probe is None:
            return None
        return self._fingerprint(probe)

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32, each text with its role's prompt."""
        if not texts:
            return np.zeros((0, self.service.dim or 1), np.float32)
        return in_order(self.batches(texts, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[Sequence[int], DenseVectors]]:
        """Yield (indices into ``texts``, their vectors) of each answer as it comes, so that paid vectors are kept."""
        inputs = [self._input(text, role) for text in texts]
        # Services refuse an empty text, so BLANK is sent in its place.
        self.seen["empty_texts"] += inputs.count(BLANK)
        # Only the service has the tokenizer, so the lengths are estimates.
        if self.max_length:
            for text in inputs:
                self.seen["about_too_long"] += guess(text) > self.max_length
        yield from self.service.vectors(inputs)

    def estimate_tokens(self, texts: Sequence[str], role: Role) -> Indices:
        """Return the (n,) estimated number of tokens of each text, prompt included."""
        return np.array([guess(self._input(text, role)) for text in texts], dtype=np.int64)

    def outlook(self, tokens: int) -> list[str]:
        """Return what a dry run says of sending so many tokens: their number, their cost, what exceeds the budget."""
        return self._spending.outlook(tokens)

    def route(self) -> Route:
        """Return requests, tokens and cost, for ``run.json``. None of it changes the meaning of a vector."""
        spent = self._spending
        return {
            "url": self._address.shown,
            "batch": self.service.batch,
            "concurrency": self.service.endpoint.concurrency,
            "requests": spent.requests,
            "retries": spent.retries,
            "split_requests": self.service.splits,
            "tokens": spent.tokens,
            "cost": spent.cost,
            **self.seen,
        }

    def release(self) -> None:
        """Close connections, and forget a probe that failed."""
        self.service.endpoint.close()
        if isinstance(vars(self).get("_probe"), EncoderError):
            vars(self).pop("_probe")

    def _input(self, text: str, role: Role) -> str:
        # Services reject an empty text. A space has as little content, and gets a vector.
        return self.prompts[role] + text or BLANK

    @property
    def _address(self) -> Address:
        return self.service.endpoint.address

    @property
    def _spending(self) -> Spending:
        return self.service.endpoint.spending

    @cached_property
    def _probe(self) -> DenseVectors | EncoderError:
        """The probe, or the error of its request, which is not repeated."""
        try:
            return settled(self.runtime.remembered, self._probe_key, in_order(self.service.vectors(PROBES)))
        except EncoderError as error:
            return error

    @property
    def _probe_key(self) -> str:
        return content_hash(["api probe", self._address.place, self.name, self.service.dim, PROBES])

    def _fingerprint(self, probe: DenseVectors) -> str:
        return content_hash(["api", self._address.place, self.name, self.service.dim, self.prompts, steps(probe)])
