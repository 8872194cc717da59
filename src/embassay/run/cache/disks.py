"""How large the vector cache may be."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from embassay.core.errors import InputError

VARIABLE = "EMBASSAY_CACHE_LIMIT"
USUAL = 20 * 10**9
"""The limit in bytes where ``EMBASSAY_CACHE_LIMIT`` sets none and the disk has room: 20 GB."""
UNITS = {"": 1, "b": 1}
"""The bytes of each unit in which a limit may be written, in lower case."""
for power, letter in enumerate("kmgt", start=1):
    UNITS |= {f"{letter}b": 1000**power, f"{letter}ib": 1024**power, letter: 1024**power}


def limit(folder: Path, current: int) -> int | None:
    """Return how many bytes the cache may take, of which it has ``current``; None for no limit.

    Without ``EMBASSAY_CACHE_LIMIT`` it is 20 GB, or half of what the disk has free (with what the cache has) where
    that is less.

    Raises
    ------
    InputError
        If ``EMBASSAY_CACHE_LIMIT`` is not a size.
    """
    setting = os.environ.get(VARIABLE, "").strip()
    if setting:
        # 0 sets no limit.
        return size(setting) or None
    # The folder may not have been made yet; it will be on the disk of its nearest parent that exists.
    existing = folder.resolve()
    try:
        while not existing.exists() and existing != existing.parent:
            existing = existing.parent
        available = shutil.disk_usage(existing).free + current
    except OSError:
        return USUAL
    return min(USUAL, available // 2)


def size(text: str) -> int:
    """Return the bytes of a size such as ``5GiB``, ``500 MB`` or ``0``.

    Raises
    ------
    InputError
        If the text is not a size.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", text.strip().lower())
    if not match or match[2] not in UNITS:
        raise InputError(f"{VARIABLE}: {text!r} is not a size; write for example 5GiB or 500MB, or 0 for no limit")
    return int(float(match[1]) * UNITS[match[2]])
