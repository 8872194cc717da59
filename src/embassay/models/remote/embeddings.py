"""The protocol of OpenAI's ``/embeddings``: requests, answers, and their expected sizes."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from embassay.core.errors import EndpointError, begun, quoted
from embassay.core.formatting import counted
from embassay.core.vectors import DenseVectors
from embassay.models.endpoint.client import Endpoint
from embassay.models.endpoint.spending import guess
from embassay.models.probe import PROBES

Row: TypeAlias = "DenseVectors | str"
"""The (d,) vector of a text, or why it has none."""
TOO_LARGE = re.compile(
    r"too (large|long|many|big)|maximum|at most|exceed|context.length|batch.size|(longer|less|fewer) than|limit", re.I
)
ANSWER_BYTES, ENTRY_BYTES, NUMBER_BYTES = 1 << 16, 256, 32
"""Maximum bytes of an answer: without its vectors, of a vector without its numbers, and of a number."""
MOST_DIMENSIONS = 1 << 14
"""The maximum number of dimensions of the first vectors; afterwards their number is known."""
OF_THE_TEXTS = (400, 413, 422, 500)
"""HTTP statuses that a single text may cause."""
FORMAT = re.compile("encoding.?format", re.I)
LARGEST = 1e6
"""A larger number in base64 shows that the bytes are no float32: int8, for example."""
MOST_MISSING = 20
"""With more texts without a vector, the service is at fault, and no further texts are sent."""
SHOWN = 3
"""Texts without a vector that a message names, at most."""
LONGEST_SHOWN = 80
"""Characters of each of them, at most."""


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
    _sends_format: bool = True
    _first_width: int | None = None
    _lock: Lock = field(default_factory=Lock)

    def vectors(self, inputs: Sequence[str]) -> Iterator[tuple[Sequence[int], DenseVectors]]:
        """Yield (indices into ``inputs``, their (m, d) float32 vectors) of each answer as it comes.

        Raises
        ------
        EndpointError
            If there is no usable answer; or, after the vectors of all others, if some texts have no vector.
        """
        requests = packed(inputs, self.batch, self.tokens)
        missing: list[str] = []

        def ask(places: range) -> list[Row]:
            return self._ask(inputs[places.start : places.stop])

        for number, answer in self.endpoint.each(ask, requests):
            vector_of = {}
            for place, row in zip(requests[number], answer, strict=True):
                if isinstance(row, str):
                    missing.append(f"{quoted(begun(inputs[place], LONGEST_SHOWN))} ({row})")
                else:
                    vector_of[place] = row
            if vector_of:
                yield list(vector_of), np.stack(list(vector_of.values()))
            if len(missing) > MOST_MISSING:
                break
        if missing:
            listed = f"{', '.join(missing[:SHOWN])}{' …' if len(missing) > SHOWN else ''}"
            advice = "change or leave out such texts; with a cache, the vectors of all others are kept"
            raise self.endpoint.error(f"no vector for {counted(len(missing), 'text')}: {listed}; {advice}")

    def _ask(self, inputs: Sequence[str]) -> list[Row]:
        """Return the row of each text by one request; by halves of it where some text or their number is refused."""
        try:
            return self._request(inputs)
        except EndpointError as error:
            is_one = len(inputs) == 1
            may_be_split = not is_one and is_too_large(error.status, error.said)
            if not (may_be_split or (error.status in OF_THE_TEXTS and self._answers())):
                raise
            if is_one:
                return [f"{error.status}: {error.said or error.problem}"]
        # Services limit a request by tokens that they count differently, so only they know what is too large.
        with self._lock:
            self.splits += 1
        half = len(inputs) // 2
        return [*self._ask(inputs[:half]), *self._ask(inputs[half:])]

    def _answers(self) -> bool:
        """Return whether the service makes a vector of a short text, so that a failure is due to other texts."""
        try:
            self._request(PROBES[:1], patient=True)
        except EndpointError:
            return False
        return True

    def _request(self, inputs: Sequence[str], *, patient: bool = False) -> list[Row]:
        """Return the row of each text by one request.

        Parameters
        ----------
        patient
            Whether a failure inside the service is waited for, although the texts may be its cause.
        """
        payload: dict[str, object] = {"model": self.model, "input": inputs}
        # Another thread may find out while this one waits for its answer.
        sends_format = self._sends_format
        if sends_format:
            payload["encoding_format"] = "float"
        if self.dim:
            payload["dimensions"] = self.dim
        tokens = sum(guess(text) for text in inputs)
        dimensions = self.dim or self._first_width or MOST_DIMENSIONS
        longest = ANSWER_BYTES + len(inputs) * (ENTRY_BYTES + dimensions * NUMBER_BYTES)
        try:
            answer = self.endpoint.post("/embeddings", payload, tokens=tokens, longest=longest, patient=patient)
        except EndpointError as error:
            if not (sends_format and FORMAT.search(error.whole)):
                raise
            # Some services accept base64 only, or no such field; without it they choose.
            self._sends_format = False
            return self._request(inputs, patient=patient)
        try:
            rows = read_rows(answer, len(inputs))
            for row in rows:
                if not isinstance(row, str):
                    self._check_width(len(row))
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


def read_rows(answer: object, number: int) -> list[Row]:
    """Return the row of each text of an answer, in the order of the texts.

    Raises
    ------
    ValueError
        If the answer does not have one entry per text.
    """
    data = None
    problem = "the answer has no list of embeddings ('data')"
    if isinstance(answer, dict):
        data = answer.get("data")
        problem += f"; it has {', '.join(map(quoted, answer)) or 'nothing'}"
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise ValueError(problem)
    if len(data) != number:
        raise ValueError(f"the answer has {counted(len(data), 'vector')} for {counted(number, 'text')}")
    return [_row(entry.get("embedding")) for entry in _in_order(data)]


def _row(embedding: object) -> Row:
    """Return the (d,) float32 vector of an embedding: a list of numbers, or base64 of float32; or why it is none."""
    numbers = np.zeros(0)
    with suppress(TypeError, ValueError, OverflowError):
        if isinstance(embedding, str):
            numbers = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        else:
            numbers = np.array(embedding, dtype=np.float64)
    with np.errstate(over="ignore"):
        row = numbers.astype(np.float32)
    if row.ndim != 1 or not row.size:
        return "not a list of numbers"
    if not np.isfinite(row).all():
        return "NaN or infinity"
    if isinstance(embedding, str) and np.abs(row).max() > LARGEST:
        return "base64 of other numbers than float32"
    return row


def _in_order(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries sorted by ``index``, or unchanged if no entry has one.

    Protobuf leaves out a number that is 0, so a single entry without an index may be the first.
    """
    indices = [entry.get("index") for entry in data]
    missing = indices.count(None)
    if missing == len(data):
        return data
    if missing == 1:
        indices[indices.index(None)] = 0
    # Not isinstance, which would accept true and false.
    entry_of = {index: entry for index, entry in zip(indices, data, strict=True) if type(index) is int}
    if sorted(entry_of) != list(range(len(data))):
        raise ValueError(f"the 'index' values of the vectors are not 0 to {len(data) - 1}, each once")
    return [entry_of[place] for place in range(len(data))]


def in_order(parts: Iterable[tuple[Sequence[int], DenseVectors]]) -> DenseVectors:
    """Return the (n, d) vectors of parts that came in any order, in the order of their first indices."""
    return np.concatenate([rows for _, rows in sorted(parts, key=lambda part: part[0][0])])
