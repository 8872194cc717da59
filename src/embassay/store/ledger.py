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
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Text
from embassay.store.canonical import canonical, write


class Chunks(TypedDict):
    """The content of the file.

    ``texts`` is a hash of the encoder's fingerprint and texts. ``had`` holds one bit per text, in hexadecimal: whether
    the text had a vector at the first start. ``chunks`` maps the number of each finished chunk to the digest of its
    vectors.
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
        self._known = self._read(len(texts))

    def had_vectors(self, now: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return an (n,) mask of the texts with a cached vector at the first start; ``now`` if this is the first."""
        if self._known is None:
            self._known = {"texts": self._identity, "had": np.packbits(now).tobytes().hex(), "chunks": {}}
            if not now.all():
                write(self._path, canonical(self._known))
        bits = np.frombuffer(bytes.fromhex(self._known["had"]), dtype=np.uint8)
        return np.unpackbits(bits, count=len(now)).astype(bool)

    def holds(self, chunk: int, rows: Sequence[NDArray[np.float32] | None]) -> bool:
        """Return whether these are all the vectors of a chunk, exactly as an earlier start made them."""
        expected = self._known["chunks"].get(str(chunk)) if self._known else None
        vectors = [row for row in rows if row is not None]
        if expected is None or len(vectors) < len(rows):
            return False
        return expected == digest(vectors)

    def finish(self, chunk: int, rows: Sequence[NDArray[np.float32]]) -> None:
        """Record the digest of the vectors of a chunk, which must already be in the cache."""
        if self._known is None:
            raise RuntimeError("had_vectors comes first")
        self._known["chunks"][str(chunk)] = digest(rows)
        write(self._path, canonical(self._known))

    def _read(self, count: int) -> Chunks | None:
        """Return the content of the file; None if it does not exist, is damaged, or belongs to other texts."""
        try:
            known: Chunks = json.loads(self._path.read_bytes())
            bytes_of_bits = len(bytes.fromhex(known["had"]))
            digests = list(known["chunks"].values())
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        is_whole = bytes_of_bits == math.ceil(count / 8) and all(isinstance(digest, str) for digest in digests)
        return known if is_whole and known.get("texts") == self._identity else None


def digest(rows: Sequence[NDArray[np.float32]]) -> str:
    """Return the hexadecimal SHA-256 of the bytes of (d,) float32 vectors."""
    total = hashlib.sha256()
    for row in rows:
        total.update(np.ascontiguousarray(row, dtype="<f4").tobytes())
    return total.hexdigest()


def _hash(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
