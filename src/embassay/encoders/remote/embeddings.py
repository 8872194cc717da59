"""The ``/embeddings`` form that OpenAI began with: what is sent, what comes back, and how much it will be."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from embassay.endpoint import Endpoint
from embassay.endpoint.spending import guess
from embassay.errors import EndpointError

TOO_LARGE = re.compile(
    r"too (large|long|many|big)|maximum|at most|exceed|context.length|batch.size|longer than|limit", re.I
)
Rows = NDArray[np.float32]
ANSWER_BYTES, ENTRY_BYTES, NUMBER_BYTES = 1 << 16, 256, 32
"""Bytes that an answer may have at most besides its vectors, a vector besides its numbers, and a number of it."""
MOST_DIMENSIONS, FEWEST_DIMENSIONS, MOST_NUMBERS = 1 << 16, 1 << 13, 1 << 20
"""Room for an answer before the dimensions are known: for a million numbers, but at most 65,536 and at least 8,192
dimensions."""


class Service:
    """A model of a service.

    Attributes
    ----------
    dim
        The dimensions to request; the model's own where None.
    batch, tokens
        Maximum number of texts, and approximate maximum number of tokens, per request.
    splits
        How many requests were too large and had to be split.
    """

    def __init__(self, endpoint: Endpoint, model: str, dim: int | None = None, batch: int = 128, tokens: int = 8000):
        self.endpoint = endpoint
        self.model = model
        self.dim = dim
        self.batch = batch
        self.tokens = tokens
        self.splits = 0
        self._first_width: int | None = None
        self._lock = Lock()

    def vectors(self, inputs: Sequence[str]) -> Iterator[tuple[range, Rows]]:
        """Yield (places in ``inputs``, their vectors) as answers come."""
        requests = packed(inputs, self.batch, self.tokens)

        def ask(places: range) -> Rows:
            return self._ask(inputs[places.start : places.stop])

        for number, rows in self.endpoint.each(ask, requests):
            yield requests[number], rows

    def _ask(self, inputs: Sequence[str]) -> Rows:
        """Ask for the vectors of some texts; half by half where they are too many for one request."""
        payload: dict[str, object] = {"model": self.model, "input": inputs, "encoding_format": "float"}
        if self.dim:
            payload["dimensions"] = self.dim
        tokens = sum(guess(text) for text in inputs)
        longest = longest_answer(len(inputs), self.dim or self._first_width)
        try:
            answer = self.endpoint.post("/embeddings", payload, tokens=tokens, longest=longest)
        except EndpointError as error:
            if len(inputs) == 1 or not is_too_large(error.status, error.said):
                raise
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
        """Refuse vectors that are not as long as requested, or as the first ones."""
        with self._lock:
            self._first_width = self._first_width or width
        if self.dim and width != self.dim:
            raise ValueError(f"the vectors have {width} dimensions, not dim={self.dim}")
        if width != self._first_width:
            raise ValueError(f"the vectors have {width} dimensions, earlier ones have {self._first_width}")


def longest_answer(texts: int, dimensions: int | None) -> int:
    """Return the most bytes of an answer with a vector for each text; dimensions are None before the first answer."""
    if dimensions is None:
        dimensions = min(max(MOST_NUMBERS // texts, FEWEST_DIMENSIONS), MOST_DIMENSIONS)
    return ANSWER_BYTES + texts * (ENTRY_BYTES + dimensions * NUMBER_BYTES)


def packed(texts: Sequence[str], most: int, tokens: int) -> list[range]:
    """Cut texts into requests of at most ``most`` texts and about ``tokens`` tokens; one long text stands alone."""
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
    """Return whether a service refused a request for its size, so that half of it may do."""
    if status == 413:
        return True
    return status in (400, 422) and TOO_LARGE.search(said) is not None


def vectors(answer: object, number: int) -> Rows:
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
        raise ValueError(f"the answer has {len(data)} vectors for {number} texts")
    rows = [_row(entry.get("embedding")) for entry in _in_order(data)]
    shortest = min(len(row) for row in rows)
    longest = max(len(row) for row in rows)
    if shortest == 0:
        raise ValueError("the answer contains vectors of 0 dimensions")
    if shortest != longest:
        raise ValueError(f"the answer contains vectors of {shortest} and of {longest} dimensions")
    with np.errstate(over="ignore"):
        matrix = np.array(rows).astype(np.float32)
    if not np.isfinite(matrix).all():
        raise ValueError("a vector contains NaN or infinity")
    return matrix


def _in_order(data: list[dict[str, object]]) -> list[dict[str, object]]:
    """Sort by ``index``; an answer without any is taken as it comes."""
    if not any("index" in entry for entry in data):
        return data
    indices = [entry.get("index") for entry in data]
    whole_numbers = [index for index in indices if type(index) is int]
    if sorted(whole_numbers) != list(range(len(data))):
        raise ValueError(f"the 'index' values of the vectors are not 0 to {len(data) - 1}, each once")
    return sorted(data, key=itemgetter("index"))


def in_order(parts: Iterable[tuple[range, Rows]]) -> Rows:
    """Put vectors that came in any order under each other."""
    return np.concatenate([rows for _, rows in sorted(parts, key=lambda part: part[0].start)])


def _row(embedding: object) -> np.ndarray:
    if isinstance(embedding, str):
        try:
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        except (binascii.Error, ValueError):
            raise ValueError("an embedding is a string that is not base64-encoded 32-bit floats") from None
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {int, float}:
        raise ValueError("an embedding is not a list of numbers")
    try:
        return np.array(embedding, dtype=np.float64)
    except OverflowError:
        raise ValueError("a vector contains NaN or infinity") from None
