"""Files of word vectors as they are released: GloVe text without a header, word2vec text with one, word2vec binary.

Each may be gzipped. The format is recognised from the content. A word may contain spaces (GloVe's 840B has ``. . .``),
so the last d fields of a line are its numbers. Of a repeated word, the first vector counts.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embassay.core.errors import SourceError, quoted
from embassay.core.store.paths import open_file, reason_in
from embassay.core.vectors import DenseVectors
from embassay.stats.lexical.words import composed

PEEK = 1 << 20
"""Number of bytes from which the format is recognised."""
HEADER = re.compile(rb"\s*([1-9]\d{0,11})\s+([1-9]\d{0,5})\s*")


class WordFormat(NamedTuple):
    """The format of a file of word vectors.

    Attributes
    ----------
    dim
        Number of dimensions.
    promised
        The number of words in the header; 0 without a header.
    is_binary
        Whether it is word2vec binary, not text.
    """

    dim: int
    promised: int
    is_binary: bool


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes
    ----------
    row
        The row of each word, in the file's order; of a repeated word, its first row.
    matrix
        (n, d) float32, finite. Later rows of repeated words are in it, but no word refers to them.
    """

    row: dict[str, int]
    matrix: DenseVectors


def recognise(path: Path) -> WordFormat:
    """Return the format of a file, recognised by its first mebibyte.

    Raises
    ------
    SourceError
        If it cannot be read, is empty, or does not begin like a file of word vectors.
    """
    with _opened(path) as file:
        first, _, rest = file.read(PEEK).partition(b"\n")
    second = rest.partition(b"\n")[0]
    if header := HEADER.fullmatch(first):
        promised, dim = int(header[1]), int(header[2])
        is_text = rest.isascii() or _count_numbers(second) == dim
        return WordFormat(dim, promised, is_binary=not is_text)
    # One of the two words may have a space in it, or be two numbers.
    dim = _count_numbers(second) or _count_numbers(first)
    are_whole = all(len(line.rsplit(None, dim)) == dim + 1 for line in (first, second) if line.strip())
    if dim < 2 or not are_whole:
        raise SourceError(
            "unrecognised format: the line must be a word and its numbers, separated by spaces, "
            f"is {quoted(first.decode(errors='replace'))}; supported: GloVe text, word2vec text or binary "
            "(fastText's .vec file, gensim's save_word2vec_format()), a folder written by 'embassay train words'",
            path,
            1,
        )
    return WordFormat(dim, 0, is_binary=False)


def _count_numbers(line: bytes) -> int:
    """Return how many numbers follow the first word of a line; 0 if anything else follows it."""
    try:
        return len(np.array(line.split()[1:], dtype=np.float64))
    except ValueError:
        return 0


def read(path: Path) -> WordVectors:
    """Return the words of a file and their vectors.

    The memory needed is about that of the matrix and the words.

    Raises
    ------
    SourceError
        If a word does not have d finite numbers, or the file has another number of words than its header.
    """
    form = recognise(path)
    row: dict[str, int] = {}
    numbers = bytearray()
    count = 0
    with _opened(path) as file, np.errstate(over="ignore"):
        for content, vector in _words(file, form):
            # Words are looked up as texts have them.
            word = composed(content.decode(errors="replace"))
            if vector.shape != (form.dim,) or not np.isfinite(vector).all():
                problem = f"word {count + 1:,} ({quoted(word)}) must have {form.dim} finite numbers"
                raise SourceError(f"{problem}; correct or remove it", path)
            row.setdefault(word, count)
            numbers += vector.tobytes()
            count += 1
        rest = file.read().strip()
    if form.promised and (count != form.promised or rest):
        problem = f"the header gives {form.promised:,} words, but the file has {'more' if rest else f'{count:,}'}"
        raise SourceError(f"{problem}; copy or download it again", path)
    return WordVectors(row, np.frombuffer(numbers, dtype=np.float32).reshape(-1, form.dim))


def _words(file: BufferedReader, form: WordFormat) -> Iterator[tuple[bytes, DenseVectors]]:
    """Yield the words of a file with their vectors; damaged ones have another shape or numbers that are not finite."""
    if form.promised:
        file.readline()
    if form.is_binary:
        # Each is a word, a space, little-endian float32, perhaps a newline.
        for _ in range(form.promised):
            word = b""
            while (character := file.read(1)) not in (b" ", b""):
                word += character
            content = file.read(4 * form.dim)
            yield word.lstrip(b"\n"), np.frombuffer(content, dtype="<f4", count=len(content) // 4)
        return
    for line in filter(bytes.strip, file):
        word, *numbers = line.rsplit(None, form.dim)
        try:
            yield word, np.array(numbers, dtype=np.float32)
        except ValueError:
            yield word, np.empty(0, dtype=np.float32)


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file, gzipped or not, whatever its suffix; errors become SourceErrors."""
    try:
        with open_file(path) as plain:
            file: Any = plain
            beginning = plain.peek(4)
            if beginning.startswith(b"PK\x03\x04"):
                raise SourceError("a zip archive; unzip first", path)
            if beginning.startswith(b"\x1f\x8b"):
                file = gzip.GzipFile(fileobj=plain)
            with BufferedReader(file) as content:
                yield content
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"cannot be read: {reason_in(error)}", path) from None
