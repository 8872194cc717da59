"""A service that answers as OpenAI's ``/embeddings`` does, near or far: ``api:MODEL``.

Texts are sent to the service, which may cost money. With ``price=``, a dry run estimates the cost; with ``budget=``,
the run stops before it costs more. Nothing is sent before the first text is encoded or the fingerprint is read.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le, MinLen
from pydantic import TypeAdapter, ValidationError

from embassay.core.errors import quoted
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import Batch, BatchEncoder, Prompts, Route, changed_options, spec_of
from embassay.models.limits import Amount, AmountOrZero, Count
from embassay.models.neural.modules import unprompted_texts
from embassay.models.probe import PROBES, remembered, settled
from embassay.models.services.service import OPENAI, OPENAI_KEY, Service, in_order
from embassay.models.services.spending import guess

EXTRA = "api"
REQUIRES = ("httpx2",)
TARGET = "MODEL"
LARGEST = float(np.finfo(np.float32).max)
VECTOR = TypeAdapter(Annotated[list[Annotated[float, Ge(-LARGEST), Le(LARGEST)]], MinLen(1)])


def create(
    target: str,
    runtime: Runtime,
    *,
    base_url: str = "",
    key_env: str = OPENAI_KEY,
    dim: Count | None = None,
    price: AmountOrZero | None = None,
    budget: Amount | None = None,
    batch: Count = 128,
    query_prompt: str = "",
    document_prompt: str = "",
    text_prompt: str = "",
    similarity: Similarity = "cosine",
    concurrency: Count = 4,
    timeout: Amount = 120.0,
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
    price, budget, concurrency, timeout
        See :class:`~embassay.models.services.service.Service`.
    batch
        Maximum number of texts per request; one that the service finds too large is divided.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role.
    similarity
        Similarity of queries and documents.

    Raises
    ------
    SpecError
        If the key is missing, or would travel unencrypted, or there is a budget and no price.
    """
    head = f"api:{target}"
    service = Service(
        f"encoder {head!r}",
        base_url,
        key_env,
        timeout=timeout,
        concurrency=concurrency,
        price=price,
        budget=budget,
        tell=runtime.tell,
    )
    prompts: Prompts = {"text": text_prompt, "query": query_prompt, "document": document_prompt}
    options = changed_options(
        create,
        base_url="" if service.url == OPENAI else service.url,
        dim=dim,
        document_prompt=document_prompt,
        query_prompt=query_prompt,
        similarity=similarity,
        text_prompt=text_prompt,
    )
    card = Card(
        spec_of(head, options),
        target=head,
        options=options,
        prompts={role: prompt for role, prompt in prompts.items() if prompt},
        warnings=tuple(unprompted_texts(prompts)),
        similarity=similarity,
        remote=True,
        price=price,
    )
    return ApiEncoder(target, card, service, runtime.remembered, prompts, batch, dim)


@dataclass(eq=False, repr=False)
class ApiEncoder(BatchEncoder):
    """An encoder that sends texts to a service, in simultaneous requests of several texts.

    Attributes
    ----------
    memory
        Keeps the last probe; see :mod:`embassay.models.probe`.
    batch
        Maximum number of texts per request.
    dim
        The dimensions to request; None for the model's own.
    """

    name: str
    card: Card
    service: Service
    memory: MutableMapping[str, str]
    prompts: Prompts
    batch: int = 128
    dim: int | None = None
    _width: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """A hash of address, model, dimensions, prompts, and of the vectors of sixteen short texts.

        The first access costs a request.

        Raises
        ------
        EncoderError
            If the service fails.
        """
        return content_hash([self._key, settled(self.memory, self._key, self.encode(PROBES))])

    def known_fingerprint(self) -> str | None:
        """Return the last fingerprint, without a request; None if there is none."""
        probe = remembered(self.memory, self._key)
        return None if probe is None else content_hash([self._key, probe])

    @property
    def _key(self) -> str:
        return content_hash(["api", self.service.place, self.name, self.dim, self.prompts, PROBES])

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their vectors) of each answer as it comes, so that paid vectors are kept."""
        prompted = [self.prompts[role] + text for text in texts]
        starts = range(0, len(texts), self.batch)
        requests = [prompted[start : start + self.batch] for start in starts]
        for number, rows, _ in self.service.each(partial(self.service.in_parts, self._ask), requests):
            start = starts[number]
            yield range(start, start + len(rows)), rows

    def route(self) -> Route:
        """Return requests, tokens and cost, for ``run.json``. None of it changes the meaning of a vector."""
        return self.service.route()

    async def _ask(self, inputs: Sequence[str]) -> DenseVectors:
        """Return the (n, d) vectors of texts by one request."""
        payload: dict[str, object] = {"model": self.name, "input": inputs}
        if self.dim:
            payload["dimensions"] = self.dim
        return await self.service.ask(
            "/embeddings",
            payload,
            lambda answer: self._read(answer, inputs),
            tokens=sum(map(guess, inputs)),
            divisible=len(inputs) > 1,
        )

    def _read(self, answer: object, texts: Sequence[str]) -> DenseVectors:
        """Return the (n, d) float32 vectors of an answer, in the order of the texts."""
        rows = []
        for text, entry in zip(texts, in_order(answer, "data", len(texts)), strict=True):
            try:
                row = VECTOR.validate_python(entry.get("embedding"))
            except ValidationError:
                problem = f"no list of finite numbers for the text {quoted(text)}; change or leave out such texts"
                raise ValueError(problem) from None
            # The width may be known by now, from an answer to another request.
            self._width = self.dim or self._width or len(row)
            if len(row) != self._width:
                problem = f"the vectors have {len(row)} dimensions instead of {self._width}"
                raise ValueError(f"{problem}; check the model, and dim= if it is set")
            rows.append(row)
        return np.array(rows, dtype=np.float32)
