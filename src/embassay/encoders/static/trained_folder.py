"""The folder of a model that ``embassay train`` has written: ``KIND.json`` and the files that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.tokens import Cutting
from embassay.errors import SourceError

FORMAT = 1


@dataclass(frozen=True)
class TrainedFolder:
    """A finished model.

    Attributes
    ----------
    record
        What ``KIND.json`` says: ``settings``, ``files``, ``text`` (SHA-256), ``made_with``, and facts of the kind.
    """

    path: Path
    kind: str
    record: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, path: Path, kind: str) -> TrainedFolder:
        """Read the record.

        Raises
        ------
        SourceError
            If there is no such folder, its training is not finished, or it holds another kind or a damaged record.
        """
        if not path.is_dir():
            raise SourceError(f"no such folder; 'embassay train {kind}' writes one", path)
        file = path / f"{kind}.json"
        try:
            record = json.loads(file.read_bytes())
        except FileNotFoundError:
            raise SourceError(_missing(path, kind), path) from None
        except (OSError, ValueError) as error:
            raise SourceError(f"damaged ({error}); train again with --overwrite", file) from None
        if not isinstance(record, dict) or record.get("kind") != kind or record.get("format") != FORMAT:
            raise SourceError(f"no record of a model of the kind {kind!r} in format {FORMAT}", file)
        found = cls(path, kind, record)
        for name in found.files:
            if not (path / name).is_file():
                raise SourceError(f"the model's file {name} is missing; train again with --overwrite", path)
        return found

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the model's files."""
        return tuple(Path(str(name)).name for name in self.get("files", list))

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was trained with, by the option's name."""
        found: Mapping[str, Any] = self.get("settings", dict)
        return found

    @property
    def tokens(self) -> Cutting:
        """How its words were cut.

        Raises
        ------
        SourceError
            If that is unknown.
        """
        found = self.settings.get("tokens")
        if found not in ("words", "treebank"):
            raise SourceError(f"is {found!r}, neither words nor treebank", self._file, field="tokens")
        return "treebank" if found == "treebank" else "words"

    @property
    def lower(self) -> bool:
        """Whether texts were lower-cased."""
        return bool(self.settings.get("lower"))

    def get(self, name: str, kind: type) -> Any:
        """Return an entry of the record that has to be of this type.

        Raises
        ------
        SourceError
            If it is not.
        """
        value = self.record.get(name)
        if not isinstance(value, kind):
            raise SourceError(f"is {value!r}, no {kind.__name__}", self._file, field=name)
        return value

    def array(self, name: str, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
        """Return a float32 array out of a ``.npy`` file; None in the shape stands for any number.

        Raises
        ------
        SourceError
            If it is damaged, of another shape, or not finite.
        """
        path = self.path / name
        try:
            with path.open("rb") as file:
                found: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise SourceError(f"damaged ({error}); train again with --overwrite", path) from None
        fits = found.ndim == len(shape) and all(w in (None, n) for n, w in zip(found.shape, shape, strict=True))
        if found.dtype != np.float32 or not fits or not np.isfinite(found).all():
            wanted = tuple("any" if n is None else n for n in shape)
            raise SourceError(f"{found.dtype} {found.shape}, not finite float32 {wanted}; train again", path)
        return found

    @property
    def _file(self) -> Path:
        return self.path / f"{self.kind}.json"


def _missing(path: Path, kind: str) -> str:
    if (path / "checkpoint.npz").is_file():
        return "its training is not finished; the same 'embassay train' command goes on"
    return f"a folder without {kind}.json; 'embassay train {kind}' writes one"
