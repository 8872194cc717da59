"""Edits beyond HEROS: another number, another place of the same kind, subject and object exchanged.

Each is made only where it certainly changes what is said and nothing else; None everywhere else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from embassay.testsets.english.frames import PERSONS, noun_phrase
from embassay.testsets.english.wordnet import Lexicon
from embassay.testsets.english.words import Tagged, Word, substituted, word_at

NAMES = ("Jackie", "Robin", "Casey", "Jamie", "Morgan")
"""Names of any gender, for a placeholder's."""
PLACES = ("country", "city", "capital", "state", "continent", "island", "river", "port", "province", "county")
"""Kinds of place that are told apart, by their ending: ``european_country``. A person's name would ask for pronouns."""
SPELT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_FIXED = re.compile(r"(?i)24|7|9|11|100|101|180|360|404|420|50|69|1")
"""Numbers that often mean something else than a count."""
_SYMMETRIC = frozenset(
    "be become remain seem resemble equal marry date meet fight match have mean include involve contain join divorce "
    "know need want like get cost take total weigh last kiss hug begin start create "
    "establish found open".split()
)
"""Verbs that say the same the other way around, or hardly anything."""
_WITH_ARTICLE = frozenset("republic states kingdom islands emirates netherlands philippines midwest cali".split())
"""Words of names that need an article, and names that are no place of a kind."""
Place = tuple[str, str]
"""The kind of a name, and its part in the sentence: with or without an article."""


def number(tagged: Tagged, chance: np.random.Generator) -> str | None:
    """Return the sentence with one numeral changed, to another of as many digits; None for a sentence without one."""
    for place, word in enumerate(tagged.words):
        low, before = word.lowercase, word_at(tagged.words, place - 1).lowercase
        after = tagged.words[place + 1 : place + 2]
        counts = bool(after) and after[0].tag in {"NNS"} and after[0].lowercase not in {"s", "nd", "cents"}
        if not counts or before in {"of", "number", "vs", "-", "/", "#", "or", "and", "to", "the"}:
            continue
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
        known: dict[Place, set[str]] = defaultdict(set)
        for sentence in sentences:
            for start, end, kind in self._names(sentence):
                known[kind].add(_phrase(sentence, start, end))
        self._known = {kind: sorted(names) for kind, names in known.items()}

    def entity(self, tagged: Tagged, chance: np.random.Generator) -> str | None:
        """Return the sentence with one name replaced by another of the corpus of the same kind; None for none."""
        for start, end, kind in self._names(tagged):
            name = _phrase(tagged, start, end)
            known = NAMES if kind[0] == "placeholder" else self._known.get(kind, [])
            there = tagged.text.lower()
            others = [other for other in known if other.lower() not in there]
            if others and tagged.text.count(name) == 1:
                other = others[int(chance.integers(len(others)))]
                return substituted(tagged, {**dict.fromkeys(range(start + 1, end), ""), start: other})
        return None

    def _names(self, tagged: Tagged) -> Iterator[tuple[int, int, Place]]:
        """Yield (start, end, kind) of the names whose kind is certain."""
        words, at = tagged.words, 0
        while at < len(words):
            end = at
            while end < len(words) and words[end].tag in {"NNP", "NNPS"} and words[end].text[0].isupper():
                end += 1
            if end > at:
                kind = self._kind(tuple(word.text for word in words[at:end]))
                alone = end == len(words) or words[end].tag not in {"NN", "NNS", "CD", "JJ"}
                whole = at == 0 or words[at - 1].tag not in {"JJ", "NN", "RB"}
                if kind and whole and (alone or word_at(words, end).lowercase == "'s"):
                    yield at, end, (kind, "the" if word_at(words, at - 1).lowercase == "the" else "")
            at = max(end, at + 1)

    def _kind(self, name: tuple[str, ...]) -> str | None:
        if name == (self._placeholder,):
            return "placeholder"
        if any(word.isupper() or word.lower() in _WITH_ARTICLE for word in name):
            return None
        kind = self._lexicon.kind("_".join(name).lower())
        return kind if kind and kind.endswith(PLACES) else None


def role_swap(tagged: Tagged) -> str | None:
    """Return the sentence with subject and object exchanged: persons or names, of the same number, verb between them.

    None unless the sentence begins with the subject and its object ends the clause.
    """
    words = tagged.words
    subject = noun_phrase(words, 0)
    if subject is None:
        return None
    verb = subject[1]
    while verb < len(words) and words[verb].tag in {"RB", "MD"}:
        verb += 1
    if verb >= len(words) or words[verb].lemma in _SYMMETRIC or words[verb].tag not in {"VBD", "VBZ", "VBP", "VB"}:
        return None
    goal = noun_phrase(words, verb + 1)
    if goal is None or not _swappable(words, subject[0], goal[0]) or not _free(words, 0, verb + 1, goal):
        return None
    if goal[1] < len(words) and (
        words[goal[1]].tag in {"POS", "TO"} or words[goal[1]].tag[:2] in {"VB", "NN", "JJ", "PR"}
    ):
        return None
    first, second = _phrase(tagged, 0, subject[1]), _phrase(tagged, verb + 1, goal[1])
    named = any(word.text[0].isupper() for word in words[1 : subject[1]]) or words[0].tag in {"NNP", "NNPS"}
    first = first if named else first[0].lower() + first[1:]
    middle = tagged.text[words[subject[1] - 1].end : words[verb + 1].start]
    return second[0].upper() + second[1:] + middle + first + tagged.text[words[goal[1] - 1].end :]


def _swappable(words: Sequence[Word], one: int, other: int) -> bool:
    """Say whether two heads can both act and both be acted on, and agree in number."""
    kinds = []
    for place in (one, other):
        word = words[place]
        before = words[place - 1].tag if place else ""
        if word.tag == "NNP" and not word.text.isupper() and before not in {"NNP", "DT", "JJ", "NN"}:
            kinds.append("name")
        elif word.tag in {"NN", "NNS"} and (word.lemma in PERSONS or word.lowercase in PERSONS):
            kinds.append("person")
        else:
            return False
    plural = [
        words[place].tag in {"NNS", "NNPS"} or words[place].lowercase in {"people", "men"} for place in (one, other)
    ]
    return plural[0] == plural[1] and words[one].lemma != words[other].lemma


def _free(words: Sequence[Word], start: int, second: int, goal: tuple[int, int]) -> bool:
    """Say whether neither phrase has a possessive, which would refer to the other."""
    return not any(words[p].tag in {"PRP$", "POS"} for p in (*range(start, second), *range(second, goal[1])))


def _phrase(tagged: Tagged, start: int, end: int) -> str:
    return tagged.text[tagged.words[start].start : tagged.words[end - 1].end]
