"""Blocks of words and vectors, read from text or from word2vec's binary format."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from embassay.core.errors import SourceError
from embassay.core.vectors import DenseVectors

BLOCK = 1 << 23
"""Number of bytes that are read at a time."""
LONGEST_WORD = 10_000
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class WordBlock:
    """Consecutive words of a file and their (n, d) float32 vectors.

    Attributes
    ----------
    trailing
        Number of bytes after the last word of a binary file.
    """

    words: list[bytes]
    matrix: DenseVectors
    trailing: int = 0

    def take(self, places: Sequence[int]) -> WordBlock:
        """Return a block with the words at these indices."""
        return WordBlock([self.words[place] for place in places], self.matrix[places], self.trailing)


def text_blocks(path: Path, file: io.BufferedIOBase, dim: int, first_line: int) -> Iterator[WordBlock]:
    """Yield blocks of a text file.

    Parameters
    ----------
    first_line
        The number of the next line of the file.

    Raises
    ------
    SourceError
        For a line with too few numbers, or a number that is not a finite number.
    """
    rest = b""
    while content := file.read(BLOCK):
        *lines, rest = (rest + content).split(b"\n")
        # Blank lines are allowed only at the end of the file, so they wait for the next content.
        while lines and not lines[-1].strip():
            rest = lines.pop() + b"\n" + rest
        if lines:
            yield _parsed(path, lines, dim, first_line)
            first_line += len(lines)
    if rest.strip():
        yield _parsed(path, rest.rstrip().split(b"\n"), dim, first_line)


def binary_blocks(path: Path, file: io.BufferedIOBase, dim: int, promised: int) -> Iterator[WordBlock]:
    """Yield blocks of a binary file: each word, a space, its numbers as little-endian float32, optionally a newline.

    Raises
    ------
    SourceError
        If it has fewer words than the header says, or a number is not finite.
    """
    width = 4 * dim
    rest = b""
    done = 0
    while done < promised:
        content = file.read(BLOCK)
        words, numbers, rest = _records(rest + content, width, promised - done)
        is_no_word = not words and len(rest) > LONGEST_WORD + width
        if not content or is_no_word:
            raise SourceError(
                f"word {done + 1:,} of the {promised:,} given in the header is incomplete: the file is "
                "truncated or not "
                f"word2vec binary of {dim} dimensions",
                path,
            )
        matrix = np.frombuffer(numbers, dtype="<f4").reshape(-1, dim).astype(np.float32)
        not_finite = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(not_finite):
            place = not_finite[0]
            word = words[place].decode(errors="replace")
            raise SourceError(f"word {done + place + 1:,} ({word!r}) has a number that is not finite", path)
        done += len(words)
        trailing = 0
        if done == promised:
            trailing = len((rest + file.read()).strip(b"\n"))
        yield WordBlock(words, matrix, trailing)


def count_numbers(line: bytes) -> int:
    """Return the number of fields at the end of a line that are numbers, without the first field, which is a word."""
    count = 0
    for part in reversed(line.rstrip().split(b" ")[1:]):
        if _number(part) is None:
            break
        count += 1
    return count


def _records(content: bytes, width: int, most: int) -> tuple[list[bytes], bytes, bytes]:
    """Return (the complete words of binary content, the bytes of their numbers, the remaining content)."""
    words: list[bytes] = []
    numbers: list[bytes] = []
    place = 0
    while len(words) < most:
        blank = content.find(b" ", place)
        end = blank + 1 + width
        if blank < 0 or end > len(content):
            break
        words.append(content[place:blank].lstrip(b"\n"))
        numbers.append(content[blank + 1 : end])
        place = end
    return words, b"".join(numbers), content[place:]


def _parsed(path: Path, lines: Sequence[bytes], dim: int, first_line: int) -> WordBlock:
    """Return the block of some lines; the numbers of all lines are read at once."""
    words = []
    numbers = []
    for number, line in enumerate(lines, start=first_line):
        line = line.rstrip(b" \r")
        blanks = line.count(b" ")
        if blanks < dim:
            content = "nothing"
            if line:
                content = f"a word and {blanks} numbers"
            raise SourceError(
                f"has {content}, other lines have a word and {dim} numbers; correct or remove the line", path, number
            )
        # A word may contain spaces, so the last fields are the numbers. partition() is faster for all other words.
        has_spaces = blanks != dim
        word = line.rsplit(b" ", dim)[0] if has_spaces else line.partition(b" ")[0]
        words.append(word)
        numbers.append(line[len(word) + 1 :])
    return WordBlock(words, _matrix(path, numbers, dim, first_line))


def _matrix(path: Path, lines: Sequence[bytes], dim: int, first_line: int) -> DenseVectors:
    """Return the (n, dim) numbers of lines, read one by one if the fast reader fails, to find the wrong line."""
    import polars

    schema = {str(column): polars.Float32 for column in range(dim)}
    content = io.BytesIO(b"\n".join(lines))
    try:
        frame = polars.read_csv(content, separator=" ", has_header=False, quote_char=None, schema=schema)
    except polars.exceptions.PolarsError:
        # Its message does not name the line. Reading one by one does, or finds that all numbers are valid.
        return _one_by_one(path, lines, first_line)
    matrix = frame.to_numpy(order="c")
    if matrix.shape != (len(lines), dim) or not np.isfinite(matrix).all():
        return _one_by_one(path, lines, first_line)
    return matrix


def _one_by_one(path: Path, lines: Sequence[bytes], first_line: int) -> DenseVectors:
    """Return the (n, dim) numbers of lines; raise SourceError with line and field for a wrong one."""
    rows = []
    for line, text in enumerate(lines, start=first_line):
        row = []
        for field, part in enumerate(text.split(b" "), start=1):
            number = _number(part)
            if number is None:
                beginning = part[:40].decode(errors="replace")
                raise SourceError(
                    f"{beginning!r} is not a finite number; correct or remove the line", path, line, f"{field}"
                )
            row.append(number)
        rows.append(row)
    return np.array(rows, dtype=np.float32)


def _number(text: bytes) -> float | None:
    """Return a finite number within float32's range; None for anything else."""
    # Python would read 1_0 as 10.
    if b"_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    is_float32 = math.isfinite(value) and abs(value) <= LARGEST
    if is_float32:
        return value
    return None
