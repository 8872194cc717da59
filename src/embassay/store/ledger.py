"""What an interrupted run has encoded, so that the same command goes on to the same bytes.

A vector may depend, in its last bits, on the texts that it was encoded with. A run that goes on after a kill must
therefore not encode what is missing in other company. Of each encoder's texts the run folder remembers which had
vectors when the run first started; the rest is cut into the same chunks at every start, and a chunk is either taken
from the cache whole, as this run left it, or encoded whole again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Text
from embassay.store.canonical import canonical, write


class Chunks(TypedDict):
    """The content of the file.

    ``texts`` is a hash of the encoder's fingerprint and texts, ``had`` the bits (hexadecimal) that say which texts had
    a vector at first, ``chunks`` the digest of the vectors of each finished chunk, by its number.
    """

    texts: str
    had: str
    chunks: dict[str, str]


class Ledger:
    """What is known of one encoder's texts from earlier starts of a run."""

    def __init__(self, path: Path, fingerprint: str, texts: Sequence[Text]):
        """Read the file of an earlier start; one that is damaged, or of other texts, counts as none.

        Parameters
        ----------
        path
            The JSON file.
        fingerprint
            The encoder's.
        texts
            The distinct texts that are to be encoded, in their order.
        """
        self._path = path
        self._identity = _hash([fingerprint, *map(list, texts)])
        self._known = self._read(len(texts))

    def had_vectors(self, now: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return (n,) which texts had a vector in the cache when the run first started; ``now`` if that is now."""
        if self._known is None:
            self._known = {"texts": self._identity, "had": np.packbits(now).tobytes().hex(), "chunks": {}}
            if not now.all():
                write(self._path, canonical(self._known))
        bits = np.frombuffer(bytes.fromhex(self._known["had"]), dtype=np.uint8)
        return np.unpackbits(bits, count=len(now)).astype(bool)

    def holds(self, chunk: int, rows: Sequence[NDArray[np.float32] | None]) -> bool:
        """Say whether these are the vectors that an earlier start has made of a chunk, all of them."""
        expected = self._known["chunks"].get(str(chunk)) if self._known else None
        vectors = [row for row in rows if row is not None]
        if expected is None or len(vectors) < len(rows):
            return False
        return expected == digest(vectors)

    def finish(self, chunk: int, rows: Sequence[NDArray[np.float32]]) -> None:
        """Remember the vectors of a chunk by their digest; they have to be in the cache by now."""
        if self._known is None:
            raise RuntimeError("had_vectors comes first")
        self._known["chunks"][str(chunk)] = digest(rows)
        write(self._path, canonical(self._known))

    def _read(self, count: int) -> Chunks | None:
        """Return the content of the file; None where there is none, or where it is damaged or of other texts."""
        try:
            known: Chunks = json.loads(self._path.read_bytes())
            bytes_of_bits = len(bytes.fromhex(known["had"]))
            digests = list(known["chunks"].values())
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        is_whole = bytes_of_bits == math.ceil(count / 8) and all(isinstance(digest, str) for digest in digests)
        return known if is_whole and known.get("texts") == self._identity else None


def digest(rows: Sequence[NDArray[np.float32]]) -> str:
    """Return the hash of vectors, bit by bit."""
    total = hashlib.sha256()
    for row in rows:
        total.update(np.ascontiguousarray(row, dtype="<f4").tobytes())
    return total.hexdigest()


def _hash(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
