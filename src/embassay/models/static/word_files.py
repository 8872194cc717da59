"""Files of word vectors: GloVe text without a header, word2vec text with one, word2vec binary; each also gzipped.

The format is recognised from the content. A word may contain spaces (GloVe's 840B has ``. . .``), so the last d fields
of a line are its numbers. Harmless irregularities are noted with their lines; anything that makes a vector wrong is an
error.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.store.paths import check_readable, unreadable
from embassay.core.vectors import DenseVectors
from embassay.models.static.word_blocks import WordBlock, binary_blocks, count_numbers, text_blocks
from embassay.stats.lexical.words import composed

PEEK = 1 << 20
SAMPLE = 100
"""Number of lines from which the number of dimensions is determined if there is no header."""
MAX_SHOWN = 5
"""Number of lines that a note names."""
HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,6})[ \t\r]*")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class WordFormat:
    """The format of a file of word vectors.

    Attributes
    ----------
    dim
        Number of dimensions.
    promised
        The number of words in the header; None without a header.
    start
        Number of bytes before the first word.
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
        The row of each word, in the file's order; of a repeated word, its first row.
    matrix
        (n, d) float32, finite. Later rows of repeated words are in it, but no word refers to them.
    notes
        Irregularities, their lines, and how they were handled, one sentence each.
    """

    row: dict[str, int]
    matrix: DenseVectors
    notes: tuple[str, ...] = ()


def recognise(path: Path) -> WordFormat:
    """Return the format of a file, recognised by its first mebibyte.

    Raises
    ------
    SourceError
        If it cannot be read, is empty, or does not begin like a file of word vectors.
    """
    with _reading(path), _open(path) as file:
        head = file.read(PEEK)
    if not head.strip():
        raise SourceError("the file is empty", path)
    start = 0
    if head.startswith(BOM):
        start = len(BOM)
    first, newline, rest = head[start:].partition(b"\n")
    # A text file of word vectors has short lines; a binary one begins with its header.
    if not newline and len(head) == PEEK:
        raise SourceError("the first line is longer than a mebibyte; not a file of word vectors", path, 1)
    if header := HEADER.fullmatch(first):
        return _with_header(path, int(header[1]), int(header[2]), rest, start + len(first) + 1)
    *lines, last = head[start:].split(b"\n")
    # The last line may be incomplete.
    if len(head) < PEEK:
        lines.append(last)
    filled = [line for line in lines[:SAMPLE] if line.strip()]
    return WordFormat("glove", _dimensions(path, filled), None, start)


def read(path: Path, limit: int = 0, always: Sequence[str] = ()) -> WordVectors:
    """Return the words of a file and their vectors.

    The memory needed is about that of the matrix and the words.

    Parameters
    ----------
    limit
        Read only this many words from the start of the file; 0 for all.
    always
        Words that are read even if they come after the limit.

    Raises
    ------
    SourceError
        If the file is incomplete, a line has too few numbers, or a number is not a finite number. The error names the
        line, or the number of the word in a binary file.
    """
    file_format = recognise(path)
    reader = _WordReader(file_format)
    wanted = {word.encode() for word in always}
    with _reading(path), _open(path) as file:
        file.seek(file_format.start)
        for block in _blocks(path, file, file_format):
            if not limit:
                reader.add(block)
                continue
            # The words up to the limit, and after it only the wanted ones.
            within_limit = min(max(limit - reader.count, 0), len(block.words))
            places = list(range(within_limit))
            places += [place for place in range(within_limit, len(block.words)) if block.words[place] in wanted]
            reader.add(block.take(places))
            if reader.count >= limit and reader.row.keys() >= set(always):
                break
    is_whole_file = not limit or reader.count < limit
    if is_whole_file and file_format.promised is not None and reader.count < file_format.promised:
        counts = f"the header gives {file_format.promised:,} words, but the file has {reader.count:,}"
        raise SourceError(f"{counts}; the file is incomplete", path)
    return WordVectors(reader.row, reader.matrix(), tuple(reader.notes()))


def _blocks(path: Path, file: BufferedIOBase, file_format: WordFormat) -> Iterator[WordBlock]:
    """Yield blocks of words with their vectors, from the first word of an open file on."""
    if file_format.kind == "word2vec binary":
        return binary_blocks(path, file, file_format.dim, file_format.promised or 0)
    first_line = 2
    if file_format.promised is None:
        first_line = 1
    return text_blocks(path, file, file_format.dim, first_line)


class _WordReader:
    """The words read so far, and the indices (from 0) of irregular words."""

    def __init__(self, file_format: WordFormat) -> None:
        self.file_format = file_format
        self.row: dict[str, int] = {}
        self.count = 0
        self._parts: list[DenseVectors] = []
        self._with_blanks: list[int] = []
        self._repeated: list[int] = []
        self._wrong_bytes: list[int] = []
        self._trailing = 0

    def add(self, block: WordBlock) -> None:
        """Add the words and vectors of a block."""
        for place, content in enumerate(block.words, start=self.count):
            word = content.decode(errors="replace")
            if "\ufffd" in word and word.encode() != content:
                self._wrong_bytes.append(place)
            if " " in word:
                self._with_blanks.append(place)
            # Words are looked up as texts have them.
            if self.row.setdefault(composed(word), place) != place:
                self._repeated.append(place)
        self._parts.append(block.matrix)
        self.count += len(block.words)
        self._trailing += block.trailing

    def matrix(self) -> DenseVectors:
        """Return the vectors of all blocks as one matrix. Each block is released, so memory is not needed twice."""
        matrix = np.empty((self.count, self.file_format.dim), dtype=np.float32)
        # From the last block to the first, because a list gives back its last element cheaply.
        end = self.count
        while self._parts:
            part = self._parts.pop()
            matrix[end - len(part) : end] = part
            end -= len(part)
        return matrix

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each kind of irregularity."""
        with_blanks = f"with spaces: the last {self.file_format.dim} fields were used as the numbers"
        yield from self._note(self._with_blanks, with_blanks)
        yield from self._note(self._repeated, "repeated: the first vector was used")
        yield from self._note(self._wrong_bytes, "not in UTF-8: invalid bytes were replaced by U+FFFD")
        if self.file_format.promised is not None and self.count > self.file_format.promised:
            yield f"the header gives {self.file_format.promised:,} words, but all {self.count:,} in the file were read"
        if self._trailing:
            yield f"ignored after the last word: {counted(self._trailing, 'byte')}"

    def _note(self, places: Sequence[int], what: str) -> Iterator[str]:
        """Yield a sentence about irregular words, with the lines (in a binary file, the numbers) of the first ones."""
        if not places:
            return
        unit = "line"
        if self.file_format.kind == "word2vec binary":
            unit = "word"
        first = 1
        # The first line of such a file is its header.
        if self.file_format.kind == "word2vec text":
            first = 2
        numbers = ", ".join(str(place + first) for place in places[:MAX_SHOWN])
        if len(places) > MAX_SHOWN:
            numbers += " …"
        if len(places) > 1:
            unit += "s"
        yield f"{counted(len(places), 'word')} {what} ({unit} {numbers})"


def _with_header(path: Path, promised: int, dim: int, rest: bytes, start: int) -> WordFormat:
    """Return the format of a file with a header; text and binary are distinguished by what follows the header."""
    if not promised or not dim:
        raise SourceError(f"the header gives {promised} words of {dim} dimensions", path, 1)
    if not rest.strip():
        raise SourceError("the file has a header but no words; it is incomplete", path)
    second_line = rest.partition(b"\n")[0]
    sample = rest[: 1 << 16]
    is_binary = CONTROL.search(sample) or not _is_utf8(sample)
    if count_numbers(second_line) < dim and is_binary:
        return WordFormat("word2vec binary", dim, promised, start)
    return WordFormat("word2vec text", dim, promised, start)


def _is_utf8(content: bytes) -> bool:
    """Return whether the beginning of a file is UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        # The sample may end within a character.
        return error.end == len(content)
    return True


def _dimensions(path: Path, lines: Sequence[bytes]) -> int:
    """Return the number of dimensions: the most frequent number of numbers at the end of a line."""
    # The smaller one of two equally frequent numbers, because a word may itself end in a number.
    counts = Counter(count_numbers(line) for line in lines)
    dim = max(counts, key=lambda number: (counts[number], -number))
    if dim < 2 or count_numbers(lines[0]) < dim:
        beginning = lines[0][:60].decode(errors="replace").strip()
        raise SourceError(
            f"unrecognised format: the line must be a word and its numbers, separated by spaces ({beginning!r}); "
            "supported: GloVe text, word2vec text or "
            "binary, a folder written by 'embassay train words'",
            path,
            1,
        )
    return dim


def _open(path: Path) -> BufferedIOBase:
    """Open a file, gzipped or not, whatever its suffix."""
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
    """Convert errors of reading into SourceErrors of one line."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"damaged gzip: {error}", path) from None
    except OSError as error:
        raise unreadable(error, path) from None
