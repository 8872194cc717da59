"""What an interrupted run has encoded, so that the same command resumes and produces the same bytes.

The last bits of a vector may depend on the other texts in its batch. A run that resumes after a kill must therefore not
encode the missing texts in different batches. The run folder records which texts of each encoder had vectors when the
run first started. The other texts are split into the same chunks at every start, and a chunk is either read whole from
the cache, as this run left it, or encoded whole again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Text
from embassay.store.canonical import canonical, write


@dataclass(frozen=True)
class Chunks:
    """The content of the file.

    Attributes
    ----------
    texts
        A hash of the encoder's fingerprint and texts.
    had
        One bit per text, in hexadecimal: whether the text had a vector at the first start.
    chunks
        The digest of the vectors of each finished chunk, by its number.
    """

    texts: str
    had: str
    chunks: dict[str, str]


class Ledger:
    """The record of one encoder's texts from earlier starts of a run."""

    def __init__(self, path: Path, fingerprint: str, texts: Sequence[Text]):
        """Read the file of an earlier start. A file that is damaged or belongs to other texts counts as absent.

        Parameters
        ----------
        path
            The JSON file.
        fingerprint
            The encoder's fingerprint.
        texts
            The distinct texts to encode, in order.
        """
        self._path = path
        self._identity = _hash([fingerprint, *map(list, texts)])
        self._content = self._read(len(texts))

    def had_vectors(self, now: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return an (n,) mask of the texts that had a cached vector when the run first started.

        Parameters
        ----------
        now
            (n,) mask of the texts that have one now. If this is the first start, it is recorded and returned.
        """
        if self._content is None:
            bits = np.packbits(now).tobytes()
            self._content = Chunks(self._identity, bits.hex(), {})
            # Without a missing text nothing will be encoded, and a restart has nothing to repeat.
            if not now.all():
                write(self._path, canonical(self._content))
            return now
        bits = bytes.fromhex(self._content.had)
        packed = np.frombuffer(bits, dtype=np.uint8)
        return np.unpackbits(packed, count=len(now)).astype(bool)

    def holds(self, chunk: int, rows: Sequence[NDArray[np.float32] | None]) -> bool:
        """Return whether these are all the vectors of a chunk, exactly as an earlier start made them."""
        if self._content is None:
            return False
        expected = self._content.chunks.get(str(chunk))
        if expected is None:
            return False
        vectors = [row for row in rows if row is not None]
        is_complete = len(vectors) == len(rows)
        return is_complete and digest(vectors) == expected

    def finish(self, chunk: int, rows: Sequence[NDArray[np.float32]]) -> None:
        """Record the digest of the vectors of a chunk, which must already be in the cache."""
        if self._content is None:
            raise RuntimeError("call had_vectors first")
        self._content.chunks[str(chunk)] = digest(rows)
        write(self._path, canonical(self._content))

    def _read(self, count: int) -> Chunks | None:
        """Return the content of the file; None if it does not exist, is damaged, or belongs to other texts."""
        from pydantic import TypeAdapter

        try:
            content: Chunks = TypeAdapter(Chunks).validate_json(self._path.read_bytes(), strict=True)
            bits = bytes.fromhex(content.had)
        except (OSError, ValueError):
            # Without the ledger the texts are encoded again, which costs time but gives the right vectors.
            return None
        is_of_these_texts = content.texts == self._identity and len(bits) == math.ceil(count / 8)
        return content if is_of_these_texts else None


def digest(rows: Sequence[NDArray[np.float32]]) -> str:
    """Return the hexadecimal SHA-256 of the bytes of (d,) float32 vectors."""
    total = hashlib.sha256()
    for row in rows:
        total.update(np.ascontiguousarray(row, dtype="<f4").tobytes())
    return total.hexdigest()


def _hash(value: object) -> str:
    """Return the hexadecimal SHA-256 of a value as JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
