"""The options of specs that name a model, and the vectors that follow from finished ones by these options."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import ROLES
from embassay.core.vectors import DenseVectors, Similarity
from embassay.models.base import Prompts
from embassay.models.checks import check_whole


@dataclass(frozen=True)
class ModelOptions:
    """Options of a model's spec, without the device; each scheme has some of them. A default means that it is not set.

    An empty prompt counts as set: it says that there is none, whatever the model's configuration says.
    """

    revision: str = ""
    file: str = ""
    tokenizer: str = ""
    pooling: str | None = None
    layer: int = -1
    template: str = ""
    query_prompt: str | None = None
    document_prompt: str | None = None
    text_prompt: str | None = None
    max_length: int | None = None
    dim: int | None = None
    dtype: str = "float32"
    normalize: bool = False
    similarity: Similarity | None = None
    vectors: str = "float32"

    @property
    def explicit(self) -> dict[str, object]:
        """The options that are set, by name, in alphabetical order."""
        values = {}
        for option in sorted(fields(self), key=lambda option: option.name):
            value = getattr(self, option.name)
            if value != option.default:
                values[option.name] = value
        return values

    @property
    def prompts(self) -> Prompts:
        """The prompts that are set, by role."""
        explicit = self.explicit
        return {role: str(explicit[f"{role}_prompt"]) for role in ROLES if f"{role}_prompt" in explicit}

    @property
    def of_model(self) -> ModelOptions:
        """These options without those that are applied to finished vectors."""
        return replace(self, dim=None, normalize=False, vectors="float32")

    def check(self, place: str) -> None:
        """Raise SpecError for a length or a dimension under 1.

        Parameters
        ----------
        place
            What the options belong to, for messages: ``"encoder 'bge-m3'"``.
        """
        check_whole(place, max_length=self.max_length, dim=self.dim)

    def check_dimensions(self, place: str, dimensions: int | None) -> None:
        """Raise SpecError if ``dim`` exceeds the number of dimensions in the model's files, None if they do not tell.

        Parameters
        ----------
        place
            What the options belong to, for messages.
        """
        if self.dim is not None and dimensions is not None and self.dim > dimensions:
            raise SpecError(f"{place}: the model has {dimensions} dimensions, so dim={self.dim} is too large")


def derived_vectors(rows: DenseVectors, options: ModelOptions) -> DenseVectors:
    """Return vectors from the (n, d) ones of a model: cut, scaled to unit length, then quantised.

    Raises
    ------
    EncoderError
        If the model has fewer dimensions than ``dim``.
    """
    dim = options.dim
    # Without texts, the number of dimensions is not known.
    if dim is not None and len(rows):
        if rows.shape[1] < dim:
            raise EncoderError(f"the model has {rows.shape[1]} dimensions, so dim={dim} is too large")
        rows = rows[:, :dim]
    if options.normalize:
        rows = unit(rows)
    return quantized(rows, options.vectors)


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
