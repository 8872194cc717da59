"""Noun phrases of a tagged sentence, the end of a clause, and what kind of subject a word is."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.builders._words import Word

PERSONS = frozenset(
    "man woman person people guy girl boy kid child friend mom dad mother father brother sister son daughter wife "
    "husband parent doctor teacher student player coach boss lady everyone everybody someone somebody anyone nobody "
    "family team neighbor men women children guys girls boys kids friends parents fans fan driver customer".split()
)
_SUBORDINATORS = frozenset("because if when while though although since unless until but before after".split())
_ENDS = frozenset({".", ",", ":", "CC"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
OBJECTS = frozenset("me you him her it them us".split())
SELVES = frozenset("myself yourself himself herself itself ourselves yourselves themselves".split())


def noun_phrase(words: Sequence[Word], start: int) -> tuple[int, int] | None:
    """Return (index of the head, index after the end) of the plain noun phrase that starts here; None for none.

    A plain one is a pronoun, a name, or determiner, adjectives and nouns, without what follows a noun.
    """
    if start >= len(words):
        return None
    first = low(words, start)
    if (first in OBJECTS and not (first == "her" and _is_modifier(words, start + 1))) or first in SELVES:
        return start, start + 1
    at = start
    while at < len(words) and words[at].tag in {"DT", "PRP$", "CD", "JJ", "JJR", "JJS", "PDT"}:
        at += 1
    head = at
    while head < len(words) and words[head].tag in NOUNS:
        head += 1
    if head > at:
        if head < len(words) and words[head].tag == "POS":
            owned = noun_phrase(words, head + 1)
            return owned if owned and words[owned[0]].tag in NOUNS else None
        return head - 1, head
    if first in {"this", "that", "these", "those"} and at == start + 1 and ends(words, at):
        return start, start + 1
    return None


def subject_marks(words: Sequence[Word], place: int) -> set[str]:
    """Return what kind of subject a word is."""
    name, start = low(words, place), place
    while start >= 0 and words[start].tag in {*NOUNS, "JJ", "CD", "DT", "PRP$", "POS"}:
        start -= 1
    if place > start >= 0 and words[start].tag in {"IN", "TO"}:
        return set()  # a noun after a preposition: the subject stands before
    if name in {"i", "you", "we", "who"}:
        return {"prs"}
    if name in {"he", "she"} or (place >= 0 and words[place].tag == "NNP") or name in PERSONS:
        return {"prs", "prs3"}
    if name == "they":
        return {"prs", "prs3", "they"}
    if name in {"it", "that", "this", "which", "what", "something"}:
        return {"it", name}
    return {"it", "they"} if place >= 0 and words[place].tag in {"NN", "NNS"} else set()


def ends(words: Sequence[Word], place: int) -> bool:
    """Say whether a clause ends before this place."""
    return place >= len(words) or words[place].tag in _ENDS or low(words, place) in _SUBORDINATORS


def is_noun(words: Sequence[Word], place: int) -> bool:
    """Say whether a noun or a pronoun stands at a place."""
    return place >= 0 and words[place].tag in {*NOUNS, "PRP"}


def low(words: Sequence[Word], place: int) -> str:
    """Return the word at a place in lower case; empty outside the sentence."""
    return words[place].text.lower() if 0 <= place < len(words) else ""


def _is_modifier(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and words[place].tag in {*NOUNS, "JJ", "JJR", "JJS", "CD"}
