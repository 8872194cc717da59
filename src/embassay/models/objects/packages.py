"""Encoders through a package that no extra of this one installs: it loads a function of texts."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType

import numpy as np

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.loaded import LoadedEncoder


def require(package: str, install: str, place: str) -> None:
    """Raise SpecError with the command that installs a package, if it is not installed."""
    if importlib.util.find_spec(package) is None:
        raise SpecError(f"{place} needs the package {package}: pip install {install}")


@dataclass(frozen=True, eq=False)
class PackageEncoder(LoadedEncoder[Callable[[list[str]], object]]):
    """A model of another package; package and model are loaded for the first text.

    Attributes
    ----------
    content
        Returns what the fingerprint is made from.
    open
        Takes the package, and returns a function of a list of n texts that returns (n, d) numbers.
    """

    name: str
    spec: str
    package: str
    content: Callable[[], object] = field(repr=False)
    open: Callable[[ModuleType], Callable[[list[str]], object]] = field(repr=False)

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without loading it."""
        return Card(self.spec)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what identifies the model."""
        return content_hash([self.package, self.content()])

    def encode(self, texts: list[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32, whatever the role.

        Raises
        ------
        EncoderError
            If the model cannot be loaded, or takes no texts.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        return np.asarray(self.model(list(texts)), dtype=np.float32)

    def load(self) -> Callable[[list[str]], object]:
        """Load the package and the model; changes of the root logger are undone.

        laser_encoders adds a handler that writes to standard output.
        """
        root = logging.getLogger()
        handlers, level = list(root.handlers), root.level
        try:
            model = self.open(importlib.import_module(self.package))
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
        if not callable(model):
            raise EncoderError(f"{self.name} cannot be called with texts; use a model for TensorFlow 2")
        return model
