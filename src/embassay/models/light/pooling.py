"""Pooling of token vectors into text vectors, as in sentence-transformers' ``Pooling``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from embassay.core.types import JsonObject
from embassay.core.vectors import DenseVectors

MODES = ("mean", "cls", "max", "lasttoken")
"""The modes that are implemented here."""
LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""The names of the modes in configurations before sentence-transformers 6, in the order of concatenation."""


def configured(config: JsonObject) -> tuple[str, ...]:
    """Return the modes in a pooling module's ``config.json``, also those that are not in :data:`MODES`."""
    modes = config.get("pooling_mode") or [mode for name, mode in LEGACY.items() if config.get(name)]
    return (modes,) if isinstance(modes, str) else tuple(modes)


def pool(tokens: np.ndarray, modes: Sequence[str]) -> DenseVectors:
    """Return (n, d) float32 vectors of texts of equal length; for m modes they are concatenated to (n, m · d).

    Parameters
    ----------
    tokens
        (n, t, d) token vectors.
    modes
        Names in :data:`MODES`.
    """
    tokens = tokens.astype(np.float32, copy=False)
    weights = np.ones(tokens.shape[1], dtype=np.float32)
    # The mean of each text by itself, in the same order: other texts of a batch do not change the last bits.
    pooled: dict[str, Callable[[], DenseVectors]] = {
        "cls": lambda: tokens[:, 0],
        "lasttoken": lambda: tokens[:, -1],
        "max": lambda: np.asarray(tokens.max(axis=1)),
        "mean": lambda: np.asarray(np.einsum("t,ntd->nd", weights, tokens) / weights.sum()),
    }
    return np.concatenate([pooled[mode]() for mode in modes], axis=1)
