"""Two sentences in one, by rules: an apposition, a shared subject, a relative clause, else a conjunction.

A stand-in for a generator (Bansal et al. 2025, section 5; sentence fusion: Marsi & Krahmer 2005, "Explorations in
sentence fusion"), for trying things out without one. A fusion says what both sentences say; rules reject in doubt.
A conjunction must not draw the second sentence under what the first one opens, a date, a condition or a speaker:
there a semicolon stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.builders._clauses import groups, main_group
from embassay.builders._first_words import lowered
from embassay.builders._language import language_of
from embassay.builders._shared_subjects import apposed, joined_verbs, relative
from embassay.builders._triples import ABBREVIATIONS
from embassay.builders._verbs import MODALS, SUBORDINATORS, lower, wordset
from embassay.builders._words import Tagged, tag
from embassay.randomness import generator

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
    if lower(word) == "so" and place and tagged.words[place - 1].text == ",":
        return True
    return lower(word) in SUBORDINATORS - {"which", "who", "whose", "whom", "as", "after", "before", "once", "since"}


def _aside(b: Tagged) -> bool:
    """Say whether a sentence begins with a participle, or has "however" inside."""
    early = {lower(word) for word in b.words[1:10]}
    return b.words[0].tag in {"VBN", "VBG", "TO"} or "however" in early or "therefore" in early


def _side_by_side(a: Tagged, b: Tagged) -> bool:
    """Say whether "while" fits: both sentences are in the present tense, and their subjects have nouns."""
    for tagged in (a, b):
        found = main_group(tagged)
        if (
            found is None
            or tagged.words[found.first].tag not in {"VBZ", "VBP"}
            or lower(tagged.words[found.first]) in MODALS
        ):
            return False
        if tagged.words[0].tag not in {"DT", "NN", "NNS", "NNP", "NNPS", "JJ"} or lower(tagged.words[0]) in {
            "this",
            "these",
        }:
            return False
    return lower(a.words[0]) != lower(b.words[0]) or lower(a.words[1]) != lower(b.words[1])
