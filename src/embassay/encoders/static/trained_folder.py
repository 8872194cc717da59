"""The folder of a model written by ``embassay train``: ``KIND.json`` and the files that it names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.tokens import Cutting
from embassay.errors import SourceError

FORMAT = 1
T = TypeVar("T")


@dataclass(frozen=True)
class TrainedFolder:
    """The folder of a finished model.

    Attributes
    ----------
    record
        The content of ``KIND.json``: ``settings``, ``files``, ``text`` (SHA-256), ``made_with``, and facts of the kind.
    """

    path: Path
    kind: str
    record: Mapping[str, object] = field(repr=False)

    @classmethod
    def of(cls, path: Path, kind: str) -> TrainedFolder:
        """Read the record.

        Raises
        ------
        SourceError
            If there is no such folder, its training is not finished, or it has another kind or a damaged record.
        """
        if not path.is_dir():
            # The working folder of a training that was interrupted.
            if path.with_name(f"{path.name}.training").is_dir():
                raise SourceError(
                    "training is not finished; run the same 'embassay train' command again to continue", path
                )
            raise SourceError(f"no such folder; create it with 'embassay train {kind}'", path)
        file = path / f"{kind}.json"
        try:
            record = json.loads(file.read_bytes())
        except FileNotFoundError:
            raise SourceError(f"{kind}.json is missing; create the model with 'embassay train {kind}'", path) from None
        except (OSError, ValueError) as error:
            raise SourceError(f"damaged ({error}); train again with --overwrite", file) from None
        if not isinstance(record, dict) or record.get("kind") != kind or record.get("format") != FORMAT:
            raise SourceError(f"not the record of a {kind!r} model in format {FORMAT}", file)
        folder = cls(path, kind, record)
        for name in folder.files:
            if not (path / name).is_file():
                raise SourceError(f"the model file {name} is missing; train again with --overwrite", path)
        return folder

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the model's files."""
        # Only the last part of a name, so that a record cannot name files outside its folder.
        return tuple(Path(str(name)).name for name in self.get("files", list))

    @property
    def settings(self) -> Mapping[str, object]:
        """The options of the training, by name."""
        settings: Mapping[str, object] = self.get("settings", dict)
        return settings

    @property
    def tokens(self) -> Cutting:
        """The tokenizer of the training.

        Raises
        ------
        SourceError
            If it is unknown.
        """
        tokens = self.settings.get("tokens")
        if tokens == "words":
            return "words"
        if tokens == "treebank":
            return "treebank"
        raise self.wrong(f"must be words or treebank, is {tokens!r}", "tokens")

    @property
    def lower(self) -> bool:
        """Whether the training text was lower-cased."""
        return bool(self.settings.get("lower"))

    def get(self, name: str, kind: type[T]) -> T:
        """Return an entry of the record after checking its type.

        Raises
        ------
        SourceError
            If it has another type.
        """
        value = self.record.get(name)
        if not isinstance(value, kind):
            raise self.wrong(f"must be {kind.__name__}, is {value!r}", name)
        return value

    def whole(self, name: str) -> int:
        """Return a setting after checking that it is a whole number of 1 or more.

        Raises
        ------
        SourceError
            If it is not.
        """
        value = self.settings.get(name)
        if type(value) is not int or value < 1:
            raise self.wrong(f"must be a whole number of 1 or more, is {value!r}", name)
        return value

    def vocabulary(self) -> list[str]:
        """Return the words that were learnt.

        Raises
        ------
        SourceError
            If a word is repeated or is not a text.
        """
        words: list[str] = self.get("vocabulary", list)
        are_texts = all(isinstance(word, str) for word in words)
        if not are_texts or len(set(words)) != len(words):
            raise self.wrong("contains a word twice, or a word that is not a text", "vocabulary")
        return words

    def hashes(self, sha256: Callable[[Path], str]) -> dict[str, str]:
        """Return the hash of each file of the model, the record included."""
        return {name: sha256(self.path / name) for name in (self._file.name, *self.files)}

    def wrong(self, problem: str, field: str) -> SourceError:
        """Return an error about an entry of the record."""
        return SourceError(problem, self._file, field=field)

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

    @property
    def _file(self) -> Path:
        return self.path / f"{self.kind}.json"
