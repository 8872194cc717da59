"""The options of specs that name a model, and the vectors that follow from finished ones by these options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict, cast

import numpy as np

from embassay.encoders.checks import check_whole
from embassay.errors import EncoderError, SpecError
from embassay.samples.base import ROLES, Role
from embassay.vectors import DenseVectors, Similarity

DERIVED: tuple[str, ...] = ("dim", "normalize", "vectors")
"""Options that are applied to finished vectors, in this order."""


class ModelOptions(TypedDict, total=False):
    """Options of a model's spec by name; those that were not set are missing. Each scheme has some of them."""

    revision: str
    file: str
    tokenizer: str
    pooling: str
    layer: int
    template: str
    query_prompt: str
    document_prompt: str
    text_prompt: str
    max_length: int
    dim: int
    dtype: str
    normalize: bool
    similarity: Similarity
    vectors: str


def explicit_options(place: str, options: ModelOptions | Mapping[str, object]) -> ModelOptions:
    """Return the options that are set: not None, not False and, except for prompts, not empty.

    Parameters
    ----------
    place
        What the options belong to, for messages: ``"encoder 'bge-m3'"``.

    Raises
    ------
    SpecError
        For a length or a dimension under 1.
    """
    options_set: dict[str, object] = {}
    for name, value in options.items():
        # An empty prompt counts as set: it says that there is none, whatever the model's configuration says.
        is_empty = value == "" and not name.endswith("_prompt")
        if value is None or value is False or is_empty:
            continue
        options_set[name] = value
    model_options = cast("ModelOptions", options_set)
    check_whole(place, max_length=model_options.get("max_length"), dim=model_options.get("dim"))
    return model_options


def check_dimensions(place: str, options: ModelOptions, dimensions: int | None) -> None:
    """Raise SpecError if ``dim`` exceeds the number of dimensions in the model's files, None if they do not tell it.

    Parameters
    ----------
    place
        What the options belong to, for messages.
    """
    dim = options.get("dim")
    if dim is not None and dimensions is not None and dim > dimensions:
        raise SpecError(f"{place}: the model has {dimensions} dimensions, so dim={dim} is too large")


def prompt_options(options: ModelOptions) -> dict[Role, str]:
    """Return the prompts that were set, by role."""
    values: Mapping[str, object] = options
    return {role: str(values[f"{role}_prompt"]) for role in ROLES if f"{role}_prompt" in values}


def derived_vectors(rows: DenseVectors, options: ModelOptions) -> DenseVectors:
    """Return vectors from the (n, d) ones of a model: cut, scaled to unit length, then quantised.

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
    return quantized(rows, options.get("vectors", "float32"))


def unit(rows: DenseVectors) -> DenseVectors:
    """Return (n, d) rows at unit length; zero vectors stay zero, as in torch's ``normalize``."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def quantized(rows: DenseVectors, kind: str) -> DenseVectors:
    """Return (n, d) vectors as float32 after quantisation to ``int8`` or ``binary``; unchanged for ``float32``.

    ``int8`` rounds each vector to 255 steps of its largest coordinate; ``binary`` keeps only signs, −1 or 1.
    """
    if kind == "int8":
        largest = np.abs(rows).max(axis=1, keepdims=True)
        # A zero vector has no largest coordinate to divide by.
        largest = np.maximum(largest, np.finfo(np.float32).tiny)
        steps = np.rint(rows / largest * 127)
        return np.asarray(steps * (largest / 127), dtype=np.float32)
    if kind == "binary":
        return np.asarray(np.where(rows > 0, 1, -1), dtype=np.float32)
    return rows
