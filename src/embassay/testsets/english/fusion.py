"""Fusing two sentences into one by rules: with ``, and``, or with a semicolon.

The rules replace a generator (Bansal et al. 2025, section 5; sentence fusion: Marsi & Krahmer 2005, "Explorations in
sentence fusion"), for trying things out without one. A fusion says what both sentences say; in doubt, the rules reject.
If the first sentence starts with a date or a condition, or reports somebody's words, an "and" would extend that to the
second sentence, so a semicolon is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from embassay.stats.lexical.language import may_be_english
from embassay.testsets.english.capitals import lowered
from embassay.testsets.english.syntax import groups
from embassay.testsets.english.word_classes import ABBREVIATIONS, SUBORDINATORS, wordset
from embassay.testsets.english.words import Tagged, tag, word_at

_QUOTES = re.compile(r"[\"“”«»„]|(?<!\w)['‘](?=\w)")
_APART = re.compile(
    r"(?:But|Yet|However|Nevertheless|Nonetheless|And|Also|In addition|Additionally|Moreover|Furthermore|"
    r"Besides|So|Therefore|Thus|Hence|Consequently|Accordingly|For example|For instance|In contrast|"
    r"By contrast|On the other hand|Conversely|Similarly|Likewise|In fact|Indeed|Instead|Otherwise|"
    r"In other words|That is|In general|In particular|Of course|Still|Rather|Specifically|Finally|First|"
    r"Second|Third|As a result|As such|Nor|Or)\b"
)
"""Beginnings of a sentence before which "and" does not fit."""
_REPORTING = wordset(
    "say claim argue believe think suggest report show state note find estimate assume conclude declare suspect hold "
    "write propose insist admit hope fear expect know mean ensure prove explain tell imply require demand observe"
)
_OPENING_CLAUSES = SUBORDINATORS - wordset("which who whose whom as after before once since")
"""Words that start a subordinate clause other than a relative one."""
_OPEN = re.compile(r";|, so\b|[–—]|--| - ")
"""Marks after which it is not certain to what a joined sentence would belong."""
_INTRODUCED = ("IN", "TO", "RB", "VBG", "VBN", "WRB", "WP")
"""Tags of the first word of an introduction before the subject: ``In 1923, …``."""


@dataclass(frozen=True)
class Fusion:
    """A sentence made of two; empty if there is none, with the reason, a short phrase."""

    text: str = ""
    problem: str = ""


def fuse(first: str, second: str) -> Fusion:
    """Return one sentence that says what two neighbouring English sentences say.

    Raises
    ------
    InputError
        If spaCy, its pipeline for English or lemminflect is not installed.
    """
    if problem := _unfit(first, second):
        return Fusion(problem=problem)
    a, b = tag(first), tag(second)
    # The roots of a text that was not divided well: "It was a part of plan B. They left.".
    if any(sum(word.relation == "ROOT" for word in each.words) > 1 for each in (a, b)):
        return Fusion(problem="a sentence that may be two")
    if not groups(a) or not groups(b):
        return Fusion(problem="a sentence without a finite verb")
    # The second sentence loses the capital of its first word, which must not be a name.
    second_in_lower_case = lowered(b, first)
    if second_in_lower_case is None:
        return Fusion(problem="a first word that may be a name")
    joint = ", and "
    if _extends_to_second(a, b) or _APART.match(second) or _is_aside(b):
        joint = "; "
    return Fusion(_without_stop(first) + joint + second_in_lower_case)


def _unfit(first: str, second: str) -> str:
    """Return why two sentences cannot be fused by rules; empty if they can."""
    both = (first, second)
    if not all(map(may_be_english, both)):
        return "a sentence that is not English"
    if any(text.rstrip()[-1:] in {"?", "!", ""} for text in both):
        return "a question or an exclamation"
    if any(_QUOTES.search(text) for text in both):
        return "a sentence with a quotation"
    if ":" in first:
        return "a sentence with a colon"
    return ""


def _without_stop(text: str) -> str:
    """Return a sentence without its full stop, unless the full stop belongs to an abbreviation."""
    last = text.rsplit(maxsplit=1)[-1].removesuffix(".")
    is_abbreviation = "." in last or last.lower() in ABBREVIATIONS or (len(last) == 1 and last.isupper())
    if is_abbreviation:
        return text
    return text.removesuffix(".")


def _extends_to_second(a: Tagged, b: Tagged) -> bool:
    """Return whether an "and" would extend a date, a condition or reported speech of ``a`` to ``b``."""
    for word in a.words:
        if word.lemma in _REPORTING or word.lowercase in _OPENING_CLAUSES:
            return True
    if _OPEN.search(a.text):
        return True
    # In "In 1923, the dam broke; the village lies lower now.", an "and" would make 1923 the time of both clauses.
    # If the second sentence has an introduction too, the scope of the first one ends there.
    first = b.words[0]
    has_introduction = first.tag in _INTRODUCED and (first.tag != "RB" or word_at(b.words, 1).text == ",")
    return a.words[0].tag in _INTRODUCED and not has_introduction


def _is_aside(b: Tagged) -> bool:
    """Return whether a sentence starts with a participle or infinitive, or has "however" inside."""
    return b.words[0].tag in {"VBN", "VBG", "TO"} or any(word.lowercase == "however" for word in b.words[1:10])
