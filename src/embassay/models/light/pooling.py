"""Pooling of token vectors into text vectors, as in sentence-transformers' ``Pooling``."""

from __future__ import annotations

from collections.abc import Sequence

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
    vectors = []
    for mode in modes:
        if mode == "cls":
            vectors.append(tokens[:, 0])
        elif mode == "lasttoken":
            vectors.append(tokens[:, -1])
        elif mode == "max":
            vectors.append(tokens.max(axis=1))
        else:
            # The mean of each text by itself, in the same order: other texts of a batch do not change the last bits.
            weights = np.ones(tokens.shape[1], dtype=np.float32)
            vectors.append(np.einsum("t,ntd->nd", weights, tokens) / weights.sum())
    return np.concatenate(vectors, axis=1)
