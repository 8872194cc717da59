"""Noun phrases, ends of clauses, and kinds of subjects in a tagged sentence."""

from __future__ import annotations

from dataclasses import dataclass

from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import Word, Words, word_at

PERSONS = wordset(
    "man woman person people guy girl boy kid child friend mom dad mother father brother sister son daughter wife "
    "husband parent doctor teacher student player coach boss lady everyone everybody someone somebody anyone nobody "
    "family team neighbor men women children guys girls boys kids friends parents fans fan driver customer"
)
OBJECTS = wordset("me you him her it them us")
SELVES = wordset("myself yourself himself herself itself ourselves yourselves themselves")
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
"""Tags of nouns and names."""
_ADJECTIVES = frozenset({"CD", "JJ", "JJR", "JJS"})
_DETERMINERS = frozenset({"DT", "PRP$", "PDT"})
_SUBORDINATORS = wordset("because if when while though although since unless until but before after")


@dataclass(frozen=True)
class NounPhrase:
    """A simple noun phrase: a pronoun, a name, or determiners, adjectives and nouns, without modifiers after the noun.

    Attributes
    ----------
    head
        The index of its last noun.
    end
        The index after its last word.
    """

    head: int
    end: int


def noun_phrase(words: Words, start: int) -> NounPhrase | None:
    """Return the simple noun phrase that starts at an index; None if there is none."""
    first = word_at(words, start).lowercase
    # "Her" may be a determiner: "her new car".
    is_determiner = first == "her" and word_at(words, start + 1).tag in NOUNS | _ADJECTIVES
    if first in OBJECTS | SELVES and not is_determiner:
        return NounPhrase(start, start + 1)
    noun = start
    while word_at(words, noun).tag in _ADJECTIVES | _DETERMINERS:
        noun += 1
    end = noun
    while word_at(words, end).tag in NOUNS:
        end += 1
    # "The dog's owner" is one phrase, whose head is "owner".
    if end > noun and word_at(words, end).tag == "POS":
        return noun_phrase(words, end + 1)
    if end > noun:
        return NounPhrase(end - 1, end)
    if first in {"this", "that", "these", "those"} and ends_clause(words, start + 1):
        return NounPhrase(start, start + 1)
    return None


def ends_clause(words: Words, index: int) -> bool:
    """Return whether a clause ends before an index."""
    word = word_at(words, index)
    return word.tag in {"", ".", ",", ":", "CC"} or word.lowercase in _SUBORDINATORS


def is_noun(word: Word) -> bool:
    """Return whether a word is a noun or a pronoun."""
    return word.tag in NOUNS or word.tag == "PRP"


def subject_marks(words: Words, index: int) -> set[str]:
    """Return the kinds of subject that a word can be; empty if it cannot be a subject.

    They are ``prs`` (a person), ``prs3`` (a person other than the speaker and the listener), ``they`` (persons or
    things), ``it`` (a thing), and for "it", "that" and similar pronouns the word itself.
    """
    word, start = word_at(words, index), index
    while word_at(words, start).tag in {*NOUNS, "JJ", "CD", "DT", "PRP$", "POS"}:
        start -= 1
    if start < index and word_at(words, start).tag in {"IN", "TO"}:
        return set()  # a noun after a preposition; the subject comes earlier
    name = word.lowercase
    if name in {"i", "you", "we", "who"}:
        return {"prs"}
    if name in {"he", "she"} or word.tag == "NNP" or name in PERSONS:
        return {"prs", "prs3"}
    if name == "they":
        return {"prs", "prs3", "they"}
    if name in {"it", "that", "this", "which", "what", "something"}:
        return {"it", name}
    if word.tag in {"NN", "NNS"}:
        return {"it", "they"}
    return set()
