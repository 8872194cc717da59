"""Words that negate, words that occur only with a negation, and words that change what a negation denies."""

from __future__ import annotations

from embassay.testsets.english.word_classes import NEGATORS, wordset
from embassay.testsets.english.words import Tagged, Word, word_at

QUANTIFIED = wordset("no nobody nothing none neither nor nowhere no-one without")
"""Quantifiers and similar words that negate; a sentence with one of them is not negated again."""
POLAR = wordset(
    "any anyone anything anybody anymore anywhere ever yet either until much many bother whatsoever slightest remotely "
    "alone budge mind"
)
"""Words that occur after a negation and hardly without one (negative polarity items)."""
FOCUS = wordset("only just even so that all both exactly as quite enough necessarily entirely too simply merely")
"""Words that are denied instead of the verb if they follow a negation: *not that good*, *not only*."""
AFTER_NOT = wordset("always only even just quite ever all often rarely seldom")
"""Adverbs before which ``do not`` is inserted, as before adverbs of manner."""
SENTENCE_ADVERBS = wordset(
    "probably definitely certainly surely apparently obviously clearly still also honestly actually literally simply "
    "perhaps maybe possibly currently undoubtedly evidently sadly unfortunately personally really"
)
"""Adverbs of the whole sentence, after which ``not`` is inserted."""
_NO_NEGATION = frozenset({"", ",", "!", ".", "doubt", "matter"})
"""Words and marks after a ``no`` that negates nothing: an answer, ``no doubt``."""


def negations(tagged: Tagged) -> tuple[tuple[str, int], ...]:
    """Return (pattern, index) of every negation of a sentence, from left to right (``("not", 3)``)."""
    patterns = list[tuple[str, int]]()
    for index, word in enumerate(tagged.words):
        negates_nothing = word.lowercase == "no" and word_at(tagged.words, index + 1).lowercase in _NO_NEGATION
        if word.lowercase in NEGATORS | QUANTIFIED and not negates_nothing:
            patterns.append((word.lowercase, index))
    return tuple(patterns)


def is_manner(word: Word) -> bool:
    """Return whether a word is an adverb of manner, which a negation before it denies: ``did not formally agree``."""
    return word.tag == "RB" and word.lowercase.endswith("ly") and word.lowercase not in SENTENCE_ADVERBS


def first_negation(tagged: Tagged) -> str | None:
    """Return the pattern of the first negation (``not``, ``never``, ``no`` …); None if the sentence has none."""
    return next((pattern for pattern, _ in negations(tagged)), None)
