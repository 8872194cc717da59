"""Which synonym and which antonym of a word fit in its sentence.

HEROS's authors chose them by hand, 72 hours long (Chiang et al. 2023, section 2.2.3): fit for the context, of the same
sense, with the same preposition. Here a list of ours says for 764 words and frames which do (``replacements.tsv``).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embassay.testsets.english.frames import Around, around_adjective, around_verb
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import Tagged, Word, inflected, word_at

LISTED = "list of replacements"
_PARTS = {"adjective": "a", "verb": "v"}
_SUBJECTS = frozenset({"prs", "prs3", "it", "they"})
_EMPTIED = wordset("than as way until till before after once lest")
"""Words before a clause whose denial says nothing: ``than I thought``, ``until it starts``."""
_WITHIN_CLAUSE = frozenset(
    {"PRP", "DT", "PRP$", "NN", "NNS", "NNP", "JJ", "RB", "MD", "TO", "VBP", "VBZ", "VBD", "VB", "VBN"}
)


@dataclass(frozen=True)
class Entry:
    """A line of the list: a word, what may replace it, and where.

    Attributes
    ----------
    part
        ``a`` for an adjective, ``v`` for a verb.
    frames
        The frames in which it may be replaced, and what its copula and subject must be (:class:`Around`).
    only
        The nouns before which an adjective may be replaced; empty for all.
    never
        Words near it, or marks, that bar the replacement.
    """

    part: str
    word: str
    synonym: str
    antonym: str
    frames: frozenset[str]
    only: frozenset[str]
    never: frozenset[str]


@dataclass(frozen=True)
class Replacement:
    """A word of a sentence and what replaces it, inflected.

    Attributes
    ----------
    index
        The word's index in the sentence.
    part
        ``a`` for an adjective, ``v`` for a verb.
    synonym, antonym
        In the form that the sentence asks for.
    lemmas
        Base forms of synonym and antonym.
    """

    index: int
    part: str
    synonym: str
    antonym: str
    lemmas: tuple[str, str]


def replacements(tagged: Tagged) -> tuple[Replacement, ...]:
    """Return every way to replace one adjective or verb of a sentence."""
    made = []
    for index, word in enumerate(tagged.words):
        is_candidate = word.tag == "JJ" or word.tag.startswith("VB")
        if not is_candidate or not _is_alone(tagged, index):
            continue
        if not in_phrase(tagged.words, index) and not _is_emptied(tagged.words, index):
            replacement = _replacement(tagged.words, index)
            if replacement is not None:
                made.append(replacement)
    return tuple(made)


def _replacement(words: Sequence[Word], index: int) -> Replacement | None:
    """Return the first replacement of a word that fits in its frame."""
    word, part, around = words[index], "v", None
    if word.tag != "JJ":
        around = around_verb(words, index)
    if around is None and word.tag in {"JJ", "VBN", "VBG"}:
        part, around = "a", around_adjective(words, index)
    if around is None:
        return None
    lemma = word.lowercase if part == "a" else word.lemma
    for entry in entries().get((part, lemma), ()):
        if fits(entry, around):
            return _inflected(words, index, entry)
    return None


def _is_alone(tagged: Tagged, index: int) -> bool:
    """Return whether a word is no name, stands once in its sentence, and is not joined to another by a mark."""
    word = tagged.words[index]
    if word.text[0].isupper() and word_at(tagged.words, index - 1).tag not in {"", "."}:
        return False
    if sum(other.lemma == word.lemma for other in tagged.words) > 1:
        return False
    around = tagged.text[word.start - 1 : word.start] + tagged.text[word.end : word.end + 1]
    return "/" not in around and "-" not in around


def _is_emptied(words: Sequence[Word], index: int) -> bool:
    """Return whether a word is in a clause whose denial says nothing: ``than I thought``, ``until it starts``."""
    at = index - 1
    while word_at(words, at).tag in _WITHIN_CLAUSE and words[at].lowercase not in _EMPTIED:
        at -= 1
    if at < index - 1 and word_at(words, at).lowercase in _EMPTIED:
        return True
    # "What I thought it was", "the cook I think he is".
    before = word_at(words, index - 2)
    is_relative = before.tag.startswith("NN") or before.lowercase in {"what", "who", "which"}
    return words[index].lemma in {"think", "believe"} and word_at(words, index - 1).tag == "PRP" and is_relative


def _inflected(words: Sequence[Word], index: int, entry: Entry) -> Replacement | None:
    """Inflect a synonym and an antonym as the word is; None where that fails or one is in the sentence already."""
    lemmas = (entry.synonym, entry.antonym)
    if any(word.lemma in lemmas for word in words):
        return None
    tag = words[index].tag if entry.part == "v" else "JJ"
    if tag in {"VBP", "VBD"} and possible(words[index].lowercase) >= {"VB", "VBD"}:
        return None  # "they hurt it": now or then?
    synonym, antonym = inflected(entry.synonym, tag), inflected(entry.antonym, tag)
    if synonym is None or antonym is None:
        return None
    return Replacement(index, entry.part, synonym, antonym, lemmas)


# --- The list of replacements, and set phrases in which nothing is replaced ---


@cache
def entries() -> dict[tuple[str, str], tuple[Entry, ...]]:
    """Return the list, by part of speech and word."""
    text = files("embassay.data").joinpath("replacements.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    by_word: dict[tuple[str, str], tuple[Entry, ...]] = {}
    for row in rows:
        entry = Entry(
            _PARTS[row["part"]],
            row["word"],
            row["synonym"],
            row["antonym"],
            frames=wordset(row["frames"]),
            only=wordset(row["only"]),
            never=wordset(row["never"]),
        )
        key = entry.part, entry.word
        by_word[key] = (*by_word.get(key, ()), entry)
    return by_word


def fits(entry: Entry, around: Around) -> bool:
    """Return whether what stands around a word is what a line of the list asks for."""
    if around.frames.isdisjoint(entry.frames) or not entry.never.isdisjoint(around.near | around.marks):
        return False
    if entry.only and around.head not in entry.only:
        return False
    asked_marks = {"deg", "nodeg"} & entry.frames
    if "at" not in around.frames:
        asked_marks |= {"be"} & entry.frames
        subjects = entry.frames & _SUBJECTS
        if subjects and subjects.isdisjoint(around.marks):
            return False
    return asked_marks <= around.marks


def in_phrase(words: Sequence[Word], index: int) -> bool:
    """Return whether a word stands in a set phrase: the whole means something else than its words."""
    for name in (words[index].lemma, words[index].lowercase):
        for phrase, place in _phrases().get(name, ()):
            if _stands_at(phrase, words, index - place):
                return True
    return False


def _stands_at(phrase: Sequence[frozenset[str]], words: Sequence[Word], start: int) -> bool:
    """Return whether a phrase stands at a place; ``*`` is any word."""
    for place, alternatives in enumerate(phrase, start):
        word = word_at(words, place)
        if not word.text or ("*" not in alternatives and not {word.lemma, word.lowercase} & alternatives):
            return False
    return True


@cache
def _phrases() -> dict[str, list[tuple[tuple[frozenset[str], ...], int]]]:
    """Return the phrases that a word may stand in, and its place there, by the word."""
    phrases: dict[str, list[tuple[tuple[frozenset[str], ...], int]]] = defaultdict(list)
    for line in files("embassay.data").joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        phrase = tuple(frozenset(part.split("/")) for part in line.split())
        for place, alternatives in enumerate(phrase):
            for word in alternatives:
                phrases[word].append((phrase, place))
    return phrases
