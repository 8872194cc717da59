"""Vectors that follow from the finished ones of a model: cut, scaled to unit length, quantised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.vectors import DenseVectors

Options = Mapping[str, Any]
"""The options of a spec that are set, by name. An empty prompt counts as set."""


def derived_vectors(rows: DenseVectors, options: Options) -> DenseVectors:
    """Return vectors from the (n, d) ones of a model: cut, scaled to unit length, then quantised.

    ``int8`` rounds each vector to 255 steps of its largest coordinate; ``binary`` keeps only signs, −1 or 1.

    Raises
    ------
    EncoderError
        If the model has fewer dimensions than ``dim``.
    """
    dim = options.get("dim")
    # Without texts, the number of dimensions is not known.
    if dim is not None and len(rows):
        if rows.shape[1] < dim:
            raise EncoderError(f"the model has {rows.shape[1]} dimensions, so dim={dim} is too large")
        rows = rows[:, :dim]
    if options.get("normalize"):
        rows = unit(rows)
    if options.get("vectors") == "int8":
        # A zero vector has no largest coordinate to divide by.
        largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        rows = np.rint(rows / largest * 127) * (largest / 127)
    if options.get("vectors") == "binary":
        rows = np.where(rows > 0, 1, -1)
    return np.asarray(rows, dtype=np.float32)


def unit(rows: DenseVectors) -> DenseVectors:
    """Return (n, d) rows at unit length; zero vectors stay zero, as in torch's ``normalize``."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
