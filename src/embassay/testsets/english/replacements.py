"""Which synonym and which antonym of a word fit in its sentence.

HEROS's authors chose them by hand, 72 hours long (Chiang et al. 2023, section 2.2.3): fit for the context, of the same
sense, with the same preposition. Here a list of ours says for 500 words and frames which do (``replacements.tsv``); for
other words WordNet decides, where the word has one sense that outweighs the rest and a direct antonym in it.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embassay.testsets.english.frames import Around, around_adjective, around_verb
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.word_classes import wordset
from embassay.testsets.english.wordnet import Lexicon, Sense
from embassay.testsets.english.words import Tagged, Word, inflected, word_at

LISTED = "list of replacements"
SHARE = 0.75
"""What share of a word's uses the sense must have for WordNet to decide (with add-one smoothing)."""
SHARE_IN_CONTEXT = 0.5
"""What share is enough where words of the sentence stand in the gloss of the sense."""
FEWEST = 2
"""How often a synonym from WordNet must occur in SemCor, at least."""
BLOCKED = wordset(
    "let make help get set minimum maximum minimal maximal first last other same many few much past sleep"
)
"""Words that WordNet does not decide on: verbs of causing, words that count."""
_PARTS = {"adjective": "a", "verb": "v"}
_SUBJECTS = frozenset({"prs", "prs3", "it", "they"})
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "de")
_STOP_WORDS = wordset(
    "a an the of or and to in on for with by as at from be is are being not that which it one's having"
)
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
    made = []
    for index, word in enumerate(tagged.words):
        is_candidate = word.tag == "JJ" or word.tag.startswith("VB")
        if not is_candidate or not _is_alone(tagged, index):
            continue
        if not in_phrase(tagged.words, index) and not _is_emptied(tagged.words, index):
            made.append(_replacement(tagged, index, lexicon))
    return tuple(sorted(filter(None, made), key=lambda replacement: replacement.way != LISTED))


def _replacement(tagged: Tagged, index: int, lexicon: Lexicon) -> Replacement | None:
    """Return the first replacement of a word that fits in its frame."""
    word, part, around = tagged.words[index], "v", None
    if word.tag != "JJ":
        around = around_verb(tagged.words, index)
    if around is None and word.tag in {"JJ", "VBN", "VBG"}:
        part, around = "a", around_adjective(tagged.words, index)
    if around is None:
        return None
    lemma = word.lowercase if part == "a" else word.lemma
    if (part, lemma) in entries():
        for entry in entries()[part, lemma]:
            if fits(entry, around):
                return _inflected(tagged.words, index, part, (entry.synonym, entry.antonym), LISTED)
        return None
    if around.frames.isdisjoint({"at", "end"} if part == "a" else {"np", "npe"}):
        return None
    pair = _of_wordnet(tagged, index, lemma, part, lexicon)
    return None if pair is None else _inflected(tagged.words, index, part, pair, "WordNet")


def _is_alone(tagged: Tagged, index: int) -> bool:
    """Say whether a word is no name, stands once in its sentence, and is not joined to another by a mark."""
    word = tagged.words[index]
    if word.text[0].isupper() and word_at(tagged.words, index - 1).tag not in {"", "."}:
        return False
    if sum(other.lemma == word.lemma for other in tagged.words) > 1:
        return False
    around = tagged.text[word.start - 1 : word.start] + tagged.text[word.end : word.end + 1]
    return "/" not in around and "-" not in around


def _is_emptied(words: Sequence[Word], index: int) -> bool:
    """Say whether a word is in a clause whose denial says nothing: ``than I thought``, ``until it starts``."""
    at = index - 1
    while word_at(words, at).tag in _WITHIN_CLAUSE and words[at].lowercase not in _EMPTIED:
        at -= 1
    if at < index - 1 and word_at(words, at).lowercase in _EMPTIED:
        return True
    # "What I thought it was", "the cook I think he is".
    before = word_at(words, index - 2)
    is_relative = before.tag.startswith("NN") or before.lowercase in {"what", "who", "which"}
    return words[index].lemma in {"think", "believe"} and word_at(words, index - 1).tag == "PRP" and is_relative


def _inflected(words: Sequence[Word], index: int, part: str, pair: tuple[str, str], way: str) -> Replacement | None:
    """Inflect a synonym and an antonym as the word is; None where that fails or one is in the sentence already."""
    if any(word.lemma in pair for word in words):
        return None
    tag = words[index].tag if part == "v" else "JJ"
    can = possible(words[index].lowercase)
    if tag in {"VBP", "VBD"} and {"VB", "VBD"} <= can:
        return None  # "they hurt it": now or then?
    synonym, antonym = inflected(pair[0], tag), inflected(pair[1], tag)
    if synonym is None or antonym is None:
        return None
    return Replacement(index, part, synonym, antonym, pair, way)


# --- The list of replacements, and set phrases in which nothing is replaced ---


@cache
def entries() -> dict[tuple[str, str], tuple[Entry, ...]]:
    """Return the list, by part of speech and word."""
    text = files("embassay.data").joinpath("replacements.tsv").read_text(encoding="utf-8")
    lines: dict[tuple[str, str], tuple[Entry, ...]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        part, word = _PARTS[row["part"]], row["word"]
        conditions = [wordset(row[name]) for name in ("frames", "only", "never")]
        entry = Entry(part, word, row["synonym"], row["antonym"], *conditions)
        lines[part, word] = (*lines.get((part, word), ()), entry)
    return lines


def fits(entry: Entry, around: Around) -> bool:
    """Say whether what stands around a word is what a line of the list asks for."""
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
    """Say whether a word stands in a set phrase: the whole means something else than its words."""
    for name in (words[index].lemma, words[index].lowercase):
        for phrase, place in _phrases().get(name, ()):
            if _stands_at(phrase, words, index - place):
                return True
    return False


def _stands_at(phrase: Sequence[frozenset[str]], words: Sequence[Word], start: int) -> bool:
    """Say whether a phrase stands at a place; ``*`` is any word."""
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


# --- What WordNet has for a word that the list lacks ---


def _of_wordnet(tagged: Tagged, index: int, lemma: str, part: str, lexicon: Lexicon) -> tuple[str, str] | None:
    """Return the synonym and antonym that WordNet has for a word whose sense is beyond doubt."""
    if lemma in BLOCKED:
        return None
    for opposite in lexicon.antonyms(lemma, part):
        sense, antonym = opposite.sense, opposite.lemma
        is_attested = lexicon.count(antonym, part) >= FEWEST or _differ_by_prefix(lemma, antonym)
        if not antonym.isalpha() or not is_attested or not _has_sense(lemma, part, sense, tagged, index, lexicon):
            continue
        for synonym in lexicon.synonyms(lemma, part, sense.number):
            if synonym.isalpha() and _is_main_sense(synonym, part, sense, lexicon):
                return synonym, antonym
    return None


def _has_sense(lemma: str, part: str, sense: Sense, tagged: Tagged, index: int, lexicon: Lexicon) -> bool:
    """Say whether a word is used in a sense: by its share of all uses, or a lesser one and words of its gloss.

    The gloss decides as in Lesk (1986), where it shares more words with the sentence than those of the other senses.
    """
    share = lexicon.share(lemma, part, sense.number)
    if share < SHARE_IN_CONTEXT or share >= SHARE:
        return share >= SHARE
    context = {word.lemma for place, word in enumerate(tagged.words) if place != index} - _STOP_WORDS
    shared_words = {}
    for other in lexicon.senses(lemma, part):
        gloss = set(re.findall(r"[a-z]+", other.synset.gloss.lower()))
        shared_words[other.number] = len(gloss & context)
    others = [count for number, count in shared_words.items() if number != sense.number]
    return shared_words[sense.number] > max(others, default=0)


def _is_main_sense(lemma: str, part: str, sense: Sense, lexicon: Lexicon) -> bool:
    """Say whether a synonym is well attested and means first of all what the synset means."""
    first = lexicon.senses(lemma, part)[0]
    return first.synset == sense.synset and first.count >= FEWEST


def _differ_by_prefix(lemma: str, antonym: str) -> bool:
    longer, shorter = sorted((lemma, antonym), key=len, reverse=True)
    return any(longer == prefix + shorter for prefix in _PREFIXES)
