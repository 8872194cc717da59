"""The synonym and the antonym that can replace a word of a sentence.

The authors of HEROS chose them by hand in 72 hours (Chiang et al. 2023, section 2.2.3), so that sense, context and
preposition fit. Here our own list of 753 words and frames is used (``replacements.tsv``), or one of the user.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from embassay.core.store.paths import source_path
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Row, Stripped
from embassay.testsets.english.syntax import Around, around_adjective, around_verb, dependents
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.words import Tagged, Words, inflected, word_at

LISTED = "list of replacements"
_PARTS = {"adjective": "a", "verb": "v"}
_SUBJECTS = frozenset({"prs", "prs3", "it", "they"})
_EMPTIED = wordset("than as way until till before after once lest")
"""Words before a clause that cannot sensibly be negated: ``than I thought``, ``until it starts``."""


@dataclass(frozen=True)
class ListedWord:
    """A line of the list: a word, its replacements, and the contexts in which they fit.

    Attributes
    ----------
    part
        ``a`` for an adjective, ``v`` for a verb.
    frames
        The frames in which it may be replaced, and the marks that its surroundings must have (:class:`Around`).
    only
        The nouns before which an adjective may be replaced; empty for all nouns.
    never
        Nearby words, or marks, that rule the replacement out.
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
Phrases = Mapping[str, list[tuple[Phrase, int]]]
"""(phrase, position of the word in it) of all phrases that a word occurs in, by the word."""


@dataclass(frozen=True)
class WordLists:
    """What is replaced by what, and the set phrases whose words are not replaced."""

    listed: Listed
    phrases: Phrases


def replacements(tagged: Tagged, lists: WordLists) -> tuple[Replacement, ...]:
    """Return the replacements of all adjectives and verbs of a sentence that can be replaced."""
    made = list[Replacement]()
    for index in range(len(tagged.words)):
        if not is_replaceable(tagged, index, lists.phrases):
            continue
        replacement = _replacement(tagged.words, index, lists.listed)
        if replacement is not None:
            made.append(replacement)
    return tuple(made)


def is_replaceable(tagged: Tagged, index: int, phrases: Phrases) -> bool:
    """Return whether a word is an adjective or a verb by itself, in a clause that can be negated."""
    word = tagged.words[index]
    is_candidate = word.tag == "JJ" or word.tag.startswith("VB")
    if not is_candidate or not _is_single_word(tagged, index):
        return False
    return not in_phrase(tagged.words, index, phrases) and not _is_in_empty_clause(tagged.words, index)


def _replacement(words: Words, index: int, listed: Listed) -> Replacement | None:
    """Return the first replacement of a word that fits its frame; None if none does."""
    word, part, around = words[index], "v", None
    if word.tag != "JJ":
        around = around_verb(words, index)
    # A participle that is not a verb here may be an adjective: "I was bored".
    if around is None and word.tag in {"JJ", "VBN", "VBG"}:
        part, around = "a", around_adjective(words, index)
    if around is None:
        return None
    listed_form = word.lemma
    if part == "a":
        listed_form = word.lowercase
    for entry in listed.get((part, listed_form), ()):
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
    tag = "JJ"
    if entry.part == "v":
        tag = words[index].tag
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


class ListedRow(Row):
    """An entry of a user's list; without ``frames``, ``only`` and ``never`` it fits anywhere."""

    part: Literal["adjective", "verb"]
    word: Stripped
    synonym: Stripped
    antonym: Stripped
    frames: str = ""
    only: str = ""
    never: str = ""


def word_lists(own: str = "") -> WordLists:
    """Return the lists of the package, or the user's.

    Parameters
    ----------
    own
        A table in the format of ``replacements.tsv``, in place of it; empty for none.

    Raises
    ------
    SourceError
        With file, line and column, for a file that cannot be read or a line that is no entry.
    """
    content = files("embassay.core.data").joinpath("phrases.txt").read_text(encoding="utf-8")
    listed = _read(source_path(Path(own))) if own else listed_words()
    return WordLists(listed, _phrases(content.splitlines()))


def _read(path: Path) -> Listed:
    """Return the entries of a user's list."""
    return _by_word(row.model_dump() for row in read_table(path).select(ListedRow))


@cache
def listed_words() -> Listed:
    """Return the entries of the package's list."""
    text = files("embassay.core.data").joinpath("replacements.tsv").read_text(encoding="utf-8")
    return _by_word(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def _by_word(rows: Iterable[Mapping[str, str]]) -> Listed:
    """Return the entries of rows by their words."""
    by_word = defaultdict[tuple[str, str], list[ListedWord]](list)
    for row in rows:
        entry = ListedWord(
            _PARTS[row["part"]],
            row["word"],
            row["synonym"],
            row["antonym"],
            frames=wordset(row["frames"]),
            only=wordset(row["only"]),
            never=wordset(row["never"]),
        )
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


def in_phrase(words: Words, index: int, phrases: Phrases) -> bool:
    """Return whether a word is part of a set phrase, whose meaning is not that of its words."""
    for name in (words[index].lemma, words[index].lowercase):
        for phrase, position in phrases.get(name, ()):
            if _starts_at(phrase, words, index - position):
                return True
    return False


def _starts_at(phrase: Phrase, words: Words, start: int) -> bool:
    """Return whether a phrase occurs in a sentence from index ``start`` on."""
    for index, alternatives in enumerate(phrase, start):
        word = word_at(words, index)
        matches = "*" in alternatives or word.lemma in alternatives or word.lowercase in alternatives
        if not word.text or not matches:
            return False
    return True


def _phrases(lines: Iterable[str]) -> Phrases:
    """Return the phrases of some lines by their words."""
    phrases: dict[str, list[tuple[Phrase, int]]] = defaultdict(list)
    for line in lines:
        # A phrase has words or alternatives at each position: "bad luck/guy".
        phrase = tuple(frozenset(part.split("/")) for part in line.split())
        for position, alternatives in enumerate(phrase):
            for word in alternatives:
                phrases[word].append((phrase, position))
    return phrases
