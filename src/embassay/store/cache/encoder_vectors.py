"""The cached vectors of one encoder: a folder of immutable files (``blocks``), and a note of whose they are.

Each ``put`` writes one file under a temporary name and renames it, so that a killed process leaves no half of a file,
and processes do not disturb each other. Many small files are merged into a larger one. A damaged file is skipped.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Text
from embassay.store.cache.blocks import SUFFIX, Block, DamagedBlockError, Keys, Vectors, keys_of, write_block
from embassay.store.canonical import write_whole
from embassay.store.files import locked

NOTE = "encoder.json"
SMALL = 16_384
"""A file with fewer vectors is small."""
MANY = 32
"""This many small files are merged into one."""
ATTEMPTS = 3
"""How often a lookup lists the files again because another process has merged or removed some."""


@dataclass(frozen=True)
class EncoderNote:
    """What the cache remembers of an encoder. The time of last use is the time of change of the file."""

    fingerprint: str
    name: str = ""


class EncoderVectors:
    """The vectors of one encoder on disk. Other processes may read and write the same folder meanwhile."""

    def __init__(self, folder: Path):
        self.folder = folder
        # The sound files, by name; the names begin with the time of writing.
        self._blocks: dict[str, Block] = {}
        # Names of files that are damaged, so that they are read only once.
        self._damaged: set[str] = set()

    @property
    def dim(self) -> int | None:
        """The dimension of the vectors; None if there are none."""
        for block in reversed(self._blocks.values()):
            return block.dim
        return None

    def note(self) -> EncoderNote | None:
        """Return whose vectors they are; None if there is no note or if it is damaged."""
        try:
            return EncoderNote(**json.loads((self.folder / NOTE).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def write_note(self, note: EncoderNote) -> None:
        """Write whose vectors they are. This counts as a use.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        content = json.dumps(asdict(note)).encode()
        write_whole(self.folder / NOTE, lambda file: file.write(content))

    def used(self) -> float:
        """Return when the vectors were last used, in seconds since 1970; 0 if that is not known."""
        try:
            return (self.folder / NOTE).stat().st_mtime
        except OSError:
            return 0.0

    def get(self, fingerprint: str, texts: Sequence[Text]) -> list[NDArray[np.float32] | None]:
        """Return the (d,) vector of each text; None where there is none or where its file is damaged.

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        keys = keys_of(fingerprint, texts)
        vectors: list[NDArray[np.float32] | None] = [None] * len(keys)
        missing = np.arange(len(keys))
        for _ in range(ATTEMPTS):
            names = self.refresh()
            # The newest file comes first: its vectors replace those that older files have for the same texts.
            for block in list(reversed(self._blocks.values())):
                rows = block.find(keys[missing])
                is_there = rows >= 0
                if not is_there.any():
                    continue
                block_vectors = self._read(block, rows[is_there])
                if block_vectors is None:
                    continue
                for place, vector in zip(missing[is_there].tolist(), block_vectors, strict=True):
                    vectors[place] = vector
                missing = missing[~is_there]
            if not len(missing) or names == block_names(self.folder):
                break
        return vectors

    def put(self, keys: Keys, rows: Vectors) -> None:
        """Store the (n, d) vectors of (n, 2) distinct keys, then merge small files if there are many.

        Raises
        ------
        OSError
            If a file cannot be written.
        """
        self._write(keys, rows)
        self.refresh()
        if len(self._small()) >= MANY:
            self._merge()

    def refresh(self) -> set[str]:
        """Load the files that are new, forget those that are gone, and return the names of all.

        The vectors of an encoder all have the dimension of its newest file; a file of another dimension, and all that
        are older than it, are not used.
        """
        names = block_names(self.folder)
        blocks = {name: block for name, block in self._blocks.items() if name in names}
        for name in names - set(blocks) - self._damaged:
            try:
                blocks[name] = Block(self.folder / name)
            except DamagedBlockError:
                self._damaged.add(name)
            except FileNotFoundError:
                # Another process has merged or removed it since the folder was listed.
                continue
        usable: list[str] = []
        for name in sorted(blocks, reverse=True):
            if usable and blocks[name].dim != blocks[usable[0]].dim:
                break
            usable.append(name)
        self._blocks = {name: blocks[name] for name in reversed(usable)}
        return names

    def count(self) -> int:
        """Return the number of distinct vectors, as :meth:`refresh` has found them."""
        keys = [block.keys for block in self._blocks.values()]
        if not keys:
            return 0
        return len(np.unique(np.concatenate(keys), axis=0))

    def check(self) -> int:
        """Read every vector and return the number of damaged files, which are no longer used."""
        self.refresh()
        for block in list(self._blocks.values()):
            self._read(block, np.arange(len(block)))
        return len(self._damaged & block_names(self.folder))

    def _read(self, block: Block, rows: NDArray[np.intp]) -> Vectors | None:
        """Return vectors of a file; None, and forget the file, if it is damaged or has been removed."""
        try:
            return block.read(rows)
        except DamagedBlockError:
            self._damaged.add(block.path.name)
        except FileNotFoundError:
            # Another process has merged or removed it.
            pass
        del self._blocks[block.path.name]
        return None

    def _write(self, keys: Keys, rows: Vectors) -> None:
        # The time makes the newest file the last by name; the token keeps two processes apart.
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}{SUFFIX}"
        write_block(self.folder / name, keys, rows)

    def _small(self) -> list[Block]:
        return [block for block in self._blocks.values() if len(block) < SMALL]

    def _merge(self) -> None:
        """Write the vectors of all small files into one file and remove them, unless another process is doing so."""
        with locked(self.folder / "merging.lock") as is_ours:
            if not is_ours:
                return
            self.refresh()
            small = self._small()
            keys: list[Keys] = []
            rows: list[Vectors] = []
            for block in reversed(small):
                block_rows = self._read(block, np.arange(len(block)))
                if block_rows is not None:
                    keys.append(block.keys)
                    rows.append(block_rows)
            if not keys:
                return
            # np.unique keeps the first of equal keys, which is that of the newest file.
            all_keys = np.concatenate(keys)
            _, first = np.unique(all_keys, axis=0, return_index=True)
            self._write(all_keys[first], np.concatenate(rows)[first])
            # The merged file has its name before the others go, so that no vector is missing meanwhile.
            for block in small:
                block.path.unlink(missing_ok=True)
            self.refresh()


def encoder_folder(parent: Path, fingerprint: str) -> Path:
    """Return the folder of an encoder in that of all vectors."""
    return parent / hashlib.blake2b(fingerprint.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def block_names(folder: Path) -> set[str]:
    """Return the names of the files of vectors in a folder; none if there is no such folder."""
    try:
        return {path.name for path in folder.iterdir() if path.suffix == SUFFIX}
    except FileNotFoundError:
        return set()
