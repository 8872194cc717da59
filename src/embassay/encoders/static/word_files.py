"""Files of word vectors: GloVe text without a header, word2vec text with one, word2vec binary; each also gzipped.

The form is told from the content. A word may hold blanks (GloVe's 840B has ``. . .``): the last d fields of a line are
its numbers. What is odd and harmless is read and noted with its place; what makes a vector wrong is refused.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.word_blocks import Block, binary_blocks, count_numbers, text_blocks
from embassay.errors import SourceError
from embassay.store.paths import check_readable

PEEK = 1 << 20
SAMPLE = 100
"""Lines by which the number of dimensions is told where no header says it."""
SHOWN = 5
"""Places that a note names."""
HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,6})[ \t\r]*")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Form:
    """How a file of word vectors is written.

    Attributes
    ----------
    dim
        Numbers of each word.
    promised
        The number of words that the header says; None without a header.
    start
        Bytes before the first word.
    """

    kind: Literal["glove", "word2vec text", "word2vec binary"]
    dim: int
    promised: int | None = None
    start: int = 0


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes
    ----------
    row
        The row of each word, in the file's order; the first of equal words.
    matrix
        (n, d) float32, finite; rows of later equal words are in it and nobody's.
    notes
        What was odd, where, and what was done, one sentence each.
    """

    row: dict[str, int]
    matrix: NDArray[np.float32]
    notes: tuple[str, ...] = ()


def recognise(path: Path) -> Form:
    """Tell how a file is written by its first mebibyte.

    Raises
    ------
    SourceError
        If it cannot be read, is empty, or does not begin as a file of word vectors does.
    """
    with _reading(path), _open(path) as file:
        head = file.read(PEEK)
    if not head.strip():
        raise SourceError("the file is empty", path)
    bom = len(BOM) if head.startswith(BOM) else 0
    first, newline, rest = head[bom:].partition(b"\n")
    if not newline and len(head) == PEEK:
        raise SourceError("the first line has no end within a mebibyte; no file of word vectors", path, 1)
    if header := HEADER.fullmatch(first):
        return _with_header(path, int(header[1]), int(header[2]), rest, bom + len(first) + 1)
    lines = head[bom:].split(b"\n")[: SAMPLE + 1]
    whole = lines[:-1] if len(head) == PEEK or len(lines) > SAMPLE else [line for line in lines if line.strip()]
    return Form("glove", _dimensions(path, whole), None, bom)


def read(path: Path, limit: int = 0, always: Sequence[str] = ()) -> WordVectors:
    """Read words and vectors, the first ``limit`` only where that is not 0.

    The memory is about that of the matrix and the words.

    Parameters
    ----------
    always
        Words that are read wherever they stand.

    Raises
    ------
    SourceError
        If the file is incomplete, a line has too few numbers, or a number is none or not finite; with the line, or
        the number of the word in a binary file.
    """
    form = recognise(path)
    gathered = _Gathered(form)
    with _reading(path), _open(path) as file:
        file.seek(form.start)
        for block in _blocks(path, file, form):
            room = max(0, limit - len(gathered)) if limit else None
            gathered.add(block, room)
            if limit and len(gathered) >= limit:
                gathered.add(_those(block, {word.encode() for word in always if word not in gathered.row}, room), None)
                if gathered.row.keys() >= set(always):
                    break
    complete = not limit or len(gathered) < limit
    if complete and form.promised is not None and len(gathered) < form.promised:
        raise SourceError(
            f"its header promises {form.promised:,} words and {len(gathered):,} are there; the file is incomplete", path
        )
    return gathered.vectors()


@dataclass
class _Gathered:
    """What has been read so far."""

    form: Form
    row: dict[str, int] = field(default_factory=dict)
    parts: list[NDArray[np.float32]] = field(default_factory=list)
    count: int = 0
    trailing: int = 0
    odd: dict[str, list[int]] = field(default_factory=lambda: {"blank": [], "again": [], "bytes": []})

    def __len__(self) -> int:
        return self.count

    def add(self, block: Block, room: int | None) -> None:
        """Take a block's words and vectors, as many as there is room for."""
        words, matrix = block.words[:room], block.matrix[:room]
        self.trailing += block.trailing
        for place, word in enumerate(self._decoded(words), start=self.count):
            if self.row.setdefault(word, place) != place:
                self.odd["again"].append(place)
            if " " in word:
                self.odd["blank"].append(place)
        self.parts.append(matrix)
        self.count += len(words)

    def vectors(self) -> WordVectors:
        """Put the parts into one matrix, letting go of each."""
        matrix = np.empty((self.count, self.form.dim), dtype=np.float32)
        place = 0
        self.parts.reverse()
        while self.parts:
            part = self.parts.pop()
            matrix[place : place + len(part)] = part
            place += len(part)
        return WordVectors(self.row, matrix, tuple(self._notes()))

    def _decoded(self, words: Sequence[bytes]) -> list[str]:
        found = b"\n".join(words).decode(errors="replace").split("\n")
        if "\ufffd" not in "".join(found) and len(found) == len(words):
            return found
        found = [word.decode(errors="replace") for word in words]
        pairs = enumerate(zip(words, found, strict=True), start=self.count)
        self.odd["bytes"] += [place for place, (word, text) in pairs if word != text.encode()]
        return found

    def _notes(self) -> Iterator[str]:
        said = {
            "blank": f"with blanks: the last {self.form.dim} fields were taken as the numbers",
            "again": "given again: the first vector was taken",
            "bytes": "not in UTF-8: the wrong bytes were replaced by U+FFFD",
        }
        for name, what in said.items():
            if places := self.odd[name]:
                yield f"{len(places):,} word{_s(places)} {what} ({self._shown(places)})"
        if self.form.promised is not None and self.count > self.form.promised:
            yield f"the header promises {self.form.promised:,} words: all {self.count:,} were read"
        if self.trailing:
            yield f"{self.trailing:,} bytes after the last word were left out"

    def _shown(self, places: Sequence[int]) -> str:
        unit = "word" if self.form.kind == "word2vec binary" else "line"
        first = 2 if self.form.kind == "word2vec text" else 1
        numbers = ", ".join(f"{place + first}" for place in places[:SHOWN])
        return f"{unit}{_s(places)} {numbers}{' …' if len(places) > SHOWN else ''}"


def _s(places: Sequence[int]) -> str:
    return "s" if len(places) > 1 else ""


def _with_header(path: Path, promised: int, dim: int, rest: bytes, start: int) -> Form:
    """Tell text from binary by what follows the header."""
    if not promised or not dim:
        raise SourceError(f"its header says {promised} words of {dim} dimensions", path, 1)
    if not rest.strip():
        raise SourceError("has a header and no words; the file is incomplete", path)
    second = rest.partition(b"\n")[0]
    if count_numbers(second) < dim and (CONTROL.search(rest[: 1 << 16]) or not _is_utf8(rest[: 1 << 16])):
        return Form("word2vec binary", dim, promised, start)
    return Form("word2vec text", dim, promised, start)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.end == len(content)  # cut in the middle of a character
    return True


def _dimensions(path: Path, lines: Sequence[bytes]) -> int:
    """Return the number of dimensions that most lines have; a word may itself end in a number."""
    counts = Counter(count_numbers(line) for line in lines)
    dim = max(counts, key=lambda number: (counts[number], -number))
    if dim < 2 or count_numbers(lines[0]) < dim:
        shown = lines[0][:60].decode(errors="replace").strip()
        raise SourceError(
            f"no word and its numbers, separated by blanks ({shown!r}); known forms: GloVe text, word2vec text or "
            "binary, a folder written by 'embassay train words'",
            path,
            1,
        )
    return dim


def _those(block: Block, words: Set[bytes], start: int | None) -> Block:
    """Return what a block has of some words, from a place on."""
    places = [place for place, word in enumerate(block.words) if place >= (start or 0) and word in words]
    return Block([block.words[place] for place in places], block.matrix[places])


def _blocks(path: Path, file: BufferedIOBase, form: Form) -> Iterator[Block]:
    if form.kind == "word2vec binary":
        return binary_blocks(path, file, form.dim, form.promised or 0)
    return text_blocks(path, file, form.dim, 1 if form.promised is None else 2)


def _open(path: Path) -> BufferedIOBase:
    check_readable(path)
    file = path.open("rb")
    zipped = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    if not zipped:
        return file
    file.close()
    return gzip.open(path, "rb")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what reading may raise into one line for people."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"damaged gzip: {error}", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path) from None
