"""Which synonym and which antonym of a word fit in its sentence.

HEROS's authors chose them by hand, 72 hours long (Chiang et al. 2023, section 2.2.3): fit for the context, of the same
sense, with the same preposition. Here a list of ours says for 500 words and frames which do (``replacements.tsv``); for
other words WordNet decides, where the word has one sense that outweighs the rest and a direct antonym in it.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embassay.testsets.english.frames import Around, around_adjective, around_verb
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.wordnet import Lexicon, Sense
from embassay.testsets.english.words import Tagged, Word, inflected

# --- Set phrases: runs of words in which none is exchanged, since the whole means something else than its ---

_ANY = frozenset({"*"})


def in_phrase(words: Sequence[Word], index: int) -> bool:
    """Say whether a word stands in a set phrase."""
    return any(
        _fits(phrase, words, index - place)
        for name in {words[index].lemma, words[index].lowercase}
        for phrase, place in _phrases().get(name, ())
    )


def _fits(phrase: Sequence[frozenset[str]], words: Sequence[Word], start: int) -> bool:
    """Say whether a phrase stands at a place."""
    there = words[start : start + len(phrase)] if start >= 0 else ()
    return len(there) == len(phrase) and all(
        part == _ANY or not part.isdisjoint({word.lemma, word.lowercase})
        for part, word in zip(phrase, there, strict=True)
    )


@cache
def _phrases() -> dict[str, list[tuple[tuple[frozenset[str], ...], int]]]:
    """Return the phrases that a word may stand in, and its place there, by the word."""
    found: dict[str, list[tuple[tuple[frozenset[str], ...], int]]] = defaultdict(list)
    for line in files("embassay.data").joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        phrase = tuple(frozenset(part.split("/")) for part in line.split())
        for place, part in enumerate(phrase):
            for name in part - _ANY:
                found[name].append((phrase, place))
    return dict(found)


# --- Which synonym and which antonym of a word fit in its sentence ---

_PARTS = {"adjective": "a", "verb": "v"}
_SUBJECTS = frozenset({"prs", "prs3", "it", "they"})
LISTED = "list of replacements"
SHARE = 0.75
"""What share of a word's uses the sense must have for WordNet to decide (each sense counted once more than met)."""
MET = 2
"""How often a synonym from WordNet must have been met in SemCor, at least."""
BLOCKED = frozenset(
    "let make help get set minimum maximum minimal maximal first last other same many few much past sleep".split()
)
"""Words that WordNet does not decide on: verbs of causing, words that count."""
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "de")
_STOP = frozenset(
    "a an the of or and to in on for with by as at from be is are being not that which it one's having".split()
)


_BEFORE_CLAUSES = frozenset("than as way until till before after once lest".split())
"""Words before a clause that a "not" does not go into well."""
_WITHIN = frozenset({"PRP", "DT", "PRP$", "NN", "NNS", "NNP", "JJ", "RB", "MD", "TO", "VBP", "VBZ", "VBD", "VB", "VBN"})


@dataclass(frozen=True)
class Entry:
    """A line of the list: a word, what may replace it, and where."""

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
    way
        Where they come from, for the data card: :data:`LISTED` or ``"WordNet"``.
    """

    index: int
    part: str
    synonym: str
    antonym: str
    lemmas: tuple[str, str]
    way: str


def replacements(tagged: Tagged, lexicon: Lexicon) -> tuple[Replacement, ...]:
    """Return every way to replace one adjective or verb of a sentence, those of the list before those of WordNet."""
    found: list[Replacement] = []
    for index, word in enumerate(tagged.words):
        part = {"JJ": "a", "VB": "v"}.get(word.tag[:2])
        if part is None or word.tag in {"JJR", "JJS"} or word.lemma in {"be", "have", "do"}:
            continue
        if not _alone(tagged, index) or in_phrase(tagged.words, index) or _compared(tagged.words, index):
            continue
        around = (around_adjective if part == "a" else around_verb)(tagged.words, index)
        if around is None and word.tag in {"VBN", "VBG"}:
            part, around = "a", around_adjective(tagged.words, index)
        if around is None:
            continue
        lemma = word.lowercase if part == "a" else word.lemma
        pairs = [(entry.synonym, entry.antonym) for entry in entries().get((part, lemma), ()) if fits(entry, around)]
        way = LISTED
        if not pairs and (part, lemma) not in entries():
            pairs, way = list(_of_wordnet(tagged, index, lemma, part, around, lexicon)), "WordNet"
        found += [made for pair in pairs[:1] if (made := _made(tagged.words, index, part, pair, way))]
    return tuple(sorted(found, key=lambda replacement: replacement.way != LISTED))


def _alone(tagged: Tagged, index: int) -> bool:
    """Say whether a word is no name, stands once in its sentence, and is not joined to another by a mark."""
    word, text = tagged.words[index], tagged.text
    if word.text[0].isupper() and index and tagged.words[index - 1].tag != ".":
        return False
    if sum(other.lemma == word.lemma for other in tagged.words) > 1:
        return False
    return text[word.start - 1 : word.start] not in {"/", "-", "'"} and text[word.end : word.end + 1] not in {"/", "-"}


def _compared(words: Sequence[Word], index: int) -> bool:
    """Say whether a word is in a clause whose denial says nothing: ``than I thought``, ``until it starts``."""
    at = index - 1
    while at >= 0 and words[at].tag in _WITHIN and words[at].lowercase not in _BEFORE_CLAUSES:
        at -= 1
    if 0 <= at < index - 1 and words[at].lowercase in _BEFORE_CLAUSES:
        return True
    if words[index].lemma not in {"think", "believe"} or index < 2 or words[index - 1].tag != "PRP":
        return False
    before = words[index - 2]  # "what I thought it was", "the cook I think he is"
    return (before.tag.startswith("NN") and before.text.islower()) or before.lowercase in {"what", "who", "which"}


def fits(entry: Entry, around: Around) -> bool:
    """Say whether what stands around a word is what a line of the list asks for."""
    if around.frames.isdisjoint(entry.frames) or not around.near.isdisjoint(entry.never):
        return False
    if entry.only and "at" in around.frames | {"at"} and around.head not in entry.only:
        return False
    if around.marks & entry.never:
        return False
    if "at" in around.frames:
        return not ({"deg", "nodeg"} & entry.frames) - around.marks
    subjects = entry.frames & _SUBJECTS
    if subjects and subjects.isdisjoint(around.marks):
        return False
    if "make" in around.marks and "be" in entry.frames and "make" not in entry.frames:
        return False
    return not ({"be", "deg", "nodeg"} & entry.frames) - around.marks - ({"be"} if "make" in around.marks else set())


@cache
def entries() -> dict[tuple[str, str], tuple[Entry, ...]]:
    """Return the list, by part of speech and word."""
    text = files("embassay.data").joinpath("replacements.tsv").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[Entry]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        part, sets = _PARTS[row["part"]], [frozenset(row[name].split()) for name in ("frames", "only", "never")]
        entry = Entry(part, row["word"], row["synonym"], row["antonym"], *sets)
        found.setdefault((part, row["word"]), []).append(entry)
    return {key: tuple(entries) for key, entries in found.items()}


def _made(words: Sequence[Word], index: int, part: str, pair: tuple[str, str], way: str) -> Replacement | None:
    """Inflect a synonym and an antonym as the word is; None where that fails or one is in the sentence already."""
    if {word.lemma for word in words} & set(pair) or {word.lowercase for word in words} & set(pair):
        return None
    tag, low = words[index].tag if part == "v" else "JJ", words[index].lowercase
    can = possible(low)
    if part == "v" and (("VB" if tag == "VBP" else tag) not in can or (tag in {"VBP", "VBD"} and {"VB", "VBD"} <= can)):
        return None  # "they hurt it": now or then?
    forms = [inflected(lemma, tag) for lemma in pair]
    if not forms[0] or not forms[1]:
        return None
    return Replacement(index, part, forms[0], forms[1], pair, way)


def _of_wordnet(
    tagged: Tagged, index: int, lemma: str, part: str, around: Around, lexicon: Lexicon
) -> Iterator[tuple[str, str]]:
    """Yield the synonym and antonym that WordNet has for a word whose sense is beyond doubt."""
    plain = {"at", "end"} if part == "a" else {"np", "npe"}
    if around.frames.isdisjoint(plain) or lemma in BLOCKED:
        return
    for opposite in lexicon.antonyms(lemma, part):
        sense = opposite.sense
        if not _sure(lemma, part, sense, tagged, index, lexicon) or not _opposed(lemma, opposite.lemma, part, lexicon):
            continue
        for synonym in lexicon.synonyms(lemma, part, sense.number):
            if synonym.isalpha() and _main(synonym, part, sense, lexicon) and not _opposed_form(lemma, synonym):
                yield synonym, opposite.lemma
                return


def _sure(lemma: str, part: str, sense: Sense, tagged: Tagged, index: int, lexicon: Lexicon) -> bool:
    """Say whether a word is used in a sense: by its share of all uses, or a lesser one and words of its gloss."""
    share = lexicon.share(lemma, part, sense.number)
    if share >= SHARE:
        return True
    context = {word.lemma for place, word in enumerate(tagged.words) if place != index} - _STOP
    overlap = [
        len(context & set(re.findall(r"[a-z]+", other.synset.gloss.lower()))) for other in lexicon.senses(lemma, part)
    ]
    return share >= SHARE / 1.5 and overlap[sense.number - 1] > max(
        [0, *overlap[: sense.number - 1], *overlap[sense.number :]]
    )


def _main(lemma: str, part: str, sense: Sense, lexicon: Lexicon) -> bool:
    """Say whether a synonym is well attested and means first of all what the set means."""
    first = lexicon.senses(lemma, part)[:1]
    return bool(first) and first[0].synset == sense.synset and first[0].count >= MET


def _opposed(lemma: str, other: str, part: str, lexicon: Lexicon) -> bool:
    """Say whether an antonym is one word that is well attested, or the word itself with a prefix."""
    return other.isalpha() and (_opposed_form(lemma, other) or lexicon.count(other, part) >= MET)


def _opposed_form(lemma: str, other: str) -> bool:
    longer, shorter = sorted((lemma, other), key=len, reverse=True)
    return any(longer == prefix + shorter for prefix in _PREFIXES)
