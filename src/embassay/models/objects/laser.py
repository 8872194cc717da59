"""LASER through the package laser_encoders, where it is installed: ``laser:laser2``, or ``laser:laser3,lang=wol_Latn``.

Artetxe & Schwenk (2019), "Massively Multilingual Sentence Embeddings for Zero-Shot Cross-Lingual Transfer and Beyond".
The package downloads the weights when they are first needed.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from embassay.core.errors import SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.objects.packages import load, require

TARGET = "laser2 or laser3"
PACKAGE = "laser_encoders"
FILES = (".pt", ".spm", ".cvocab")
"""Suffixes of the files that vectors depend on: weights, subword model, vocabulary."""


def create(target: str, runtime: Runtime, *, lang: str = "", folder: str = "") -> LaserEncoder:
    """Check the options; the model is loaded, and perhaps downloaded, when the first text is encoded.

    Parameters
    ----------
    target
        ``laser2``, which reads 93 languages, or ``laser3``, which has a model for each language.
    lang
        The language of ``laser3``, as the package names it: ``wol_Latn``.
    folder
        Folder with the weights; by default the package downloads them into its own folder.

    Raises
    ------
    SpecError
        If there is no such model, ``lang`` and model do not fit, the folder has no weights, or the package is not
        installed.
    """
    place = f"encoder 'laser:{target}'"
    if target not in ("laser2", "laser3"):
        raise SpecError(f"{place}: write laser:laser2 or laser:laser3")
    if (target == "laser3") != bool(lang):
        problem = "set lang=, for example lang=wol_Latn"
        if lang:
            problem = "handles all its languages with one model; leave lang out"
        raise SpecError(f"{place}: {problem}")
    if folder and not weight_files(folder):
        raise SpecError(f"{place}, option 'folder': {folder} has no weights of LASER (*.pt); leave folder out")
    require(PACKAGE, PACKAGE, place)
    return LaserEncoder(target, runtime, lang, folder)


@dataclass(frozen=True, eq=False)
class LaserEncoder(LoadedEncoder[Any]):
    """A model of the package; it is loaded when the first text is encoded."""

    name: str
    runtime: Runtime = field(repr=False)
    lang: str = ""
    folder: str = ""

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without loading it."""
        return Card(spec_of(f"laser:{self.name}", {"lang": self.lang, "folder": self.folder}))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model's name, the package's version, and the files of the weights if their folder is set.

        The package's own folder is unknown before it loads the model; its weights are those of a released model.
        """
        try:
            version = importlib.metadata.version(PACKAGE)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        parts: list[object] = ["laser", self.name, self.lang, version]
        if self.folder:
            parts.append(self.runtime.hashes(Path(self.folder), weight_files(self.folder)))
        return content_hash(parts)

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, 1024) float32, whatever the role.

        Raises
        ------
        EncoderError
            If the model cannot be loaded.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        return np.asarray(self.model.encode_sentences(list(texts)), dtype=np.float32)

    def load(self) -> Any:
        """Load the package's pipeline."""
        return load(PACKAGE).LaserEncoderPipeline(
            lang=self.lang or None, model_dir=self.folder or None, laser=self.name
        )


def weight_files(folder: str) -> list[str]:
    """Return the names of the files in a folder that vectors depend on; empty if there is no such folder."""
    return sorted(path.name for path in Path(folder).glob("*") if path.suffix in FILES)
