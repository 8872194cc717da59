"""A probe: the vectors of sixteen short texts, which distinguish one model of a service from another.

A service may return slightly different vectors each time. A probe that agrees with the stored one counts as the same
model, and the stored probe is used for the fingerprint. Otherwise a rounding error would make all cached vectors, which
have been paid for, unusable.
"""

from __future__ import annotations

import base64
from collections.abc import MutableMapping

import numpy as np

from embassay.core.vectors import DenseVectors

PROBES = (
    "a",
    "No.",
    "The shop is open.",
    "The shop is not open.",
    "The shop is closed on Sundays, but the baker next door is not.",
    "a cat sleeps on the warm stove",
    "Quarterly revenue rose by 3.5 % to 1,204 million.",
    "Which river flows through the old town?",
    "def area(r): return 3.14159 * r ** 2",
    "Ein Satz auf Deutsch, mit Umlauten: Äpfel, Öl, Übung.",
    "Une phrase en français, écrite pour être comparée.",
    "Русское предложение о погоде.",
    "今天的天气很好。",
    "هذه جملة قصيرة.",
    "🙂 !!! ???",
    "She said that nobody had told her when the last train would leave, so she walked home through the rain.",
)
"""The texts of a probe."""
STEP = 1e-3
"""The largest change of a coordinate between two probes of the same model of a service."""


def remembered(memory: MutableMapping[str, str], key: str) -> DenseVectors | None:
    """Return the stored probe; None if there is none, or if it is damaged."""
    try:
        content = base64.b64decode(memory.get(key, ""), validate=True)
        probe = np.frombuffer(content, dtype="<f4").reshape(len(PROBES), -1)
    except (ValueError, TypeError):
        # A damaged probe is replaced by the next one.
        return None
    return probe if probe.size else None


def settled(memory: MutableMapping[str, str], key: str, probe: DenseVectors) -> DenseVectors:
    """Return the stored probe if this one agrees with it; otherwise store this one and return it."""
    before = remembered(memory, key)
    if before is not None and _agree(before, probe):
        return before
    memory[key] = base64.b64encode(probe.astype("<f4").tobytes()).decode()
    return probe


def _agree(before: DenseVectors, probe: DenseVectors) -> bool:
    """Return whether all coordinates differ by at most :data:`STEP`, times the longest norm if that exceeds 1."""
    if before.shape != probe.shape:
        return False
    longest = float(np.linalg.norm(before, axis=1).max())
    return bool(np.abs(before - probe).max() <= STEP * max(1.0, longest))
