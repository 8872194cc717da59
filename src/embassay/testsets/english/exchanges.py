"""Edits that HEROS does not have: another number, another name of the same kind.

An edit is made only if it certainly changes the meaning and leaves the rest as it is; else the functions return None.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.wordnet import WordNet
from embassay.testsets.english.words import Tagged, Words, substituted, word_at

NAMES = ("Jackie", "Robin", "Casey", "Jamie", "Morgan")
"""Names of any gender that replace the name of a placeholder."""
PLACES = ("country", "city", "capital", "state", "continent", "island", "river", "port", "province", "county")
"""Endings of WordNet's kinds of places: ``european_country``. Persons are left out: pronouns might not match."""
SPELT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_FIXED = re.compile(r"(?i)24|7|9|11|100|101|180|360|404|420|50|69|1")
"""Numbers that are often not counts, such as those of 24/7, 9/11 and error 404."""
_WITH_ARTICLE = wordset("republic states kingdom islands emirates netherlands philippines midwest cali")
"""Words of names that need an article, and names that are not places of a kind."""
_NOT_A_COUNT = frozenset({"of", "number", "vs", "-", "/", "#", "or", "and", "to", "the"})
"""Words before a number that is part of a name, a share or the end of a range."""


@dataclass(frozen=True)
class _Name:
    """A name in a sentence.

    Attributes
    ----------
    start, end
        Indices of its first word and after its last word.
    kind
        ``placeholder``, or WordNet's kind of place; with `` the`` at the end if an article precedes the name.
    """

    start: int
    end: int
    kind: str


def number(tagged: Tagged, chance: Generator) -> str | None:
    """Return the sentence with one number replaced by another of the same length; None for a sentence without one."""
    for index, word in enumerate(tagged.words):
        before, after = word_at(tagged.words, index - 1), word_at(tagged.words, index + 1)
        is_count = after.tag == "NNS" and before.lowercase not in _NOT_A_COUNT
        if not is_count:
            continue
        low = word.lowercase
        if low in SPELT:
            others = [other for other in SPELT if other != low]
            return substituted(tagged, {index: _choice(others, chance)})
        if re.fullmatch(r"[2-9]|[1-9]\d{1,3}", low) and not _FIXED.fullmatch(low):
            return substituted(tagged, {index: _other_number(int(low), chance)})
    return None


def _choice(texts: Sequence[str], chance: Generator) -> str:
    return texts[int(chance.integers(len(texts)))]


def _other_number(value: int, chance: Generator) -> str:
    """Return a number that differs by at least a quarter but has as many digits; for a multiple of ten, another one."""
    step = 10 if value % 10 == 0 else 1
    digits = len(str(value))
    others = list[str]()
    for other in range(max(2, 10 ** (digits - 1)), 10**digits):
        is_far_enough = abs(other - value) * 4 >= value
        # No number that ends in 1: its noun may need the singular.
        if other % step == 0 and is_far_enough and other % 10 != 1:
            others.append(str(other))
    return _choice(others, chance)


class Names:
    """The names in a corpus whose kind is certain: those of places that WordNet has, and the placeholder's name."""

    def __init__(self, sentences: Iterable[Tagged], lexicon: WordNet, placeholder: str):
        """Collect the names of the sentences by their kind.

        Parameters
        ----------
        placeholder
            The name that stands for ``[NAME]``.
        """
        self._lexicon = lexicon
        self._placeholder = placeholder
        distinct_names: dict[str, set[str]] = defaultdict(set)
        for sentence in sentences:
            for name in self._names(sentence):
                written = _phrase(sentence, name.start, name.end)
                distinct_names[name.kind].add(written)
        # Sorted, so that a draw from them does not depend on the order of the sentences.
        self._names_of_kind = {kind: sorted(names) for kind, names in distinct_names.items()}

    def entity(self, tagged: Tagged, chance: Generator) -> str | None:
        """Return the sentence with one name replaced by another name of the same kind from the corpus; else None."""
        for name in self._names(tagged):
            text = _phrase(tagged, name.start, name.end)
            same_kind: Sequence[str] = NAMES
            if name.kind != "placeholder":
                same_kind = self._names_of_kind.get(name.kind, [])
            others = [other for other in same_kind if other.lower() not in tagged.text.lower()]
            if others and tagged.text.count(text) == 1:
                # The other name replaces the first word, the remaining words are deleted.
                changes = dict.fromkeys(range(name.start, name.end), "")
                changes[name.start] = _choice(others, chance)
                return substituted(tagged, changes)
        return None

    def _names(self, tagged: Tagged) -> Iterator[_Name]:
        """Yield the names of a sentence whose kind is certain."""
        words, start = tagged.words, 0
        while start < len(words):
            end = start
            while word_at(words, end).tag in {"NNP", "NNPS"} and words[end].text[0].isupper():
                end += 1
            if end == start:
                start += 1
                continue
            before, after = word_at(words, start - 1), word_at(words, end)
            kind = self._kind(words[start:end])
            # "Young Texas" and "Texas oil" are not names of places.
            is_part_of_phrase = before.tag in {"JJ", "NN", "RB"} or after.tag in {"NN", "NNS", "CD", "JJ"}
            if kind and not is_part_of_phrase:
                # Names with and without an article do not replace each other.
                if before.lowercase == "the":
                    kind += " the"
                yield _Name(start, end, kind)
            start = end

    def _kind(self, words: Words) -> str | None:
        """Return the kind of a name; None unless it is the placeholder's name or that of a place."""
        if [word.text for word in words] == [self._placeholder]:
            return "placeholder"
        if any(word.text.isupper() or word.lowercase in _WITH_ARTICLE for word in words):
            return None
        kind = self._lexicon.kind("_".join(word.lowercase for word in words))
        return kind if kind and kind.endswith(PLACES) else None


def _phrase(tagged: Tagged, start: int, end: int) -> str:
    """Return the text of the words from index ``start`` up to ``end``."""
    return tagged.text[tagged.words[start].start : tagged.words[end - 1].end]
