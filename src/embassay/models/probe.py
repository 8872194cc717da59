"""A probe: the vectors of sixteen short texts, which distinguish one model of a service from another.

A service may return slightly different vectors each time. A probe that agrees with the stored one counts as the same
model, and the stored probe is used for the fingerprint. Otherwise a rounding error would make all cached vectors, which
have been paid for, unusable.
"""

from __future__ import annotations

import json
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
Probe = list[list[float]]
STEP = 1e-3
"""The largest change of a coordinate between two probes of the same model of a service."""


def remembered(memory: MutableMapping[str, str], key: str) -> Probe | None:
    """Return the stored probe; None if there is none."""
    return json.loads(memory[key]) if key in memory else None


def settled(memory: MutableMapping[str, str], key: str, vectors: DenseVectors) -> Probe:
    """Return the stored probe if these vectors agree with it; otherwise store them and return them.

    They agree if all coordinates differ by at most :data:`STEP`, times the longest norm if that exceeds 1.
    """
    before = remembered(memory, key)
    if before is not None and np.shape(before) == vectors.shape:
        longest = np.linalg.norm(before, axis=1).max()
        if np.abs(before - vectors).max() <= STEP * max(1.0, longest):
            return before
    probe: Probe = vectors.tolist()
    memory[key] = json.dumps(probe)
    return probe
