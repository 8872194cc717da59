"""The keys and values that the vector cache writes, and how damaged ones are recognised.

==================  ==========================================  ========================================
record              key                                         value
==================  ==========================================  ========================================
layout              ``00`` "format"                             check, the layout's number
encoder             ``01``, encoder                             check, JSON: fingerprint, name, dim, used
vector              ``02``, encoder, text                       check, float32 numbers
==================  ==========================================  ========================================

*encoder* is a hash of the fingerprint (12 bytes), so that the vectors of one encoder are adjacent; *text* is a hash of
fingerprint, role and text (20 bytes). *check* is the CRC-32 of key and content, followed by the length of the content.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Text

LAYOUT = 2
"""The first layout had no number."""
LAYOUT_KEY = b"\x00format"
ENCODER, VECTOR = b"\x01", b"\x02"
PREFIX = 1 + 12
"""Bytes of a key that say its kind and its encoder."""
TEXT_HASH = 20
"""Bytes of a key that identify the text."""
CHECK = struct.Struct("<II")
"""CRC-32 and length, as two unsigned integers."""


@dataclass(frozen=True)
class EncoderNote:
    """What the cache remembers of an encoder; ``used`` is in seconds since 1970."""

    fingerprint: str
    name: str = ""
    dim: int = 0
    used: float = 0.0


def prefix(fingerprint: str) -> bytes:
    """Return the first bytes of the keys of all vectors of an encoder."""
    return VECTOR + _hash(fingerprint, PREFIX - 1)


def note_key(vector_prefix: bytes) -> bytes:
    """Return the key of an encoder's own record, from the prefix of its vectors."""
    return ENCODER + vector_prefix[1:PREFIX]


def keys(fingerprint: str) -> Callable[[Text], bytes]:
    """Return the function from a (role, text) pair to its key; keys of different inputs collide only by chance."""
    start = prefix(fingerprint)
    # The lengths keep two inputs apart whose joined texts are equal.
    head = f"{len(fingerprint)}:{fingerprint}"

    def key_of(text: Text) -> bytes:
        role, content = text
        joined = f"{head}{len(role)}:{role}{content}"
        return start + _hash(joined, TEXT_HASH)

    return key_of


def pack(key: bytes, content: bytes) -> bytes:
    """Return the value to store: the check, then the content."""
    return _check(key, content) + content


def unpack(key: bytes, value: memoryview | bytes | None) -> memoryview | None:
    """Return the content without its check; None if there is no value, or if it is damaged or of another key.

    The length is compared first: a damaged record may claim to be larger than the file.
    """
    if value is None or len(value) < CHECK.size:
        return None
    view = memoryview(value)
    checksum, length = CHECK.unpack(view[: CHECK.size])
    content = view[CHECK.size :]
    if length != len(content) or checksum != _checksum(key, content):
        return None
    return content


def vector(key: bytes, value: memoryview | bytes | None, dim: int) -> NDArray[np.float32] | None:
    """Return a copy of the vector; None where there is none, or where it is damaged or of another dimension."""
    if value is None or not dim or len(value) != CHECK.size + 4 * dim:
        return None
    # The memory of ``value`` belongs to the transaction.
    copied = bytes(value)
    content = memoryview(copied)[CHECK.size :]
    if copied[: CHECK.size] != _check(key, content):
        return None
    return np.frombuffer(content, dtype="<f4")


def pack_note(key: bytes, note: EncoderNote) -> bytes:
    """Return the record of an encoder."""
    return pack(key, json.dumps(asdict(note)).encode())


def unpack_note(key: bytes, value: memoryview | bytes | None) -> EncoderNote | None:
    """Return the content of a record; None if there is no record or if it is damaged."""
    content = unpack(key, value)
    if content is None:
        return None
    try:
        return EncoderNote(**json.loads(bytes(content)))
    except (ValueError, TypeError):
        return None


def _check(key: bytes, content: bytes | memoryview) -> bytes:
    """Return the bytes that stand before the content of a record."""
    return CHECK.pack(_checksum(key, content), len(content))


def _checksum(key: bytes, content: bytes | memoryview) -> int:
    """Return the CRC-32 of key and content."""
    return crc32(content, crc32(key))


def _hash(text: str, size: int) -> bytes:
    """Return a hash of a text, ``size`` bytes long."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
