"""The text that an encoder is trained on: its sentences, and the words that are frequent enough."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.corpora.io.texts import read_text
from embassay.encoders.tokens import Cutting, cutter
from embassay.errors import SourceError, SpecError
from embassay.store.paths import open_file, source_path

MIN_COUNT = 5
COVERED = 0.9
"""The least share of a text's words that is learnt from, where the user does not say how rare a word may be."""
LONGEST = 10_000
"""The most words of a sentence that gensim reads."""


@dataclass(frozen=True)
class Sentences:
    """A text to learn from, one sentence a line, without blank lines.

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


@dataclass(frozen=True)
class Vocabulary:
    """The words that are learnt.

    Attributes
    ----------
    counts
        How often each occurs, the most frequent first, equally frequent ones in the order of their letters.
    min_count
        How often a word has to occur.
    tokens
        The number of words of the text, rare ones included.
    notes
        What was decided, one sentence each.
    """

    counts: dict[str, int]
    min_count: int
    tokens: int
    notes: tuple[str, ...] = ()


def read_sentences(path: Path) -> Sentences:
    """Read a UTF-8 file of one sentence a line.

    Raises
    ------
    SourceError
        If there is no file, if a line is not UTF-8, or if there is no sentence.
    """
    path = source_path(path)
    if path.is_dir():
        raise SourceError("a folder; --text names a file with one sentence a line", path)
    sentences, lines = [], []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            sentences.append(line.strip())
            lines.append(number)
    if not sentences:
        raise SourceError("has no sentence; write one on each line", path)
    with open_file(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Sentences(path, tuple(sentences), tuple(lines), sha256)


def cut_sentences(text: Sentences, tokens: Cutting, command: str) -> list[list[str]]:
    """Return the lower-cased words of each sentence, the first 10,000 of a longer one."""
    cut = cutter(tokens, command)
    # Equal words are one object, so that a text of a million sentences stays small.
    words: dict[str, str] = {}
    return [[words.setdefault(word, word) for word in cut(line.lower())[:LONGEST]] for line in text.sentences]


def count_words(text: Sentences, sentences: Sequence[Sequence[str]], min_count: int | None) -> Vocabulary:
    """Count the words and leave out the rare ones.

    Parameters
    ----------
    sentences
        The words of each sentence.
    min_count
        How often a word has to occur; None for 5, or less if fewer than 90 % of the text's words would be left.

    Raises
    ------
    SpecError
        For a number under 1.
    SourceError
        If fewer than two different words are left.
    """
    if min_count is not None and min_count < 1:
        raise SpecError(f"option 'min_count': must be 1 or more, is {min_count}")
    counts = Counter(word for words in sentences for word in words)
    least = min_count or largest_min_count(counts.values())
    frequent = [(word, count) for word, count in counts.items() if count >= least]
    frequent.sort(key=lambda item: (-item[1], item[0]))
    if len(frequent) < 2:
        raise SourceError(f"{len(frequent)} words occur {least} times or more; two at least are needed", text.path)
    notes = []
    if min_count is None and least < MIN_COUNT:
        notes.append(
            f"min_count is {least}, not {MIN_COUNT}: words that occur {MIN_COUNT} times or more make up less than "
            f"{COVERED:.0%} of the text"
        )
    if cut_off := sum(len(words) == LONGEST for words in sentences):
        notes.append(f"lines of {LONGEST:,} words or more, the first {LONGEST:,} of which are learnt from: {cut_off:,}")
    return Vocabulary(dict(frequent), least, counts.total(), tuple(notes))


def largest_min_count(counts: Iterable[int]) -> int:
    """Return the largest number up to 5 such that words that occur so often make up 90 % of the text; at least 1."""
    counts = list(counts)
    for least in range(MIN_COUNT, 1, -1):
        if sum(count for count in counts if count >= least) >= COVERED * sum(counts):
            return least
    return 1
