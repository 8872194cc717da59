"""The folder of a model written by ``embassay train``: ``KIND.json`` and the files that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from embassay.core.errors import SourceError
from embassay.core.store.paths import unreadable
from embassay.core.types import Runtime
from embassay.core.vectors import DenseVectors
from embassay.models.tokens import Cutting

TrainedKind = Literal["words", "paragraphs", "urae"]
Positive = Annotated[int, Gt(0)]
NEEDED: Mapping[TrainedKind, frozenset[str]] = {
    "words": frozenset({"lower", "tokens"}),
    "paragraphs": frozenset({"lower", "model", "tokens", "window"}),
    "urae": frozenset({"normalize", "trees"}),
}
"""The settings that a record of each kind must have, beside ``dim``: another value would give other vectors."""


@dataclass(frozen=True)
class TrainedSettings:
    """The options of a training that its encoder needs; each kind has some of them."""

    dim: Positive
    model: Literal["skipgram", "cbow", "dm", "dbow"] = "skipgram"
    window: Positive = 1
    tokens: Cutting = "words"
    lower: bool = False
    trees: str = ""
    normalize: bool = False


@dataclass(frozen=True)
class TrainedRecord:
    """The content of ``KIND.json``.

    Attributes
    ----------
    files
        The names of the model's files.
    vocabulary, counts
        The words that were learnt, and the number of occurrences of each.
    """

    kind: TrainedKind
    format: Literal[1]
    settings: TrainedSettings
    files: tuple[str, ...]
    vocabulary: tuple[str, ...] = ()
    counts: tuple[Positive, ...] = ()

    def __post_init__(self) -> None:
        """Check the words and their counts."""
        if len(set(self.vocabulary)) != len(self.vocabulary):
            raise ValueError("vocabulary: contains a word twice")
        if self.kind == "paragraphs" and len(self.counts) != len(self.vocabulary):
            raise ValueError(f"counts: must be as many as the words in vocabulary, is {len(self.counts)}")


@dataclass(frozen=True)
class TrainedFolder:
    """The folder of a finished model."""

    path: Path
    record: TrainedRecord = field(repr=False)

    @classmethod
    def of(cls, path: Path, kind: TrainedKind) -> TrainedFolder:
        """Read the record.

        Raises
        ------
        SourceError
            If there is no such folder, its training is not finished, or it has another kind or a damaged record.
        """
        from pydantic import TypeAdapter, ValidationError

        if not path.is_dir():
            # The working folder of a training that was interrupted.
            if path.with_name(f"{path.name}.training").is_dir():
                raise SourceError(
                    "training is not finished; run the same 'embassay train' command again to continue", path
                )
            raise SourceError(f"no such folder; create it with 'embassay train {kind}'", path)
        file = path / f"{kind}.json"
        try:
            content = file.read_bytes()
            record = TypeAdapter(TrainedRecord).validate_json(content, strict=True)
        except FileNotFoundError:
            raise SourceError(f"{kind}.json is missing; create the model with 'embassay train {kind}'", path) from None
        except OSError as error:
            raise unreadable(error, file) from None
        except ValidationError as error:
            first = error.errors()[0]
            # A contradiction that the record itself has found is a "Value error", without a place.
            message = first["msg"].removeprefix("Value error, ")
            problem = f"{'.'.join(map(str, first['loc']))}: {message}".removeprefix(": ")
            raise SourceError(f"damaged ({problem}); train again with --overwrite", file) from None
        if record.kind != kind:
            raise SourceError(f"not the record of a {kind!r} model", file)
        missing = NEEDED[kind] - json.loads(content)["settings"].keys()
        if missing:
            raise SourceError(f"damaged (settings.{min(missing)}: Field required); train again with --overwrite", file)
        folder = cls(path, record)
        for name in folder.files:
            if not (path / name).is_file():
                raise SourceError(f"the model file {name} is missing; train again with --overwrite", path)
        return folder

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the model's files."""
        # Only the last part of a name, so that a record cannot name files outside its folder.
        return tuple(Path(name).name for name in self.record.files)

    @property
    def settings(self) -> TrainedSettings:
        """The options of the training."""
        return self.record.settings

    def hashes(self, runtime: Runtime) -> dict[str, str]:
        """Return the hash of each file of the model, the record included."""
        return runtime.hashes(self.path, (f"{self.record.kind}.json", *self.files))

    def array(self, name: str, shape: tuple[int, ...]) -> DenseVectors:
        """Return a float32 array out of a ``.npy`` file.

        Raises
        ------
        SourceError
            If it is damaged, of another shape, or not finite.
        """
        path = self.path / name
        try:
            with path.open("rb") as file:
                array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise SourceError(f"damaged ({error}); train again with --overwrite", path) from None
        if array.dtype != np.float32 or array.shape != shape or not np.isfinite(array).all():
            raise SourceError(f"{array.dtype} {array.shape}, not finite float32 {shape}; train again", path)
        return array
