"""Files of word vectors as they are released: GloVe text without a header, word2vec text with one, word2vec binary.

Each may be gzipped, or alone in a zip archive. The format is recognised from the content. A word may contain spaces
(GloVe's 840B has ``. . .``), so the last d fields of a line are its numbers. Harmless irregularities are noted with
their first line; anything that makes a vector wrong is an error.
"""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.store.paths import open_file, reason_in
from embassay.core.vectors import DenseVectors
from embassay.stats.lexical.words import composed

PEEK = 1 << 20
"""Number of bytes from which the format is recognised."""
SAMPLE = 100
"""Number of lines from which the number of dimensions is determined if there is no header."""
HEADER = re.compile(rb"[ \t]*([1-9]\d{0,11})[ \t]+([1-9]\d{0,5})[ \t\r]*")
NUMBERS = re.compile(rb"(?: [-+.eE]*\d[-+.eE\d]*)*$")
UNSUPPORTED = {
    b"\xef\xbb\xbf": "begins with a byte-order mark, which would be part of the first word; save it without one",
    b"\xba\x16\x4f\x2f": "is a fastText model; use its file of word vectors, which ends in .vec",
    b"\x80": "is a pickle, as gensim's save() writes it; write the vectors with save_word2vec_format()",
}
"""What a file is, and what to use instead, by its first bytes."""


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
    notes
        Irregularities, where the first is, and how they were handled, one sentence each.
    """

    row: dict[str, int]
    matrix: DenseVectors
    notes: tuple[str, ...]


def recognise(path: Path) -> WordFormat:
    """Return the format of a file, recognised by its first mebibyte.

    Raises
    ------
    SourceError
        If it cannot be read, is empty, or does not begin like a file of word vectors.
    """
    with _opened(path) as file:
        head = file.read(PEEK)
    for signature, what in UNSUPPORTED.items():
        if head.startswith(signature):
            raise SourceError(what, path)
    first, *lines = head.rstrip().split(b"\n")[:SAMPLE]
    if header := HEADER.fullmatch(first):
        promised, dim = int(header[1]), int(header[2])
        is_binary = not b"".join(lines).isascii() and _count_numbers(lines[0]) < dim
        return WordFormat(dim, promised, is_binary)
    # The smaller one of two equally frequent numbers, because a word may itself end in a number.
    counts = sorted(map(_count_numbers, [first, *lines]))
    dim = Counter(counts).most_common(1)[0][0]
    if dim < 2 or _count_numbers(first) < dim or b"\t" in first:
        beginning = first[:60].decode(errors="replace")
        raise SourceError(
            f"unrecognised format: the line must be a word and its numbers, separated by spaces ({beginning!r}); "
            "supported: GloVe text, word2vec text or binary, a folder written by 'embassay train words'",
            path,
            1,
        )
    return WordFormat(dim, 0, is_binary=False)


def read(path: Path, limit: int = 0) -> WordVectors:
    """Return the words of a file and their vectors.

    The memory needed is about that of the matrix and the words.

    Parameters
    ----------
    limit
        Read only this many words from the start of the file; 0 for all.

    Raises
    ------
    SourceError
        If the file is incomplete, or a word does not have d finite numbers. The error names the line, or the number of
        the word in a binary file.
    """
    form = recognise(path)
    words: list[str] = []
    numbers = bytearray()
    with _opened(path) as file, np.errstate(over="ignore"):
        for content, vector in _words(file, form):
            if limit and len(words) >= limit:
                break
            if vector.shape != (form.dim,) or not np.isfinite(vector).all():
                place = _place(form, len(words))
                problem = f"{place} is incomplete or damaged: it must be a word and {form.dim} finite numbers"
                raise SourceError(f"{problem}; correct or remove it", path)
            # Words are looked up as texts have them.
            words.append(composed(content.decode(errors="replace")))
            numbers += vector.tobytes()
        rest = b"" if limit else file.read().strip()
    if len(words) < form.promised and not limit:
        counts = f"the header gives {form.promised:,} words, but the file has {len(words):,}"
        raise SourceError(f"{counts}; the file is incomplete", path)
    row: dict[str, int] = {}
    for place_of_word, word in enumerate(words):
        row.setdefault(word, place_of_word)
    notes = _notes(form, words, row)
    if rest:
        notes.append(f"ignored after the last word: {counted(len(rest), 'byte')}")
    return WordVectors(row, np.frombuffer(numbers, dtype=np.float32).reshape(-1, form.dim), tuple(notes))


def _notes(form: WordFormat, words: Sequence[str], row: Mapping[str, int]) -> list[str]:
    """Return a sentence about each kind of irregularity."""
    irregular = {
        f"with spaces: the last {form.dim} fields were used as the numbers": [" " in word for word in words],
        "repeated: the first vector was used": [row[word] != place for place, word in enumerate(words)],
        "not in UTF-8: invalid bytes were replaced by U+FFFD": ["\ufffd" in word for word in words],
    }
    notes = []
    for what, of_words in irregular.items():
        if any(of_words):
            first = _place(form, of_words.index(True))
            notes.append(f"{counted(sum(of_words), 'word')} {what} (the first: {first})")
    if len(words) > form.promised > 0:
        notes.append(f"the header gives {form.promised:,} words, but all {len(words):,} in the file were read")
    return notes


def _place(form: WordFormat, index: int) -> str:
    """Return where a word is in the file."""
    if form.is_binary:
        return f"word {index + 1:,}"
    # The first line of word2vec text is its header.
    return f"line {index + 1 + bool(form.promised):,}"


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
    for line in file:
        # Blank lines are allowed only at the end.
        if not line.strip() and not file.read().strip():
            return
        word, *numbers = line.rstrip().rsplit(b" ", form.dim)
        try:
            yield word, np.array(numbers, dtype=np.float32)
        except ValueError:
            yield word, np.empty(0, dtype=np.float32)


def _count_numbers(line: bytes) -> int:
    """Return the number of fields at the end of a line that look like numbers; the first field is a word."""
    numbers: bytes = NUMBERS.findall(line.rstrip())[0]
    return numbers.count(b" ")


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    """Open a file, gzipped or alone in a zip archive or neither, whatever its suffix; errors become SourceErrors."""
    try:
        with open_file(path) as plain:
            file: Any = plain
            beginning = plain.peek(2)
            if beginning.startswith(b"PK"):
                archive = zipfile.ZipFile(plain)
                names = archive.namelist()
                if len(names) != 1:
                    raise SourceError(f"a zip archive of {len(names)} files; extract the wanted one", path)
                file = archive.open(names[0])
            elif beginning.startswith(b"\x1f\x8b"):
                file = gzip.GzipFile(fileobj=plain)
            with BufferedReader(file) as content:
                yield content
    except (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise SourceError(f"cannot be read: {reason_in(error)}", path) from None
