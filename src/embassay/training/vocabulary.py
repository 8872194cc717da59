"""The words of a text to learn from: cut, lower-cased, counted, the rare ones left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from embassay.encoders.tokens import Cutting, cutter
from embassay.errors import SourceError, SpecError
from embassay.training.shared import Sentences

MIN_COUNT = 5
COVERED = 0.9
"""The share of a text's words that has to be learnt from where the user does not say how rare a word may be."""
LONGEST = 10_000
"""The most words of a sentence that gensim reads."""


@dataclass(frozen=True)
class Vocabulary:
    """The words that are learnt.

    Attributes
    ----------
    counts
        How often each occurs, the most frequent first, equal ones by their letters.
    min_count
        How often a word has to occur.
    tokens
        All words of the text, those left out included.
    notes
        What was decided, one sentence each.
    """

    counts: dict[str, int]
    min_count: int
    tokens: int
    notes: tuple[str, ...] = ()


def cut_sentences(text: Sentences, tokens: Cutting, what: str) -> list[list[str]]:
    """Return the lower-cased words of each sentence, the first 10,000 of a longer one."""
    cut = cutter(tokens, what)
    known: dict[str, str] = {}
    # Equal words are one object: a text of a million sentences stays small.
    return [[known.setdefault(word, word) for word in cut(line.lower())[:LONGEST]] for line in text.sentences]


def count_words(text: Sentences, cut: Sequence[Sequence[str]], min_count: int | None) -> Vocabulary:
    """Count the words and leave out the rare ones.

    Parameters
    ----------
    min_count
        How often a word has to occur; None for 5, or less where fewer than 90 % of the text's words would be left.

    Raises
    ------
    SpecError
        For a number under 1.
    SourceError
        If fewer than two different words are left.
    """
    if min_count is not None and min_count < 1:
        raise SpecError(f"option 'min_count': must be 1 or more, is {min_count}")
    counts = Counter(word for words in cut for word in words)
    total = sum(counts.values())
    enough = min_count or _enough(counts.values(), total)
    kept = {word: n for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= enough}
    if len(kept) < 2:
        raise SourceError(f"{len(kept)} words occur {enough} times or more; two at least are needed", text.path)
    notes = []
    if min_count is None and enough < MIN_COUNT:
        notes.append(
            f"min_count is {enough}, not {MIN_COUNT}: words that occur {MIN_COUNT} times or more make up less than "
            f"{COVERED:.0%} of the text"
        )
    if long := sum(len(words) == LONGEST for words in cut):
        notes.append(f"lines of {LONGEST:,} words or more, the first {LONGEST:,} of which are learnt from: {long:,}")
    return Vocabulary(kept, enough, total, tuple(notes))


def _enough(counts: Iterable[int], total: int) -> int:
    """Return the largest number up to 5 such that the words that occur so often make up 90 % of the text."""
    found = list(counts)
    covered = {n: sum(count for count in found if count >= n) for n in range(1, MIN_COUNT + 1)}
    return max((n for n, kept in covered.items() if kept >= COVERED * total), default=1)
