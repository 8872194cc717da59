"""Universal Sentence Encoder through the package tensorflow_hub, where it is installed: ``use:./FOLDER`` or an address.

Cer et al. (2018), "Universal Sentence Encoder". The package downloads what an address names when it is first needed.
User, password and query of an address are used and never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from embassay.core.errors import EncoderError, SourceError
from embassay.core.samples.base import Role
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.addresses import hidden, without_secrets
from embassay.models.loaded import LoadedEncoder
from embassay.models.objects.packages import load, require

TARGET = "FOLDER or ADDRESS"
PACKAGE = "tensorflow_hub"


def create(target: str, runtime: Runtime) -> UseEncoder:
    """Check the target; the model is loaded, and perhaps downloaded, when the first text is encoded.

    Parameters
    ----------
    target
        A folder with a saved model, or its address: ``https://tfhub.dev/google/universal-sentence-encoder/4``.

    Raises
    ------
    SourceError
        If there is no such folder.
    SpecError
        If the package is not installed.
    """
    if "://" not in target and not source_path(target).is_dir():
        raise SourceError("no such folder; give the folder of a TensorFlow SavedModel", target)
    require(PACKAGE, "tensorflow tensorflow_hub", f"encoder 'use:{without_secrets(target)}'")
    return UseEncoder(target, runtime)


@dataclass(frozen=True, eq=False)
class UseEncoder(LoadedEncoder[Callable[..., object]]):
    """A saved model; it is loaded when the first text is encoded."""

    target: str = field(repr=False)
    runtime: Runtime = field(repr=False)

    @property
    def name(self) -> str:
        """The last parts of the address, or the folder's name."""
        parts = without_secrets(self.target).rstrip("/").split("/")
        ends_in_version = parts[-1].isdigit()
        if ends_in_version:
            return "/".join(parts[-2:])
        return parts[-1]

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without loading it."""
        return Card(f"use:{without_secrets(self.target)}")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every file of the saved model.

        Raises
        ------
        EncoderError
            If an address cannot be resolved.
        """
        names = [path.relative_to(self._folder).as_posix() for path in self._folder.rglob("*") if path.is_file()]
        return content_hash(["use", self.runtime.hashes(self._folder, names)])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, 512) float32, whatever the role.

        Raises
        ------
        EncoderError
            If the model cannot be loaded, or takes no texts.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        return np.asarray(self.model(list(texts)), dtype=np.float32)

    @cached_property
    def _folder(self) -> Path:
        if "://" not in self.target:
            return source_path(self.target)
        # The package downloads it into its own cache.
        return Path(str(_call_tensorflow_hub("resolve", self.target)))

    def load(self) -> Callable[..., object]:
        """Load the saved model."""
        model = _call_tensorflow_hub("load", str(self._folder))
        if not callable(model):
            raise EncoderError(
                f"{without_secrets(self.target)} cannot be called with texts: it was saved for TensorFlow 1 or is "
                "another kind of model; use a TensorFlow 2 model, such as universal-sentence-encoder/4"
            )
        return model


def _call_tensorflow_hub(function: str, target: str) -> object:
    """Call a function of the package tensorflow_hub; secrets of the address are removed from its error messages."""
    try:
        result: object = getattr(load(PACKAGE), function)(target)
        return result
    except EncoderError:
        raise
    except Exception as error:
        message = hidden(str(error), target)
        raise EncoderError(f"{without_secrets(target)} cannot be loaded: {type(error).__name__}: {message}") from error
