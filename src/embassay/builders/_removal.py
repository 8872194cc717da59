"""What takes a negation out of a sentence, with the ``do`` that it needed."""

from __future__ import annotations

from itertools import pairwise

from embassay.builders._clauses import Group, groups
from embassay.builders._polarity import FOCUS, POLAR
from embassay.builders._splices import Splice
from embassay.builders._verbs import BE, DO, HAVE, STOPS, SUBJECTS, lower
from embassay.builders._words import Tagged, Word, inflected

IDIOMS = frozenset(
    {"help", "stand", "wait", "care", "imagine", "afford", "seem", "dare", "need", "bear", "bothered", "agree"}
)
"""Verbs that after ``can't`` or ``couldn't`` mean something else than without (``can't wait``)."""
FULL = {"ca": "can", "wo": "will", "sha": "shall"}


def removal(tagged: Tagged, pattern: str, at: int) -> list[Splice] | None:
    """Return what takes a negation out."""
    words = tagged.words
    rest = [lower(word) for word in words[at + 1 :]]
    if pattern in ("no longer", "no more"):
        deleted: list[Splice] = [(words[at].start, words[at + 1].end, "")]
        return deleted if pattern == "no longer" and at else None
    if (
        set(rest[:1]) & FOCUS
        or "mind" in rest[:2]
        or ("at", "all") in pairwise(rest)
        or any(low in POLAR and rest[place - 1] != "how" for place, low in enumerate(rest))
    ):
        return None
    if not at and pattern == "never" and rest[:1] and rest[0] in BE | HAVE | DO:
        return None
    group = next((group for group in groups(tagged) if group.negator == at), None)
    deletion = (words[at].start, words[at].end, "")
    if group is None:
        return [deletion] if pattern in ("not", "never") else None
    return _removed(words, group, at, deletion)


def _removed(words: tuple[Word, ...], group: Group, at: int, deletion: Splice) -> list[Splice] | None:
    """Take ``not`` or ``n't`` out of a verb group, with the ``do`` that it needed."""
    word, low = words[group.first], lower(words[group.first])
    if lower(words[at + 1]) == "worry" if at + 1 < len(words) and group.first == 0 else False:
        return None
    if low == "ai" or (low in ("need", "dare") and lower(words[at]) in ("not", "n't")):
        return None
    if low in ("ca", "can", "could") and any(lower(w) in IDIOMS for w in words[at + 1 : at + 3]):
        return None
    if low in FULL:
        full = FULL[low].capitalize() if word.text[0].isupper() else FULL[low]
        return [(word.start, word.end, full), deletion]
    if low not in DO or lower(words[at]) not in ("not", "n't"):
        return [deletion]
    return _without_support(words, group, at, deletion)


def _without_support(words: tuple[Word, ...], group: Group, at: int, deletion: Splice) -> list[Splice] | None:
    """Take ``do`` + ``not`` out and put its inflection on the verb."""
    verb = at + 1
    while verb < len(words) and words[verb].tag.startswith("RB"):
        verb += 1
    if ends_clause(words, verb):
        return [deletion]
    if lower(words[verb]) in SUBJECTS | {"and", "or", "but"} or group.first + 1 != at:
        return None
    support = lower(words[group.first])
    tag = {"does": "VBZ", "did": "VBD"}.get(support, "VB")
    form = inflected(lower(words[verb]), tag)
    if form is None or (lower(words[verb]) == "be" and tag != "VB"):
        return None
    opening = words[group.first].start
    gap = (opening, words[at].end, "")
    return [gap, (words[verb].start, words[verb].end, form)]


def ends_clause(words: tuple[Word, ...], at: int) -> bool:
    """Say whether nothing follows in the clause: ``I do.``."""
    return at >= len(words) or words[at].text in STOPS | {","}
