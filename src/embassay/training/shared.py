"""What the trainers share: the text, the folder with its checkpoint and its model, progress, what comes out.

A training folder holds ``checkpoint.npz`` while it lasts and ``KIND.json`` with the files that it names when it is
done; ``KIND.json`` is written last: what it names is whole. Nothing in it is a pickle.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from embassay._version import __version__
from embassay.corpora.io.texts import read_text
from embassay.errors import OutputError, SourceError
from embassay.store.canonical import canonical, write
from embassay.store.partial_files import partial_file
from embassay.store.paths import open_file, output_path, source_path

KINDS = ("words", "paragraphs", "urae")
CHECKPOINT = "checkpoint.npz"
DAMAGED = (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error)
"""What reading a damaged checkpoint may raise."""
THERE = "this very model was there already: nothing was trained"
"""The note of a training that had nothing to do."""
Advance = Callable[[int, int], None]
"""Called with the progress of a training: how many rows of how many, those of all epochs together, have been read."""
Arrays = Mapping[str, NDArray[Any]]
Writer = Callable[[BinaryIO], object]


@dataclass(frozen=True)
class Trained:
    """What a training leaves.

    Attributes
    ----------
    folder
        Where the model lies.
    spec
        The encoder's spec: ``words:folder``.
    notes
        What was assumed or done otherwise than asked, one sentence each.
    """

    folder: Path
    spec: str
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The command line that assays it."""
        return f"embassay run -e {shlex.quote(self.spec)}"


@dataclass(frozen=True)
class Sentences:
    """A text to learn from, one sentence a line; blank lines are left out.

    Attributes
    ----------
    lines
        The number of each sentence's line, from 1.
    sha256
        64 hexadecimal digits of the file's content.
    """

    path: Path
    sentences: tuple[str, ...]
    lines: tuple[int, ...]
    sha256: str


def read_sentences(path: Path) -> Sentences:
    """Read a UTF-8 file of one sentence a line.

    Raises
    ------
    SourceError
        If it is not there, no text in UTF-8 (with the first line that is none), or has no sentence.
    """
    path = source_path(path)
    if path.is_dir():
        raise SourceError("a folder; --text names a file with one sentence a line", path)
    text = read_text(path)
    found = [(line.strip(), number) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not found:
        raise SourceError("has no sentence; write one on each line", path)
    sentences, lines = zip(*found, strict=True)
    with open_file(path) as file:
        return Sentences(path, sentences, lines, hashlib.file_digest(file, "sha256").hexdigest())


class TrainingFolder:
    """The folder that one training writes to.

    Use: ``open`` (True: the same model is there already), ``resume``, after each epoch ``keep``, at the end ``finish``.
    """

    def __init__(
        self, path: Path, kind: str, settings: Mapping[str, Any], text: Sentences, made_with: Mapping[str, str]
    ):
        """Name the folder and what will be in it; nothing is made or read yet.

        Parameters
        ----------
        kind
            One of :data:`KINDS`: the encoder's scheme.
        settings
            All that was asked for, as JSON values by the option's name; with the text it makes a model what it is.
        made_with
            Versions of the libraries by name. A checkpoint made with others is not taken up; a model stays.
        """
        self.path, self.kind = output_path(path), kind
        self._asked = json.loads(
            canonical({"kind": kind, "settings": settings, "text": text.sha256, "sentences": len(text.sentences)})
        )
        self._made_with = {"embassay": __version__, **made_with}

    def open(self, overwrite: bool = False) -> bool:
        """Make the folder, or take it up; say whether it holds this very model, finished.

        Raises
        ------
        OutputError
            If it cannot be written to, is not ours, or holds another model (and not ``overwrite``).
        """
        model, kept = self._model(), self._head()
        if self._names() - {CHECKPOINT} and not model and not kept:
            raise OutputError(f"{self.path}: not empty and not a model of embassay; choose another folder with -o")
        if model and _same(model, self._asked) and not overwrite:
            (self.path / CHECKPOINT).unlink(missing_ok=True)
            return True
        other = next((found for found in (model, kept) if found and not _same(found, self._asked)), None)
        if other and not overwrite:
            raise OutputError(
                f"{self.path}: holds a model of other settings ({_changed(other, self._asked)}); "
                "choose another folder with -o, or --overwrite"
            )
        self._clear(model)
        for left in self.path.glob(".*.part"):  # by a training that was killed while it wrote
            left.unlink(missing_ok=True)
        if not self._goes_on(kept):
            self.keep(0, {})
        return False

    def resume(self) -> tuple[int, dict[str, NDArray[Any]]]:
        """Return how many epochs are done, and the arrays after the last; (0, {}) where it has to begin."""
        head = self._head()
        if not self._goes_on(head):
            return 0, {}
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                return int(head["epochs"]), {name: kept[name] for name in kept if name != "head"}
        except DAMAGED:
            return 0, {}

    def keep(self, epochs: int, arrays: Arrays) -> None:
        """Write the checkpoint of so many epochs, whole or not at all.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        head = json.dumps({**self._asked, "made_with": self._made_with, "epochs": epochs})
        named: dict[str, Any] = {"head": np.array(head), **arrays}
        write_whole(self.path / CHECKPOINT, lambda file: np.savez(file, **named))

    def finish(self, files: Mapping[str, Writer], facts: Mapping[str, Any]) -> None:
        """Write the model's files, then ``KIND.json`` with the settings and these facts; remove the checkpoint.

        Raises
        ------
        OutputError
            If the place cannot be written to.
        """
        for name, writer in files.items():
            write_whole(self.path / name, writer)
        record = {**facts, **self._asked, "format": 1, "made_with": self._made_with, "files": sorted(files)}
        write(self.path / f"{self.kind}.json", canonical(record))
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def _names(self) -> set[str]:
        try:
            return {p.name for p in self.path.iterdir() if p.suffix != ".part"} if self.path.exists() else set()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be used as a folder: {error.strerror}") from None

    def _model(self) -> dict[str, Any]:
        """Return the record of the finished model that the folder holds, of whatever kind; empty for none."""
        for kind in KINDS:
            try:
                found = json.loads((self.path / f"{kind}.json").read_bytes())
            except (OSError, ValueError):
                continue
            if isinstance(found, dict) and found.get("kind") == kind:
                return found
        return {}

    def _head(self) -> dict[str, Any]:
        """Return what the checkpoint says of itself; empty where there is none or it is damaged."""
        try:
            with (self.path / CHECKPOINT).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                found = json.loads(str(kept["head"]))
        except DAMAGED:
            return {}
        return found if isinstance(found, dict) else {}

    def _goes_on(self, head: Mapping[str, Any]) -> bool:
        """Say whether a checkpoint is of this very training."""
        return _same(head, self._asked) and head.get("made_with") == self._made_with

    def _clear(self, model: Mapping[str, Any]) -> None:
        """Remove a model, its record first, so that no half of it looks whole."""
        if model:
            for name in (f"{model['kind']}.json", *map(str, model.get("files", ()))):
                (self.path / Path(name).name).unlink(missing_ok=True)


def write_whole(path: Path, writer: Writer) -> None:
    """Write a file whole or not at all, as ``store.canonical.write`` does, by a function that fills it.

    Raises
    ------
    OutputError
        If the place cannot be written to.
    """
    temporary = partial_file(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                writer(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None


def array(values: NDArray[Any]) -> Writer:
    """Return what writes an array as ``.npy``."""
    return lambda file: np.save(file, values, allow_pickle=False)


def _same(found: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    return all(found.get(name) == value for name, value in asked.items())


def _changed(found: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Name what differs between two records."""
    before = found.get("settings") or {}
    names = [name for name, value in asked["settings"].items() if before.get(name) != value]
    names += ["text"] if found.get("text") != asked["text"] else []
    return f"kind {found['kind']}" if found.get("kind") != asked["kind"] else ", ".join(names) or "others"
