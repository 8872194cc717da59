"""The training text of an encoder: its sentences, and its sufficiently frequent words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.tables.texts import read_text
from embassay.core.types import sha256_of
from embassay.models.tokens import Cutting, cutter

MIN_COUNT = 5
COVERED = 0.9
"""Minimum share of a text's words that the default ``min_count`` keeps."""
LONGEST = 10_000
"""Maximum number of words of a sentence; gensim silently drops further ones."""


@dataclass(frozen=True)
class Sentences:
    """A training text with one sentence per line, without blank lines.

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
class TrainingVocabulary:
    """The vocabulary of a training.

    Attributes
    ----------
    counts
        The count of each word, the most frequent first; words with equal counts in alphabetical order.
    min_count
        The minimum count of a word.
    tokens
        The number of words in the text, including rare ones.
    notes
        Decisions on the vocabulary, one sentence each.
    """

    counts: dict[str, int]
    min_count: int
    tokens: int
    notes: tuple[str, ...] = ()


def read_sentences(path: Path) -> Sentences:
    """Read a UTF-8 file with one sentence per line.

    Raises
    ------
    SourceError
        If there is no file, if a line is not UTF-8, or if there is no sentence.
    """
    path = source_path(path)
    sentences, lines = [], []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            sentences.append(line.strip())
            lines.append(number)
    if not sentences:
        raise SourceError("contains no sentence; write one sentence per line", path)
    return Sentences(path, tuple(sentences), tuple(lines), sha256_of(path))


def cut_sentences(text: Sentences, tokens: Cutting, command: str) -> list[list[str]]:
    """Return the lower-cased words of each sentence.

    Raises
    ------
    SourceError
        If a line has more than 10,000 words.
    """
    cut = cutter(tokens, command)
    # Equal words are one object, so a text of a million sentences takes little memory.
    words: dict[str, str] = {}
    sentences = []
    for number, line in zip(text.lines, text.sentences, strict=True):
        words_of_line = cut(line.lower())
        if len(words_of_line) > LONGEST:
            raise SourceError(f"has more than {LONGEST:,} words; write one sentence per line", text.path, number)
        sentences.append([words.setdefault(word, word) for word in words_of_line])
    return sentences


def count_words(text: Sentences, sentences: Sequence[Sequence[str]], min_count: int | None) -> TrainingVocabulary:
    """Count the words and leave out the rare ones.

    Parameters
    ----------
    sentences
        The words of each sentence.
    min_count
        The minimum count of a word; None for 5, or less if fewer than 90 % of the text's words would be kept.

    Raises
    ------
    SourceError
        If fewer than two different words are kept.
    """
    counts = Counter(word for words in sentences for word in words)
    least = min_count or MIN_COUNT
    # The largest count, at most 5, such that words with at least this count make up 90 % of the text.
    while min_count is None and least > 1:
        if sum(count for count in counts.values() if count >= least) >= COVERED * counts.total():
            break
        least -= 1
    frequent = [(word, count) for word, count in counts.items() if count >= least]
    # Words of equal count in alphabetical order, so that the order of the sentences has no effect.
    frequent.sort(key=lambda item: (-item[1], item[0]))
    if len(frequent) < 2:
        raise SourceError(
            f"{len(frequent)} words occur {least} times or more; at least two are needed: use a longer text or a "
            "smaller --min-count",
            text.path,
        )
    notes = []
    if min_count is None and least < MIN_COUNT:
        notes.append(
            f"min_count was set to {least}, not {MIN_COUNT}, because words that occur {MIN_COUNT} times or more make "
            f"up less than {COVERED:.0%} of the text"
        )
    return TrainingVocabulary(dict(frequent), least, counts.total(), tuple(notes))
