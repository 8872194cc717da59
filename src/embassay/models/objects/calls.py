"""Encoders that call a function of texts: the user's own, an object's methods, or one that another package loads."""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from embassay.core.errors import EncoderError, SpecError, reason_of
from embassay.core.samples.base import Role
from embassay.core.types import Card, content_hash
from embassay.core.vectors import VectorMatrix
from embassay.models.arrays import checked_vectors
from embassay.models.loaded import LoadedEncoder

Call: TypeAlias = Callable[[list[str], Role], object]
"""Takes texts and their role, and returns their vectors in any form."""


@dataclass(frozen=True, eq=False, repr=False)
class CallEncoder(LoadedEncoder[Call]):
    """An encoder that calls a function with the texts.

    Attributes
    ----------
    content
        Returns what identifies the function.
    load
        Loads the function, for the first text.
    """

    name: str
    card: Card
    content: Callable[[], object]
    load: Callable[[], Call]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the spec without its options, and of what identifies the function."""
        return content_hash([self.card.spec.partition(",")[0], self.content()])

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the function's (n, d) vectors as float32, dense or CSR.

        Raises
        ------
        EncoderError
            If the function cannot be loaded or fails (the message names its line), or if it does not return an array of
            real numbers within float32's range.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        try:
            vectors: VectorMatrix = checked_vectors(off_device(self.model(list(texts), role)), texts)
            return vectors
        except EncoderError:
            raise
        except (Exception, SystemExit) as error:
            # The first two frames are this one and that of the call, the next one is the function's.
            frames = traceback.extract_tb(error.__traceback__)[2:3]
            places = [f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in frames]
            raise EncoderError("".join([reason_of(error), *places])) from error


def off_device(rows: Any) -> Any:
    """Return a tensor of torch as float32 in main memory; anything else as it is."""
    return rows.detach().cpu().float() if hasattr(rows, "detach") else rows


def of_package(
    name: str,
    spec: str,
    install: str,
    content: Callable[[], object],
    open_model: Callable[[Any], Any],
) -> CallEncoder:
    """Return the encoder of a model of a package that no extra of this one installs; it is imported for the first text.

    Parameters
    ----------
    install
        The names of the packages to install; the last one is imported.
    content
        Returns what identifies the model.
    open_model
        Takes the package, and returns the model as a function of a list of texts.

    Raises
    ------
    SpecError
        If the package is not installed.
    """
    package = install.split()[-1]
    if importlib.util.find_spec(package) is None:
        raise SpecError(f"encoder {spec!r} needs the package {package}: pip install {install}")

    def load() -> Call:
        model = open_model(importlib.import_module(package))
        return lambda texts, role: model(texts)

    return CallEncoder(name, Card(spec), content, load)
