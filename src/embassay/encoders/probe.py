"""Sixteen short texts whose vectors tell one model of a service from another.

A service may answer a little differently each time. So a probe that agrees with the one before counts as the same, and
the one before is what stands in the fingerprint: otherwise vectors that are paid for would be lost to a rounding.
"""

from __future__ import annotations

import base64
from collections.abc import MutableMapping

import numpy as np
from numpy.typing import NDArray

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
"""Sixteen short texts whose vectors tell one model from another."""
STEP = 1e-3
"""How far a coordinate may move while the model counts as the same."""
FINE = 1e-5
"""The same for a model that runs here, of unit vectors: only rounding moves them."""
Probe = NDArray[np.float32]


def remembered(memory: MutableMapping[str, str] | None, key: str) -> Probe | None:
    """Return the probe of the last time; None where there is none, or it is damaged."""
    if memory is None:
        return None
    try:
        content = base64.b64decode(memory.get(key, ""), validate=True)
        probe = np.frombuffer(content, dtype="<f4").reshape(len(PROBES), -1)
    except (ValueError, TypeError):
        return None
    return probe if probe.size else None


def settled(memory: MutableMapping[str, str] | None, key: str, probe: Probe, step: float = STEP) -> Probe:
    """Return the probe of the last time where this one agrees with it; else this one, which is remembered."""
    before = remembered(memory, key)
    if before is not None and _agree(before, probe, step):
        return before
    if memory is not None:
        memory[key] = base64.b64encode(probe.astype("<f4").tobytes()).decode()
    return probe


def steps(probe: Probe, step: float = STEP) -> list[list[int]]:
    """Return a probe rounded, as whole numbers of steps."""
    rounded: list[list[int]] = np.rint(probe.astype(np.float64) / step).astype(int).tolist()
    return rounded


def unit_steps(memory: MutableMapping[str, str] | None, key: str, rows: Probe, step: float = FINE) -> list[list[int]]:
    """Return the directions and lengths of a probe's (n, d) rows, settled and rounded."""
    return steps(settled(memory, key, unit(rows), step), step)


def unit(rows: Probe) -> Probe:
    """Return rows at unit length, and a tenth of the logarithm of 1 + their norm in a last column."""
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    directions = rows / np.where(norms > 0, norms, 1)
    # The logarithm: a model that scales its vectors is another one, whatever the size of its vectors.
    lengths = np.log1p(norms) / 10
    return np.hstack([directions, lengths]).astype(np.float32)


def _agree(before: Probe, probe: Probe, step: float) -> bool:
    """Say whether no coordinate has moved by more than a step, of vectors longer than 1 in proportion."""
    if before.shape != probe.shape:
        return False
    longest = float(np.linalg.norm(before, axis=1).max())
    return bool(np.abs(before - probe).max() <= step * max(1.0, longest))
