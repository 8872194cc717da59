"""The protocol of OpenAI's ``/embeddings``: requests, answers, and their expected sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from threading import Lock

import numpy as np

from embassay.endpoint.client import Endpoint
from embassay.endpoint.spending import guess
from embassay.errors import EndpointError
from embassay.formatting import counted
from embassay.vectors import DenseVectors

TOO_LARGE = re.compile(
    r"too (large|long|many|big)|maximum|at most|exceed|context.length|batch.size|longer than|limit", re.I
)
ANSWER_BYTES, ENTRY_BYTES, NUMBER_BYTES = 1 << 16, 256, 32
"""Maximum bytes of an answer: without its vectors, of a vector without its numbers, and of a number."""
MOST_DIMENSIONS = 1 << 14
"""The maximum number of dimensions of the first vectors; afterwards their number is known."""


@dataclass
class Service:
    """A model of a service.

    Attributes
    ----------
    dim
        The dimensions to request; None for the model's own.
    batch, tokens
        Maximum number of texts, and approximate maximum number of tokens, per request.
    splits
        The number of requests that were split because they were too large.
    """

    endpoint: Endpoint
    model: str
    dim: int | None = None
    batch: int = 128
    tokens: int = 8000
    splits: int = 0
    _first_width: int | None = None
    _lock: Lock = field(default_factory=Lock)

    def vectors(self, inputs: Sequence[str]) -> Iterator[tuple[range, DenseVectors]]:
        """Yield (indices into ``inputs``, their (m, d) float32 vectors) of each answer as it comes."""
        requests = packed(inputs, self.batch, self.tokens)

        def ask(places: range) -> DenseVectors:
            return self._ask(inputs[places.start : places.stop])

        for number, rows in self.endpoint.each(ask, requests):
            yield requests[number], rows

    def _ask(self, inputs: Sequence[str]) -> DenseVectors:
        """Return the (n, d) vectors of texts by one request; halves of it if the service finds it too large."""
        payload: dict[str, object] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if self.dim:
            payload["dimensions"] = self.dim
        tokens = sum(guess(text) for text in inputs)
        dimensions = self.dim or self._first_width or MOST_DIMENSIONS
        longest = ANSWER_BYTES + len(inputs) * (ENTRY_BYTES + dimensions * NUMBER_BYTES)
        try:
            answer = self.endpoint.post("/embeddings", payload, tokens=tokens, longest=longest)
        except EndpointError as error:
            if len(inputs) == 1 or not is_too_large(error.status, error.said):
                raise
            # Services limit a request by tokens that they count differently, so only they know what is too large.
            with self._lock:
                self.splits += 1
            half = len(inputs) // 2
            return np.concatenate([self._ask(inputs[:half]), self._ask(inputs[half:])])
        try:
            rows = vectors(answer, len(inputs))
            self._check_width(rows.shape[1])
        except ValueError as error:
            raise self.endpoint.error(str(error), 200) from None
        return rows

    def _check_width(self, width: int) -> None:
        """Raise ValueError if vectors have other dimensions than requested, or than the first ones."""
        # Several threads ask the service at once; the first answer decides.
        with self._lock:
            self._first_width = self._first_width or width
        if self.dim and width != self.dim:
            raise ValueError(f"the vectors have {width} dimensions, not dim={self.dim}")
        if width != self._first_width:
            raise ValueError(f"the vectors have {width} dimensions, earlier ones have {self._first_width}")


def packed(texts: Sequence[str], most: int, tokens: int) -> list[range]:
    """Divide texts into requests: ranges of at most ``most`` texts and about ``tokens`` tokens, at least one text."""
    requests = []
    start = total = 0
    for place, text in enumerate(texts):
        size = guess(text)
        is_full = place - start == most or total + size > tokens
        if place > start and is_full:
            requests.append(range(start, place))
            start = place
            total = 0
        total += size
    if texts:
        requests.append(range(start, len(texts)))
    return requests


def is_too_large(status: int | None, said: str) -> bool:
    """Return whether a service rejected a request because of its size, so that half of it may be accepted."""
    if status == 413:
        return True
    return status in (400, 422) and TOO_LARGE.search(said) is not None


def vectors(answer: object, number: int) -> DenseVectors:
    """Return the (number, d) float32 vectors of an answer, in the order of the texts.

    Raises
    ------
    ValueError
        If the answer does not have one finite vector per text, all of the same length.
    """
    data = None
    if isinstance(answer, dict):
        data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise ValueError("the answer has no list of embeddings ('data')")
    if len(data) != number:
        raise ValueError(f"the answer has {counted(len(data), 'vector')} for {counted(number, 'text')}")
    entries = _in_order(data)
    try:
        matrix = np.array([entry.get("embedding") for entry in entries], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError("the embeddings are not lists of numbers, all of the same length")
    with np.errstate(over="ignore"):
        rows = matrix.astype(np.float32)
    if not np.isfinite(rows).all():
        raise ValueError("a vector contains NaN or infinity")
    return rows


def _in_order(data: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the entries sorted by ``index``, or unchanged if no entry has one."""
    if not any("index" in entry for entry in data):
        return data
    # Not isinstance, which would accept true and false.
    indices = [entry.get("index") for entry in data]
    whole_numbers = [index for index in indices if type(index) is int]
    if sorted(whole_numbers) != list(range(len(data))):
        raise ValueError(f"the 'index' values of the vectors are not 0 to {len(data) - 1}, each once")
    return sorted(data, key=itemgetter("index"))


def in_order(parts: Iterable[tuple[range, DenseVectors]]) -> DenseVectors:
    """Return the (n, d) vectors of parts that came in any order, in the order of their ranges."""
    return np.concatenate([rows for _, rows in sorted(parts, key=lambda part: part[0].start)])
