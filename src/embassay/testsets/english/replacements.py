"""The synonym and the antonym that can replace a word of a sentence.

The authors of HEROS chose them by hand in 72 hours (Chiang et al. 2023, section 2.2.3), so that sense, context and
preposition fit. Here our own list of 753 words and frames is used (``replacements.tsv``), or one of the user.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator

from embassay.core.store.paths import source_path
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Stripped, TableRow
from embassay.testsets.english.syntax import Around, around_adjective, around_verb, dependents
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import Tagged, Words, inflected, word_at

LISTED = "list of replacements"
DATA = Path(str(files("embassay.core.data")))
_SUBJECTS = frozenset({"prs", "prs3", "it", "they"})
_EMPTIED = wordset("than as way until till before after once lest")
"""Words before a clause that cannot sensibly be negated: ``than I thought``, ``until it starts``."""
WordSet = Annotated[frozenset[str], BeforeValidator(wordset)]


class ListedWord(TableRow):
    """A line of the list: a word, its replacements, and the contexts in which they fit.

    Attributes
    ----------
    frames
        The frames in which it may be replaced, and the marks that its surroundings must have (:class:`Around`).
    only
        The nouns before which an adjective may be replaced; empty for all nouns.
    never
        Nearby words, or marks, that rule the replacement out.
    """

    part: Literal["adjective", "verb"]
    word: Stripped
    synonym: Stripped
    antonym: Stripped
    frames: WordSet = frozenset()
    only: WordSet = frozenset()
    never: WordSet = frozenset()


@dataclass(frozen=True)
class Replacement:
    """A word of a sentence and its inflected replacements.

    Attributes
    ----------
    index
        The word's index in the sentence.
    synonym, antonym
        The replacements, inflected like the word.
    lemmas
        The base forms of synonym and antonym.
    """

    index: int
    synonym: str
    antonym: str
    lemmas: tuple[str, str]


Listed = Mapping[tuple[str, str], list[ListedWord]]
"""The entries of a list by (part of speech, word)."""
Phrase = tuple[frozenset[str], ...]
"""For each position of a set phrase, the alternative words; ``*`` stands for any word."""


def replacements(tagged: Tagged, listed: Listed) -> list[Replacement]:
    """Return the replacements of all adjectives and verbs of a sentence that can be replaced."""
    made = list[Replacement]()
    for index in range(len(tagged.words)):
        replacement = _replacement(tagged.words, index, listed) if is_replaceable(tagged, index) else None
        if replacement is not None:
            made.append(replacement)
    return made


def is_replaceable(tagged: Tagged, index: int) -> bool:
    """Return whether a word is an adjective or a verb by itself, in a clause that can be negated."""
    word = tagged.words[index]
    is_candidate = word.tag == "JJ" or word.tag.startswith("VB")
    if not is_candidate or not _is_single_word(tagged, index):
        return False
    return not in_phrase(tagged.words, index) and not _is_in_empty_clause(tagged.words, index)


def _replacement(words: Words, index: int, listed: Listed) -> Replacement | None:
    """Return the first replacement of a word that fits its frame; None if none does."""
    word = words[index]
    key, around = ("verb", word.lemma), None
    if word.tag != "JJ":
        around = around_verb(words, index)
    # A participle that is not a verb here may be an adjective: "I was bored".
    if around is None and word.tag in {"JJ", "VBN", "VBG"}:
        key, around = ("adjective", word.lowercase), around_adjective(words, index)
    if around is None:
        return None
    for entry in listed.get(key, ()):
        if fits(entry, around):
            return _inflected(words, index, entry)
    return None


def _is_single_word(tagged: Tagged, index: int) -> bool:
    """Return whether a word is not a name, occurs once in its sentence, and is not joined to another by a mark."""
    word = tagged.words[index]
    is_first = word_at(tagged.words, index - 1).tag in {"", "."}
    if word.text[0].isupper() and not is_first:
        return False
    occurrences = sum(other.lemma == word.lemma for other in tagged.words)
    if occurrences > 1:
        return False
    # Part of a compound ("well-known") or of alternatives ("and/or") is not a word of its own.
    before = tagged.text[word.start - 1 : word.start]
    after = tagged.text[word.end : word.end + 1]
    joining_marks = {"/", "-"}
    return before not in joining_marks and after not in joining_marks


def _is_in_empty_clause(words: Words, index: int) -> bool:
    """Return whether a word's clause cannot sensibly be negated: ``than I thought``, ``until it starts``."""
    word, verb = words[index], index
    if not word.tag.startswith("VB"):
        verb = word.head
    return any(words[place].lowercase in _EMPTIED for place in dependents(words, verb) if place < verb)


def _inflected(words: Words, index: int, entry: ListedWord) -> Replacement | None:
    """Inflect the synonym and the antonym like the word; None if that fails or the sentence already has one of them."""
    lemmas = (entry.synonym, entry.antonym)
    if any(word.lemma in lemmas for word in words):
        return None
    tag = words[index].tag if entry.part == "verb" else "JJ"
    forms = list[str]()
    for lemma in lemmas:
        # Of several words, such as "look for", the first is inflected.
        first, *others = lemma.split()
        form = inflected(first, tag)
        if form is None:
            return None
        forms.append(" ".join([form, *others]))
    return Replacement(index, forms[0], forms[1], lemmas)


# --- The list of replacements, and set phrases whose words are not replaced ---


def word_list(own: str = "") -> Listed:
    """Return the list of the package, or the user's.

    Parameters
    ----------
    own
        A table in the format of ``replacements.tsv``, in place of it; empty for none. Without ``frames``, ``only`` and
        ``never``, an entry fits anywhere.

    Raises
    ------
    SourceError
        With file, line and column, for a file that cannot be read or a line that is no entry.
    """
    return _read(source_path(Path(own))) if own else listed_words()


@cache
def listed_words() -> Listed:
    """Return the entries of the package's list."""
    return _read(DATA / "replacements.tsv")


def _read(path: Path) -> Listed:
    by_word = defaultdict[tuple[str, str], list[ListedWord]](list)
    for entry in read_table(path).select(ListedWord):
        by_word[entry.part, entry.word].append(entry)
    return by_word


def fits(entry: ListedWord, around: Around) -> bool:
    """Return whether the surroundings of a word match an entry of the list."""
    if entry.frames and around.frames.isdisjoint(entry.frames):
        return False
    if not entry.never.isdisjoint(around.near | around.marks):
        return False
    if entry.only and around.head not in entry.only:
        return False
    required_marks = {"deg", "nodeg"} & entry.frames
    # An adjective before its noun ("at") has neither a copula nor a subject.
    if "at" not in around.frames:
        required_marks |= {"be"} & entry.frames
        subjects = entry.frames & _SUBJECTS
        if subjects and subjects.isdisjoint(around.marks):
            return False
    return required_marks <= around.marks


def in_phrase(words: Words, index: int) -> bool:
    """Return whether a word is part of a set phrase, whose meaning is not that of its words."""
    for name in (words[index].lemma, words[index].lowercase):
        for phrase, position in _phrases().get(name, ()):
            if _starts_at(phrase, words, index - position):
                return True
    return False


def _starts_at(phrase: Phrase, words: Words, start: int) -> bool:
    """Return whether a phrase occurs in a sentence from index ``start`` on."""
    for index, alternatives in enumerate(phrase, start):
        word = word_at(words, index)
        if not word.text or alternatives.isdisjoint({"*", word.lemma, word.lowercase}):
            return False
    return True


@cache
def _phrases() -> Mapping[str, list[tuple[Phrase, int]]]:
    """Return (phrase, position of the word in it) of all set phrases, by their words."""
    phrases = defaultdict[str, list[tuple[Phrase, int]]](list)
    for line in (DATA / "phrases.txt").read_text(encoding="utf-8").splitlines():
        # A phrase has words or alternatives at each position: "bad luck/guy".
        phrase = tuple(frozenset(part.split("/")) for part in line.split())
        for position, alternatives in enumerate(phrase):
            for word in alternatives:
                phrases[word].append((phrase, position))
    return phrases
