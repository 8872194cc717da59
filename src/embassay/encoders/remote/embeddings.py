"""The ``/embeddings`` form that OpenAI began with: what is sent, what comes back, and how much it will be."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.endpoint import Endpoint
from embassay.endpoint.limits import vectors_limit
from embassay.endpoint.spending import guess
from embassay.errors import EndpointError

TOO_LARGE = re.compile(
    r"too (large|long|many|big)|maximum|at most|exceed|context.length|batch.size|longer than|limit", re.I
)
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Service:
    """A model of a service.

    Attributes
    ----------
    dim
        The dimensions to ask for; the model's own where None.
    batch, tokens
        The most texts and about the most tokens of a request.
    """

    endpoint: Endpoint
    model: str
    dim: int | None = None
    batch: int = 128
    tokens: int = 8000

    @cached_property
    def tally(self) -> Tally:
        """What was learnt on the way."""
        return Tally()

    def vectors(self, inputs: Sequence[str]) -> Iterator[tuple[range, Rows]]:
        """Yield (places in ``inputs``, their vectors) as answers come."""
        places = packed(inputs, self.batch, self.tokens)
        for number, rows in self.endpoint.each(lambda part: self._ask([inputs[i] for i in part]), places):
            yield places[number], rows

    def _ask(self, inputs: Sequence[str]) -> Rows:
        """Ask for the vectors of some texts; half by half where they are too many for one request."""
        payload: dict[str, Any] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        payload |= {"dimensions": self.dim} if self.dim else {}
        try:
            limit = vectors_limit(len(inputs), self.dim or self.tally.width)
            answer = self.endpoint.post("/embeddings", payload, tokens=sum(map(guess, inputs)), limit=limit)
        except EndpointError as error:
            if len(inputs) == 1 or not is_too_large(error.status, error.said):
                raise
            self.tally.split()
            half = len(inputs) // 2
            return np.concatenate([self._ask(inputs[:half]), self._ask(inputs[half:])])
        try:
            return self._checked(vectors(answer, len(inputs)))
        except ValueError as error:
            raise self.endpoint.error(str(error), 200) from None

    def _checked(self, rows: Rows) -> Rows:
        width, first = rows.shape[1], self.tally.width_of(rows)
        if self.dim and width != self.dim:
            raise ValueError(f"vectors of {width} dimensions; dim={self.dim} was asked for")
        if width != first:
            raise ValueError(f"vectors of {width} dimensions, before of {first}")
        return rows


class Tally:
    """How long the vectors are, and how many requests had to be split; several threads may ask."""

    def __init__(self) -> None:
        self.splits, self._lock = 0, Lock()
        self.width: int | None = None

    def split(self) -> None:
        """Count a request that was split."""
        with self._lock:
            self.splits += 1

    def width_of(self, rows: Rows) -> int:
        """Return the number of dimensions of the first vectors that were seen."""
        with self._lock:
            self.width = self.width or rows.shape[1]
            return self.width


def packed(texts: Sequence[str], most: int, tokens: int) -> list[range]:
    """Cut texts into requests of at most so many texts and about so many tokens; one long text stands alone."""
    return list(_packed(list(map(guess, texts)), most, tokens))


def _packed(sizes: Sequence[int], most: int, tokens: int) -> Iterator[range]:
    start = total = 0
    for place, size in enumerate(sizes):
        if place > start and (place - start == most or total + size > tokens):
            yield range(start, place)
            start, total = place, 0
        total += size
    if sizes:
        yield range(start, len(sizes))


def is_too_large(status: int | None, said: str) -> bool:
    """Say whether a service refused a request for its size, so that half of it may do."""
    return status == 413 or (status in (400, 422) and TOO_LARGE.search(said) is not None)


def vectors(answer: Any, number: int) -> Rows:
    """Return the (number, d) float32 vectors of an answer, in the order of the texts.

    Raises
    ------
    ValueError
        With a sentence, if the answer is not one finite vector of the same length for each text.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise ValueError("the answer has no list of embeddings ('data')")
    if len(data) != number:
        raise ValueError(f"{len(data)} vectors for {number} texts")
    rows = [_row(entry.get("embedding")) for entry in _in_order(data)]
    lengths = sorted({len(row) for row in rows})
    if lengths[0] == 0 or len(lengths) > 1:
        between = " and " if len(lengths) <= 2 else " to "
        told = between.join(map(str, sorted({lengths[0], lengths[-1]})))
        raise ValueError(f"vectors of {told} dimensions in one answer")
    with np.errstate(over="ignore"):
        matrix = np.array(rows).astype(np.float32)
    if not np.isfinite(matrix).all():
        raise ValueError("a vector with NaN or infinity")
    return matrix


def _in_order(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort by ``index``; an answer without any is taken as it comes."""
    if not any("index" in entry for entry in data):
        return data
    places = [entry.get("index") for entry in data]
    if any(type(place) is not int for place in places) or set(places) != set(range(len(data))):
        raise ValueError(f"the 'index' of its vectors is not each of 0 to {len(data) - 1} once")
    return sorted(data, key=lambda entry: int(entry["index"]))


def in_order(parts: Iterable[tuple[range, Rows]]) -> Rows:
    """Put vectors that came in any order under each other."""
    return np.concatenate([rows for _, rows in sorted(parts, key=lambda part: part[0].start)])


def _row(embedding: Any) -> NDArray[Any]:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        except (binascii.Error, ValueError):
            raise ValueError("an embedding is a text that is not base64 of 32-bit floats") from None
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {int, float}:
        raise ValueError("an embedding that is not a list of numbers")
    try:
        return np.array(embedding, dtype=np.float64)
    except OverflowError:
        raise ValueError("a vector with NaN or infinity") from None
