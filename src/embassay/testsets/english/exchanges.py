"""Edits beyond HEROS: another number, another place of the same kind, subject and object exchanged.

Each is made only where it certainly changes what is said and nothing else; None everywhere else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from embassay.testsets.english.noun_phrases import PERSONS, noun_phrase
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, Word, substituted, word_at

NAMES = ("Jackie", "Robin", "Casey", "Jamie", "Morgan")
"""Names of any gender, for a placeholder's."""
PLACES = ("country", "city", "capital", "state", "continent", "island", "river", "port", "province", "county")
"""Kinds of place that are told apart, by their ending: ``european_country``. A person's name would ask for pronouns."""
SPELT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_FIXED = re.compile(r"(?i)24|7|9|11|100|101|180|360|404|420|50|69|1")
"""Numbers that often mean something else than a count."""
_SYMMETRIC = wordset(
    "be become remain seem resemble equal marry date meet fight match have mean include involve contain join divorce "
    "know need want like get cost take total weigh last kiss hug begin start create "
    "establish found open"
)
"""Verbs that say the same the other way around, or hardly anything."""
_WITH_ARTICLE = wordset("republic states kingdom islands emirates netherlands philippines midwest cali")
"""Words of names that need an article, and names that are no place of a kind."""
_NOT_A_COUNT = frozenset({"of", "number", "vs", "-", "/", "#", "or", "and", "to", "the"})
"""Words before a number that is a name, a share or an end of a range."""


@dataclass(frozen=True)
class _Name:
    """A name in a sentence: the indices of its words, and its kind; ``the`` ends the kind of a name with an article."""

    start: int
    end: int
    kind: str


def number(tagged: Tagged, chance: np.random.Generator) -> str | None:
    """Return the sentence with one numeral changed, to another of as many digits; None for a sentence without one."""
    for place, word in enumerate(tagged.words):
        is_count = word_at(tagged.words, place + 1).tag == "NNS"
        if not is_count or word_at(tagged.words, place - 1).lowercase in _NOT_A_COUNT:
            continue
        low = word.lowercase
        if low in SPELT:
            others = [other for other in SPELT if other != low]
            return substituted(tagged, {place: others[int(chance.integers(len(others)))]})
        if re.fullmatch(r"[2-9]|[1-9]\d{1,3}", low) and not _FIXED.fullmatch(low):
            return substituted(tagged, {place: _other_number(int(low), chance)})
    return None


def _other_number(value: int, chance: np.random.Generator) -> str:
    """Return another number of as many digits, at least a quarter away, as round as this one, never 1."""
    step = 10 if value % 10 == 0 else 1
    low, high = max(2, 10 ** (len(str(value)) - 1)), 10 ** len(str(value))
    others = [n for n in range(low, high) if n % step == 0 and abs(n - value) * 4 >= value and n % 10 != 1]
    return str(others[int(chance.integers(len(others)))])


class Names:
    """The names of a corpus by their kind, as WordNet and the placeholder tell it."""

    def __init__(self, sentences: Iterable[Tagged], lexicon: Lexicon, placeholder: str):
        """Collect them."""
        self._lexicon, self._placeholder = lexicon, placeholder
        names: dict[str, set[str]] = defaultdict(set)
        for sentence in sentences:
            for name in self._names(sentence):
                names[name.kind].add(_phrase(sentence, name.start, name.end))
        self._of_kind = {kind: sorted(of_kind) for kind, of_kind in names.items()}

    def entity(self, tagged: Tagged, chance: np.random.Generator) -> str | None:
        """Return the sentence with one name replaced by another of the corpus of the same kind; None for none."""
        for name in self._names(tagged):
            text = _phrase(tagged, name.start, name.end)
            same_kind = NAMES if name.kind == "placeholder" else self._of_kind.get(name.kind, [])
            others = [other for other in same_kind if other.lower() not in tagged.text.lower()]
            if others and tagged.text.count(text) == 1:
                other = others[int(chance.integers(len(others)))]
                rest = dict.fromkeys(range(name.start + 1, name.end), "")
                return substituted(tagged, {name.start: other, **rest})
        return None

    def _names(self, tagged: Tagged) -> Iterator[_Name]:
        """Yield the names whose kind is certain."""
        words, start = tagged.words, 0
        while start < len(words):
            end = start
            while word_at(words, end).tag in {"NNP", "NNPS"} and words[end].text[0].isupper():
                end += 1
            if end > start:
                before, after = word_at(words, start - 1), word_at(words, end)
                kind = self._kind(words[start:end])
                # "Young Texas" and "Texas oil" name something else.
                if kind and before.tag not in {"JJ", "NN", "RB"} and after.tag not in {"NN", "NNS", "CD", "JJ"}:
                    yield _Name(start, end, f"{kind} the" if before.lowercase == "the" else kind)
            start = max(end, start + 1)

    def _kind(self, words: Sequence[Word]) -> str | None:
        """Return the kind of a name, where it is the placeholder's or that of a place."""
        if [word.text for word in words] == [self._placeholder]:
            return "placeholder"
        if any(word.text.isupper() or word.lowercase in _WITH_ARTICLE for word in words):
            return None
        kind = self._lexicon.kind("_".join(word.lowercase for word in words))
        return kind if kind and kind.endswith(PLACES) else None


def role_swap(tagged: Tagged) -> str | None:
    """Return the sentence with subject and object exchanged: persons or names, of the same number, verb between them.

    None unless the sentence begins with the subject and its object ends the clause, or a preposition follows.
    """
    words = tagged.words
    subject = noun_phrase(words, 0)
    if subject is None:
        return None
    verb = subject.end
    while word_at(words, verb).tag in {"RB", "MD"}:
        verb += 1
    if word_at(words, verb).tag not in {"VBD", "VBZ", "VBP", "VB"} or words[verb].lemma in _SYMMETRIC:
        return None
    goal = noun_phrase(words, verb + 1)
    if goal is None or word_at(words, goal.end).tag[:2] in {"PO", "TO", "VB", "NN", "JJ", "PR"}:
        return None
    # A possessive would refer to the other phrase.
    if any(word.tag in {"PRP$", "POS"} for word in words[: goal.end]):
        return None
    kinds = {_person_kind(words, subject.head), _person_kind(words, goal.head)}
    if len(kinds) > 1 or None in kinds:
        return None
    first, second = _phrase(tagged, 0, subject.end), _phrase(tagged, verb + 1, goal.end)
    if words[0].tag not in {"NNP", "NNPS"}:
        first = first[0].lower() + first[1:]
    middle = tagged.text[words[subject.end - 1].end : words[verb + 1].start]
    return second[0].upper() + second[1:] + middle + first + tagged.text[words[goal.end - 1].end :]


def _person_kind(words: Sequence[Word], head: int) -> str | None:
    """Return ``name``, ``person`` or ``persons`` for a noun of somebody who can both act and be acted on."""
    word, before = words[head], word_at(words, head - 1).tag
    if word.tag == "NNP":
        return "name" if not word.text.isupper() and before not in {"NNP", "DT", "JJ", "NN"} else None
    if word.tag not in {"NN", "NNS"} or (word.lemma not in PERSONS and word.lowercase not in PERSONS):
        return None
    return "persons" if word.tag == "NNS" or word.lowercase in {"people", "men"} else "person"


def _phrase(tagged: Tagged, start: int, end: int) -> str:
    return tagged.text[tagged.words[start].start : tagged.words[end - 1].end]
