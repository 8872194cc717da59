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
from embassay.testsets.english.clauses import groups, main_group
from embassay.testsets.english.fusion_patterns import apposed, joined_verbs, relative
from embassay.testsets.english.language import language_of
from embassay.testsets.english.word_classes import SUBORDINATORS, wordset
from embassay.testsets.english.words import Tagged, tag
from embassay.testsets.triples import ABBREVIATIONS

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
_OPENING_CLAUSES = SUBORDINATORS - wordset("which who whose whom as after before once since")
"""Words that begin a clause other than a relative one."""
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
    """Return whether a text was perhaps not cut where a sentence ends with a letter: "a part of plan B. They left."."""
    found = groups(tagged)
    if not found:
        return False
    inside = tagged.words[found[0].last : found[-1].first]
    return any(word.text == "." for word in inside)


def _conjoined(a: Tagged, b: Tagged, seed: int) -> Fusion:
    """Join two sentences by a conjunction, or by a semicolon where one would change what is said."""
    second, joint, way = b.text, "", "conjunction"
    if _draws_on(a, b) or _APART.match(b.text) or _is_aside(b):
        joint, way = "; ", "semicolon"
    else:
        for conjunction, connective in _CONNECTIVES:
            match = connective.match(b.text)
            if match:
                joint, second = conjunction, b.text[match.end() :]
                second = second[0].upper() + second[1:]
                break
    if not joint:
        joints = (", and ", ", while ") if _are_side_by_side(a, b) else (", and ",)
        joint = joints[int(generator(seed, "builders", "fuser", a.text, b.text).integers(len(joints)))]
    rest = lowered(second, a.text)
    if rest is None:
        return Fusion(problem="a first word that may be a name")
    return Fusion(f"{_without_stop(a.text)}{joint}{rest}", way)


def _without_stop(text: str) -> str:
    """Return a sentence without its full stop, which an abbreviation keeps."""
    last = text.rsplit(maxsplit=1)[-1].removesuffix(".")
    is_abbreviation = "." in last or last.lower() in ABBREVIATIONS or (len(last) == 1 and last.isupper())
    return text if is_abbreviation else text.removesuffix(".")


def _draws_on(a: Tagged, b: Tagged) -> bool:
    """Return whether a conjunction would draw the second sentence under something that the first one opens."""
    for word in a.words:
        if word.text in _OPEN or word.lemma in _REPORTING or word.lowercase in _OPENING_CLAUSES:
            return True
    if re.search(r", so\b", a.text):
        return True
    # "In 1923, the dam broke; the village lies lower now." But a second introduction ends the first one's scope.
    opens = b.words[0].tag in _INTRODUCED and (b.words[0].tag != "RB" or b.words[1].text == ",")
    return a.words[0].tag in _INTRODUCED and not opens


def _is_aside(b: Tagged) -> bool:
    """Return whether a sentence begins with a participle, or has "however" inside."""
    return b.words[0].tag in {"VBN", "VBG", "TO"} or any(word.lowercase == "however" for word in b.words[1:10])


def _are_side_by_side(a: Tagged, b: Tagged) -> bool:
    """Return whether "while" fits: both sentences are in the present tense, and their subjects have nouns."""
    for tagged in (a, b):
        group, first = main_group(tagged), tagged.words[0]
        if group is None or tagged.words[group.first].tag not in {"VBZ", "VBP"}:
            return False
        if first.tag not in {"DT", "NN", "NNS", "NNP", "NNPS", "JJ"} or first.lowercase in {"this", "these"}:
            return False
    return [word.lowercase for word in a.words[:2]] != [word.lowercase for word in b.words[:2]]
