"""One immutable file of the vector cache: the vectors of some texts, each with a checksum.

======================  ==========================================================================================
part                    content
======================  ==========================================================================================
head                    ``EMBVEC1\\n``, n, d, CRC-32 of keys and checksums (28 bytes)
keys                    n unsigned 64-bit integers: the first halves; then the n second halves
checksums               n unsigned 32-bit integers: CRC-32 of each key and its vector
vectors                 n times d float32 numbers
======================  ==========================================================================================

All numbers are little-endian. A file whose length, keys or checksums are wrong is damaged, and so is one with a vector
that does not match its checksum.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from embassay.core.samples.base import Text
from embassay.core.store.canonical import write_whole

SUFFIX = ".vectors"
MAGIC = b"EMBVEC1\n"
HEAD = struct.Struct("<8sQQI")
KEY = np.dtype("<u8")
KEY_SIZE = 16
BUFFER = 1 << 18
"""Bytes that are read from the disk at once."""

Keys = NDArray[np.uint64]
Vectors = NDArray[np.float32]


class DamagedBlockError(Exception):
    """A file of the cache is not as it was written."""


def keys_of(fingerprint: str, texts: Iterable[Text]) -> Keys:
    """Return the (n, 2) keys of (role, text) pairs; keys of different inputs are equal only by chance (2^-128)."""
    # The lengths keep two inputs apart whose joined texts are equal.
    head = f"{len(fingerprint)}:{fingerprint}"
    digests = []
    for role, content in texts:
        joined = f"{head}{len(role)}:{role}{content}".encode("utf-8", "surrogatepass")
        digests.append(hashlib.blake2b(joined, digest_size=KEY_SIZE).digest())
    return np.frombuffer(b"".join(digests), dtype=KEY).reshape(-1, 2)


def size_of(count: int, dim: int) -> int:
    """Return the bytes of a file with ``count`` vectors of ``dim`` numbers."""
    return HEAD.size + count * (KEY_SIZE + 4 + 4 * dim)


def write_block(path: Path, keys: Keys, rows: Vectors) -> None:
    """Write the (n, d) vectors of (n, 2) distinct keys, whole or not at all.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    rows = np.ascontiguousarray(rows, dtype="<f4")
    checks = np.array(_checksums(keys, rows), dtype="<u4")
    index = keys.T.tobytes() + checks.tobytes()
    head = HEAD.pack(MAGIC, len(keys), rows.shape[1], crc32(index))

    def write_parts(file: BinaryIO) -> None:
        file.write(head)
        file.write(index)
        file.write(rows.data)

    write_whole(path, write_parts)


class CacheFile:
    """The keys of a file in memory; its vectors are read from disk when they are asked for.

    Attributes
    ----------
    dim
        The dimension of its vectors.
    keys
        (n, 2) in the order of the vectors.
    """

    def __init__(self, path: Path):
        """Read the keys and checksums of a file.

        Raises
        ------
        DamagedBlockError
            If they are not as they were written.
        FileNotFoundError
            If another process has removed the file.
        """
        self.path = path
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(HEAD.size)
            if len(head) < HEAD.size:
                raise DamagedBlockError
            magic, count, dim, check = HEAD.unpack(head)
            # The size comes first: damaged numbers could ask for more memory than there is.
            if magic != MAGIC or size != size_of(count, dim):
                raise DamagedBlockError
            index = file.read(count * (KEY_SIZE + 4))
        if crc32(index) != check:
            raise DamagedBlockError
        self.dim = int(dim)
        self.keys: Keys = np.frombuffer(index, dtype=KEY, count=2 * count).reshape(2, count).T
        self._checks = np.frombuffer(index, dtype="<u4", offset=count * KEY_SIZE)

    def read(self, rows: NDArray[np.intp]) -> Vectors:
        """Return the (n, d) vectors of rows of this file, which may be in any order.

        Raises
        ------
        DamagedBlockError
            If a vector does not match its checksum.
        FileNotFoundError
            If another process has removed the file.
        """
        # What a shortened file no longer has stays zero, which its checksums tell.
        vectors = np.zeros((len(rows), self.dim), dtype="<f4")
        keys = self.keys[rows]
        checks = self._checks[rows].tolist()
        start, width = size_of(len(self.keys), 0), 4 * self.dim
        with io.BufferedReader(self.path.open("rb", buffering=0), BUFFER) as file:
            # In the order of the file, so that neighbours are in the buffer already.
            for place in np.argsort(rows).tolist():
                file.seek(start + int(rows[place]) * width)
                file.readinto(vectors[place].data)
        if _checksums(keys, vectors) != checks:
            raise DamagedBlockError
        return vectors


def _checksums(keys: Keys, rows: Vectors) -> Sequence[int]:
    """Return the CRC-32 of each key with its vector."""
    return [crc32(row.data, crc32(key.data)) for key, row in zip(keys, rows, strict=True)]
