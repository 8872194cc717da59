"""Blocks of words and vectors, out of text or out of word2vec's binary form."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embassay.errors import SourceError

BLOCK = 1 << 23
"""Bytes that are read at a time."""
LONGEST_WORD = 10_000
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Block:
    """Some words in the file's order and their (n, d) float32 vectors; how many bytes followed the last word of all."""

    words: list[bytes]
    matrix: NDArray[np.float32]
    trailing: int = 0


def text_blocks(path: Path, file: io.BufferedIOBase, dim: int, number: int) -> Iterator[Block]:
    """Yield blocks of a text file whose first line has this number.

    Raises
    ------
    SourceError
        For a line with too few numbers, or a number that is none or not finite.
    """
    rest = b""
    while True:
        content = file.read(BLOCK)
        text = rest + content
        # The last line waits, with what follows it: it may be cut, or be the last of all.
        end = text.rfind(b"\n", 0, len(text.rstrip())) if content else len(text.rstrip())
        lines, rest = text[: max(end, 0)].split(b"\n"), text[max(end, 0) + 1 :]
        if end > 0:
            yield _parsed(path, lines, dim, number)
            number += len(lines)
        elif content:
            rest = text
        if not content:
            return


def binary_blocks(path: Path, file: io.BufferedIOBase, dim: int, promised: int) -> Iterator[Block]:
    """Yield blocks of a binary file: each word, a blank, its numbers as little-endian float32, perhaps a newline.

    Raises
    ------
    SourceError
        If it ends before the last word that was promised, or a number is not finite.
    """
    width, rest, done = 4 * dim, b"", 0
    while done < promised:
        content = file.read(BLOCK)
        words, rows, rest = _records(rest + content, width, promised - done)
        if not content or (not words and len(rest) > LONGEST_WORD + width):
            raise SourceError(
                f"word {done + 1:,} of the {promised:,} that its header promises is not whole: incomplete, or not "
                f"word2vec binary of {dim} dimensions",
                path,
            )
        matrix = np.frombuffer(rows, dtype="<f4").reshape(-1, dim).astype(np.float32)
        wrong = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(wrong):
            shown = words[wrong[0]].decode(errors="replace")
            raise SourceError(f"word {done + wrong[0] + 1:,} ({shown!r}) has a number that is not finite", path)
        done += len(words)
        trailing = len((rest + file.read()).strip(b"\n")) if done == promised else 0
        yield Block(words, matrix, trailing)


def count_numbers(line: bytes) -> int:
    """Return how many fields at the end of a line are numbers, the first field not counted: it is a word."""
    count = 0
    for part in reversed(line.rstrip().split(b" ")[1:]):
        if _number(part) is None:
            break
        count += 1
    return count


def _records(content: bytes, width: int, most: int) -> tuple[list[bytes], bytes, bytes]:
    """Return the whole words of a binary block, their numbers' bytes, and what is left."""
    words, rows, place = list[bytes](), list[bytes](), 0
    while len(words) < most:
        blank = content.find(b" ", place)
        if blank < 0 or blank + 1 + width > len(content):
            break
        words.append(content[place:blank].lstrip(b"\n"))
        place = blank + 1 + width
        rows.append(content[blank + 1 : place])
    return words, b"".join(rows), content[place:]


def _parsed(path: Path, lines: Sequence[bytes], dim: int, number: int) -> Block:
    """Split lines into words and numbers, and read the numbers of all at once."""
    words, numbers = [], []
    for place, line in enumerate(lines, start=number):
        line = line.rstrip(b" \r")
        blanks = line.count(b" ")
        if blanks == dim:
            word, _, rest = line.partition(b" ")
        elif blanks > dim:
            word, *parts = line.rsplit(b" ", dim)
            rest = b" ".join(parts)
        else:
            found = f"a word and {blanks} numbers" if line else "nothing"
            raise SourceError(f"has {found}, the others a word and {dim}; mend or remove it", path, place)
        words.append(word)
        numbers.append(rest)
    return Block(words, _matrix(path, numbers, dim, number))


def _matrix(path: Path, numbers: Sequence[bytes], dim: int, number: int) -> NDArray[np.float32]:
    """Read (n, dim) numbers; where the fast reader fails, one by one, to find the line that is wrong."""
    import polars

    schema = {str(column): polars.Float32 for column in range(dim)}
    try:
        frame = polars.read_csv(
            io.BytesIO(b"\n".join(numbers)), separator=" ", has_header=False, quote_char=None, schema=schema
        )
        matrix = frame.to_numpy(order="c")
    except polars.exceptions.PolarsError:
        return _one_by_one(path, numbers, number)
    if matrix.shape != (len(numbers), dim) or not np.isfinite(matrix).all():
        return _one_by_one(path, numbers, number)
    return matrix


def _one_by_one(path: Path, numbers: Sequence[bytes], number: int) -> NDArray[np.float32]:
    rows = []
    for line, text in enumerate(numbers, start=number):
        row = [_number(part) for part in text.split(b" ")]
        if None in row:
            field = row.index(None)
            shown = text.split(b" ")[field][:40].decode(errors="replace")
            raise SourceError(f"{shown!r} is no finite number; mend or remove the line", path, line, f"{field + 1}")
        rows.append(row)
    return np.array(rows, dtype=np.float32)


def _number(text: bytes) -> float | None:
    """Return a finite number within float32's range, None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= LARGEST and b"_" not in text else None
