"""Pooling of token vectors into text vectors, as in sentence-transformers' ``Pooling``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from embassay.core.types import JsonObject
from embassay.core.vectors import DenseVectors

MODES = ("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
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
    """Return the modes in a pooling module's ``config.json``; empty if it has none or an unknown one."""
    modes = config.get("pooling_mode")
    if not modes:
        modes = [mode for name, mode in LEGACY.items() if config.get(name)]
    if isinstance(modes, str):
        modes = [modes]
    if not set(modes) <= set(MODES):
        return ()
    return tuple(modes)


def pool(tokens: np.ndarray, modes: Sequence[str]) -> DenseVectors:
    """Return (n, d) float32 vectors of texts of equal length; for m modes they are concatenated to (n, m · d).

    Parameters
    ----------
    tokens
        (n, t, d) token vectors.
    modes
        Names in :data:`MODES`.
    """
    parts = [_pool(tokens.astype(np.float32, copy=False), mode) for mode in modes]
    return np.concatenate(parts, axis=1)


def _pool(tokens: DenseVectors, mode: str) -> DenseVectors:
    """Return (n, d) text vectors by one mode."""
    length = tokens.shape[1]
    if mode == "cls":
        return tokens[:, 0]
    if mode == "lasttoken":
        return tokens[:, -1]
    if mode == "max":
        return np.asarray(tokens.max(axis=1))
    weights = np.ones(length, dtype=np.float32)
    if mode == "weightedmean":
        # The first token has weight 1, the second 2, and so on.
        weights = np.arange(1, length + 1, dtype=np.float32)
    # Of each text by itself, in the same order: other texts of a batch do not change the last bits.
    total = np.einsum("t,ntd->nd", weights, tokens)
    divisor = weights.sum()
    if mode == "mean_sqrt_len_tokens":
        divisor = np.sqrt(divisor)
    return np.asarray(total / divisor)
