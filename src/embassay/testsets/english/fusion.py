"""Two sentences in one, by rules: an apposition, a shared subject, a relative clause, else a conjunction.

A stand-in for a generator (Bansal et al. 2025, section 5; sentence fusion: Marsi & Krahmer 2005, "Explorations in
sentence fusion"), for trying things out without one. A fusion says what both sentences say; rules reject in doubt.
A conjunction must not draw the second sentence under what the first one opens, a date, a condition or a speaker:
there a semicolon stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.randomness import generator
from embassay.testsets.english.capitals import lowered
from embassay.testsets.english.clauses import (
    AUXILIARIES,
    BE,
    HAVE,
    MODALS,
    SUBORDINATORS,
    Group,
    groups,
    is_adverb,
    is_finite,
    main_group,
    wordset,
)
from embassay.testsets.english.language import language_of
from embassay.testsets.english.tagger import possible
from embassay.testsets.english.words import Tagged, Word, tag
from embassay.testsets.triples import ABBREVIATIONS

# --- Fusions of two sentences about one thing: an apposition, two verbs of one subject, a relative clause ---

PERSONS = frozenset({"he", "she"})
LONGEST_SUBJECT = 6
"""Words of a subject that an apposition follows, at most."""
LONGEST_SIMPLE = 12
"""Words of a sentence that "and" without a comma follows, at most."""
_KINSHIP = wordset(
    "king queen wife husband father mother son daughter brother sister friend assistant president uncle aunt cousin "
    "child boy girl heir rival colleague client guest pope saint bishop judge priest monk general chief boss guide "
    "prince princess duke spouse student pupil nephew niece mate nurse patient person people baby captain"
)
_PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "woman", "ant", "ee", "eer", "ess")
_OPENERS = ("DT", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "JJ", "CD")
"""Tags that a subject begins with."""
_PLACES = wordset("in at from to near on of into through across")


def apposed(a: Tagged, b: Tagged) -> str | None:
    """Return "X, a Y, did B." for "X is a Y." and "X (or it, he, she, they) did B."."""
    simple = _simple(a)
    if simple is None or any(mark in a.text for mark in ",()"):
        return None
    words, copula = a.words, simple.first
    subject, plural = words[:copula], words[copula].lowercase in {"are", "were"}
    if (
        words[copula].lowercase not in {"is", "was", "are", "were"}
        or simple.last != copula
        or simple.negator is not None
    ):
        return None
    if not 1 <= len(subject) <= LONGEST_SUBJECT or subject[0].tag.startswith("PRP") or _points(subject[0]):
        return None
    if not _is_noun_phrase(words[copula + 1 :], plural):
        return None
    start = _predicate(a, b, subject, plural, complement=True)
    if start is None:
        return None
    past = words[copula].lowercase in {"was", "were"}
    if past and b.words[_finite_from(b, start)].tag != "VBD" and b.words[start].lowercase not in {"was", "were", "had"}:
        return None
    name = a.text[: subject[-1].end]
    return f"{name}, {_body(a)[words[copula + 1].start :]}, {b.text[b.words[start].start :]}"


def joined_verbs(a: Tagged, b: Tagged) -> str | None:
    """Return "X did A and did B." for "X did A." and "X (or the pronoun that stands for it) did B."."""
    simple = _simple(a)
    if simple is None or any(word.lowercase in SUBORDINATORS | {"that", ";"} for word in a.words):
        return None
    subject = a.words[: simple.first]
    while subject and is_adverb(subject[-1]):
        subject = subject[:-1]
    if not subject or subject[0].tag not in _OPENERS or any(w.text == "," for w in subject) or _points(subject[0]):
        return None
    start = _predicate(a, b, subject, _is_plural(subject), complement=False)
    if start is None or _reads_on(a, simple, b.words[_finite_from(b, start)]):
        return None
    long = len(a.words) > LONGEST_SIMPLE or any(word.lowercase in {"and", "or", ","} for word in a.words)
    return f"{_body(a)}{',' if long else ''} and {b.text[b.words[start].start :]}"


def relative(a: Tagged, b: Tagged) -> str | None:
    """Return "A, which did B." for "A." and "This did B.", where "this" is what the whole sentence says."""
    words = b.words
    if len(words) < 3 or words[0].lowercase != "this" or not (is_finite(words, 1) or _is_past(words, 1)):
        return None
    if words[1].lowercase in BE and words[2].tag in {"DT", "NN", "PRP$", "NNP", "CD", "JJ"}:
        return None
    if any(word.lowercase in SUBORDINATORS | {"that", ";"} for word in a.words) or words[1].text[0] == "'":
        return None
    return f"{_body(a)}, which {b.text[words[1].start :]}"


def _is_past(words: tuple[Word, ...], place: int) -> bool:
    """Say whether a word that may be a past tense has what an object begins with after it: "led to", "broke the"."""
    return "VBD" in possible(words[place].lowercase) and words[place + 1].tag in {"DT", "TO", "IN", "PRP$", "PRP"}


def _body(tagged: Tagged) -> str:
    """Return the text without its full stop."""
    return tagged.text.rstrip().removesuffix(".")


def _simple(tagged: Tagged) -> Group | None:
    """Return the verb group of a sentence that has only one, and begins with its subject."""
    found = groups(tagged)
    return found[0] if len(found) == 1 and found[0].first > 0 else None


def _points(word: Word) -> bool:
    """Say whether a subject is no name of a thing: "there", "this" …"""
    return word.lowercase in {"there", "this", "that", "these", "those", "here", "what", "one", "some", "many", "both"}


def _is_noun_phrase(words: tuple[Word, ...], plural: bool) -> bool:
    """Say whether what follows a copula names a thing: "a river in Spain", "animals that …"."""
    if len(words) < 3:
        return False
    if words[0].lowercase in {"a", "an", "the"} or (words[0].lowercase == "one" and words[1].lowercase == "of"):
        return words[1].lowercase not in {"same", "case", "result", "reason", "lot", "few", "most"} - {"most"}
    return plural and words[0].tag == "NNS"


def _is_plural(subject: tuple[Word, ...]) -> bool:
    """Say whether a subject is more than one: its last noun before a preposition, or several joined by "and"."""
    head = next((place for place, word in enumerate(subject) if word.tag == "IN"), len(subject))
    if any(word.lowercase == "and" for word in subject) or subject[0].lowercase in {"they", "we"}:
        return True
    return head > 0 and subject[head - 1].tag in {"NNS", "NNPS"}


def _predicate(a: Tagged, b: Tagged, subject: tuple[Word, ...], plural: bool, complement: bool) -> int | None:
    """Return where the predicate of b begins, if its subject is that of a; None where it is not certain.

    Parameters
    ----------
    complement
        Whether a says what its subject is, so that a pronoun can hardly mean another thing.
    """
    words = b.words
    same = [word.lowercase for word in words[: len(subject)]] == [word.lowercase for word in subject]
    if same and (len(subject) > 1 or words[0].lowercase != "it" or not (_expletive(a) or _expletive(b))):
        start = len(subject)
    elif _stands_for(words[0].lowercase, a, subject, plural, complement) and not _expletive(b):
        start = 1
    else:
        return None
    if _finite_from(b, start) < 0 or words[start].text[0] == "'":
        return None
    return start


def _finite_from(tagged: Tagged, start: int) -> int:
    """Return the place of the finite verb that a predicate opens with, adverbs passed over; -1 for none."""
    place = start
    while place < len(tagged.words) and is_adverb(tagged.words[place]):
        place += 1
    return place if place < len(tagged.words) and is_finite(tagged.words, place) else -1


def _stands_for(pronoun: str, a: Tagged, subject: tuple[Word, ...], plural: bool, complement: bool) -> bool:
    """Say whether a pronoun surely means the subject of a."""
    named = all(word.tag == "NNP" for word in subject)
    if pronoun in PERSONS:
        return named and (complement or not _other_person(a, len(subject)))
    if pronoun == "they":
        return plural and complement
    return pronoun == "it" and not plural and complement


def _other_person(a: Tagged, after: int) -> bool:
    """Say whether a sentence names a person, perhaps, after its subject."""
    for place in range(after, len(a.words)):
        word, before = a.words[place], a.words[place - 1]
        if word.tag.startswith("NNP") and before.lowercase not in _PLACES and before.tag != "NNP":
            return True
        if word.tag == "NN" and (word.lowercase in _KINSHIP or word.lowercase.endswith(_PERSON_ENDINGS)):
            return True
        if word.lowercase in {"he", "she", "him", "someone", "who"}:
            return True
    return False


def _expletive(tagged: Tagged) -> bool:
    """Say whether "it" at the start may mean nothing: "It is known that …", "It is hard to …", "It rained"."""
    words = tagged.words
    if words[0].lowercase != "it":
        return False
    if any(
        word.lowercase in {"rained", "rains", "snowed", "snows", "seems", "seemed", "appears", "appeared"}
        for word in words[1:3]
    ):
        return True
    extraposed = any(word.lowercase in {"that", "to", "whether", "who", "for"} for word in words[2:7])
    return extraposed and words[1].lowercase in AUXILIARIES


def _reads_on(a: Tagged, group: Group, verb: Word) -> bool:
    """Say whether a verb after "and" would be drawn under an auxiliary, a modal or an infinitive of the first."""
    if verb.lowercase in BE | HAVE | MODALS | {"does", "did"} or verb.tag == "VBZ":
        return False
    infinitive = any(word.tag in {"TO", "MD"} for word in a.words)
    return group.first != group.last or (infinitive and verb.tag in {"VBP", "VB"})


# --- Two sentences in one, by rules: an apposition, a shared subject, a relative clause, else a conjuncti ---

RULES = (("apposition", apposed), ("shared subject", joined_verbs), ("relative clause", relative))
"""What is tried before a conjunction, in this order."""
_QUOTES = re.compile(r"[\"“”«»„]|(?<!\w)['‘](?=\w)")
_CONNECTIVES = (
    (", but ", re.compile(r"(?:But|Yet|However,|Nevertheless,|Nonetheless,)\s+")),
    (", and ", re.compile(r"(?:And|Also,|In addition,|Additionally,|Moreover,|Furthermore,|Besides,)\s+")),
    (", so ", re.compile(r"(?:So|Therefore,|Thus,?|Hence,?|Consequently,|Accordingly,)\s+")),
)
_APART = re.compile(
    r"(?:For example|For instance|In contrast|By contrast|On the other hand|Conversely|Similarly|Likewise|In fact"
    r"|Indeed|Instead|Otherwise|In other words|That is|In general|In particular|Of course|Still|Rather|Specifically"
    r"|Finally|First|Second|Third|As a result|As such|Nor|Or)\b"
)
"""What a sentence begins with that "and" does not go with."""
_REPORTING = wordset(
    "say claim argue believe think suggest report show state note find estimate assume conclude declare suspect hold "
    "write propose insist admit hope fear expect know mean ensure prove explain tell imply require demand observe"
)
_OPEN = frozenset({";", "–", "—", "-", "--"})
"""Marks after which it is not certain where a second sentence hangs."""
_INTRODUCED = ("IN", "TO", "RB", "VBG", "VBN", "WRB", "WP")
"""Tags of first words that open something before the subject."""


@dataclass(frozen=True)
class Fusion:
    """A sentence made of two and the rule that made it, or why there is none: a short phrase for people."""

    text: str = ""
    way: str = ""
    problem: str = ""


def fuse(first: str, second: str, seed: int = 0) -> Fusion:
    """Return one sentence that says what two neighbouring English sentences say.

    Parameters
    ----------
    seed
        Chooses where two conjunctions fit equally well; the same sentences and seed give the same fusion.

    Raises
    ------
    MissingExtraError
        If textblob or lemminflect is not installed.
    """
    if problem := _unfit(first, second):
        return Fusion(problem=problem)
    a, b = tag(first), tag(second)
    if _is_two(a) or _is_two(b):
        return Fusion(problem="a sentence that may be two")
    for way, rule in RULES:
        if text := rule(a, b):
            return Fusion(text, way)
    if not groups(a) or not groups(b):
        return Fusion(problem="a sentence without a finite verb that the rules see")
    return _conjoined(a, b, seed)


def _unfit(first: str, second: str) -> str:
    """Say why two sentences cannot be fused by rules; nothing where they can be."""
    if any(language_of(text) not in {"English", ""} for text in (first, second)):
        return "a sentence that is not English"
    if any(text.rstrip()[-1:] in {"?", "!", ""} for text in (first, second)):
        return "a question or an exclamation"
    if any(_QUOTES.search(text) for text in (first, second)):
        return "a sentence with a quotation"
    return "a sentence with a colon" if ":" in first else ""


def _is_two(tagged: Tagged) -> bool:
    """Say whether a text was perhaps not cut where a sentence ends with a letter: "a part of plan B. They left."."""
    stops = [place for place, word in enumerate(tagged.words[:-1]) if word.text == "."]
    found = groups(tagged)
    return any(found[0].last < stop < found[-1].first for stop in stops if found)


def _conjoined(a: Tagged, b: Tagged, seed: int) -> Fusion:
    """Join two sentences by a conjunction, or by a semicolon where one would change what is said."""
    head = _head(a.text)
    if _draws_on(a, b) or _APART.match(b.text) or _aside(b):
        return _with(head, "; ", b.text, a.text, "semicolon")
    for joint, opened in _CONNECTIVES:
        if found := opened.match(b.text):
            rest = b.text[found.end() :]
            return _with(head, joint, rest[0].upper() + rest[1:], a.text, "conjunction")
    joints = (", and ", ", while ") if _side_by_side(a, b) else (", and ",)
    choice = int(generator(seed, "builders", "fuser", a.text, b.text).integers(len(joints)))
    return _with(head, joints[choice], b.text, a.text, "conjunction")


def _with(head: str, joint: str, second: str, first: str, way: str) -> Fusion:
    rest = lowered(second, first)
    if rest is None:
        return Fusion(problem="a first word that may be a name")
    return Fusion(f"{head}{joint}{rest}", way)


def _head(text: str) -> str:
    """Return a sentence without its full stop, which an abbreviation keeps."""
    last = text.rsplit(maxsplit=1)[-1].removesuffix(".")
    kept = "." in last or last.lower() in ABBREVIATIONS or (len(last) == 1 and last.isupper())
    return text if kept else text.removesuffix(".")


def _draws_on(a: Tagged, b: Tagged) -> bool:
    """Say whether a conjunction would draw the second sentence under something that the first one opens."""
    if any(
        word.text in _OPEN or word.lemma in _REPORTING or _subordinates(a, place) for place, word in enumerate(a.words)
    ):
        return True
    own = b.words[0].tag in _INTRODUCED and (b.words[0].tag != "RB" or b.words[1].text == ",")
    return a.words[0].tag in _INTRODUCED and not own


def _subordinates(tagged: Tagged, place: int) -> bool:
    """Say whether a clause other than a relative one begins at a word."""
    word = tagged.words[place]
    if word.lowercase == "so" and place and tagged.words[place - 1].text == ",":
        return True
    return word.lowercase in SUBORDINATORS - {"which", "who", "whose", "whom", "as", "after", "before", "once", "since"}


def _aside(b: Tagged) -> bool:
    """Say whether a sentence begins with a participle, or has "however" inside."""
    early = {word.lowercase for word in b.words[1:10]}
    return b.words[0].tag in {"VBN", "VBG", "TO"} or "however" in early or "therefore" in early


def _side_by_side(a: Tagged, b: Tagged) -> bool:
    """Say whether "while" fits: both sentences are in the present tense, and their subjects have nouns."""
    for tagged in (a, b):
        found = main_group(tagged)
        if (
            found is None
            or tagged.words[found.first].tag not in {"VBZ", "VBP"}
            or tagged.words[found.first].lowercase in MODALS
        ):
            return False
        if tagged.words[0].tag not in {"DT", "NN", "NNS", "NNP", "NNPS", "JJ"} or tagged.words[0].lowercase in {
            "this",
            "these",
        }:
            return False
    return a.words[0].lowercase != b.words[0].lowercase or a.words[1].lowercase != b.words[1].lowercase
