"""From the vectors of tokens to one of the text, as sentence-transformers' ``Pooling`` does it, for padded batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[Any]
Mask = NDArray[np.int64]
LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""How configurations named the modes before sentence-transformers 6, in the order in which they are put together."""


def pool(tokens: NDArray[Any], mask: Mask, modes: Sequence[str]) -> NDArray[np.float32]:
    """Return the (n, d) vectors of texts; of several modes one beside the other.

    Parameters
    ----------
    tokens
        (n, t, d) vectors of tokens, real ones first.
    mask
        (n, t) 1 for a token, 0 for padding.
    modes
        Names in :data:`MODES`.
    """
    found = [MODES[mode](tokens.astype(np.float32), mask) for mode in modes]
    return np.concatenate(found, axis=1).astype(np.float32)


def configured(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modes that a pooling module's ``config.json`` says; none where it says none that is known."""
    found = config.get("pooling_mode") or [mode for name, mode in LEGACY.items() if config.get(name)]
    modes = (found,) if isinstance(found, str) else tuple(map(str, found))
    return modes if all(mode in MODES for mode in modes) else ()


def _mean(tokens: Rows, mask: Mask) -> Rows:
    return _sum(tokens, mask) / np.maximum(_lengths(mask), 1)


def _mean_sqrt(tokens: Rows, mask: Mask) -> Rows:
    return _sum(tokens, mask) / np.sqrt(np.maximum(_lengths(mask), 1))


def _weighted_mean(tokens: Rows, mask: Mask) -> Rows:
    """Weigh the first token 1, the second 2 …"""
    weights = mask * np.arange(1, mask.shape[1] + 1)
    return _sum(tokens, weights) / np.maximum(_lengths(weights), 1)


def _max(tokens: Rows, mask: Mask) -> Rows:
    return np.asarray(np.where(mask[:, :, None] > 0, tokens, -np.inf).max(axis=1))


def _first(tokens: Rows, mask: Mask) -> Rows:
    return np.asarray(tokens[:, 0])


def _last(tokens: Rows, mask: Mask) -> Rows:
    return np.asarray(tokens[np.arange(len(mask)), np.maximum(mask.sum(axis=1) - 1, 0)])


def _sum(tokens: Rows, weights: Mask) -> Rows:
    return np.asarray(np.einsum("nt,ntd->nd", weights.astype(np.float32), tokens))


def _lengths(weights: Mask) -> Rows:
    return np.asarray(weights.sum(axis=1, keepdims=True), dtype=np.float32)


MODES: Mapping[str, Callable[[Rows, Mask], Rows]] = {
    "mean": _mean,
    "cls": _first,
    "max": _max,
    "mean_sqrt_len_tokens": _mean_sqrt,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
