"""Negations of a sentence, and the words that do not stand beside a negation, or not without one."""

from __future__ import annotations

from embassay.builders._verbs import NEGATORS, lower, wordset
from embassay.builders._words import Tagged, Word

QUANTIFIED = wordset("no nobody nothing none neither nor nowhere no-one few little without")
"""Words that negate without a negator; a sentence with one of them is not negated once more."""
POLAR = wordset(
    "any anyone anything anybody anymore anywhere ever yet either until much many bother whatsoever slightest remotely "
    "alone budge"
)
"""Words that stand somewhere after a negation and hardly without one."""
FOCUS = wordset("only just even so that all exactly as quite enough necessarily entirely too simply merely")
"""Words that right after a negation take its place: *not that good*, *not only*."""
AFTER_NOT = wordset(
    "always only even just necessarily quite exactly ever all often rarely seldom usually frequently "
    "generally fully totally "
    "completely entirely wholly strongly greatly heartily highly deeply slowly quickly steadily firmly openly easily "
    "widely heavily severely substantially significantly gradually rapidly sharply dramatically quietly carefully "
    "successfully strictly directly closely fiercely warmly gladly happily sincerely thoroughly"
)
"""Adverbs that a ``do not`` is put before."""
SENTENCE_ADVERBS = wordset(
    "probably definitely certainly surely apparently obviously clearly still also honestly actually literally simply "
    "perhaps maybe possibly currently undoubtedly evidently sadly unfortunately"
)
"""Adverbs that a ``not`` follows."""
DEGREES = wordset("very so too really quite rather pretty extremely totally absolutely completely fairly more most")


def negations(tagged: Tagged) -> tuple[tuple[str, int], ...]:
    """Return (pattern, index) of every negation of a sentence, from left to right."""
    words = tagged.words
    found: list[tuple[str, int]] = []
    for index, word in enumerate(words):
        low = lower(word)
        if low in ("no", "any") and index + 1 < len(words) and lower(words[index + 1]) in ("longer", "more"):
            found += [(f"no {lower(words[index + 1])}", index)] if low == "no" else []
        elif low in NEGATORS | QUANTIFIED and not (low in ("no", "few", "little") and _no_negation(words, index)):
            found.append((low, index))
    return tuple(found)


def _no_negation(words: tuple[Word, ...], index: int) -> bool:
    """Say whether ``no``, ``few`` or ``little`` negates nothing: an answer, ``a few``, ``no doubt``."""
    after = lower(words[index + 1]) if index + 1 < len(words) else ""
    before = lower(words[index - 1]) if index else ""
    return (
        before in ("a", "the", "every")
        or after in ("", ",", "!", ".", "doubt", "matter")
        or lower(words[index]) != "no"
    )
