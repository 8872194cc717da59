"""The folder of a model written by ``embassay train``: ``KIND.json`` and the files that it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from embassay.encoders.tokens import Cutting
from embassay.errors import SourceError


class TrainedRecord(TypedDict):
    """What ``KIND.json`` has of every kind of model; each kind has ``settings`` and facts of its own."""

    kind: str
    format: Literal[1]
    files: list[str]


class WordSettings(TypedDict):
    """How the training text was divided into words."""

    tokens: Cutting
    lower: bool


class WordRecord(TrainedRecord):
    """The record of word vectors."""

    settings: WordSettings


R = TypeVar("R", bound=TrainedRecord)


@dataclass(frozen=True)
class TrainedFolder(Generic[R]):
    """The folder of a finished model and the content of its ``KIND.json``."""

    path: Path
    kind: str
    record: R = field(repr=False)

    @classmethod
    def of(cls, path: Path, kind: str, form: type[R]) -> TrainedFolder[R]:
        """Read the record.

        Parameters
        ----------
        form
            What the record of this kind of model must have.

        Raises
        ------
        SourceError
            If there is no such folder, its training is not finished, or it has another kind or a damaged record.
        """
        from pydantic import TypeAdapter, ValidationError

        if not path.is_dir():
            raise SourceError(f"no such folder; create it with 'embassay train {kind}'", path)
        file = path / f"{kind}.json"
        try:
            record = TypeAdapter(form).validate_json(file.read_bytes(), strict=True)
        except FileNotFoundError:
            raise SourceError(_missing(path, kind), path) from None
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror}", file) from None
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, problem["loc"]))
            raise SourceError(
                f"damaged ({problem['msg']}); train again with --overwrite", file, field=place or None
            ) from None
        if record["kind"] != kind:
            raise SourceError(f"not the record of a {kind!r} model", file)
        folder = cls(path, kind, record)
        for name in folder.files:
            if not (path / name).is_file():
                raise SourceError(f"the model file {name} is missing; train again with --overwrite", path)
        return folder

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the model's files."""
        # Only the last part of a name, so that a record cannot name files outside its folder.
        return tuple(Path(name).name for name in self.record["files"])

    def hashes(self, sha256: Callable[[Path], str]) -> dict[str, str]:
        """Return the hash of each file of the model, the record included."""
        return {name: sha256(self.path / name) for name in (f"{self.kind}.json", *self.files)}

    def array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
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


def _missing(path: Path, kind: str) -> str:
    if (path / "checkpoint.npz").is_file():
        return "training is not finished; run the same 'embassay train' command again to continue"
    return f"{kind}.json is missing; create the model with 'embassay train {kind}'"
