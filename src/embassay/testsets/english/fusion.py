"""Fusing two sentences into one by rules: an apposition, a shared subject, a relative clause, else a conjunction.

The rules replace a generator (Bansal et al. 2025, section 5; sentence fusion: Marsi & Krahmer 2005, "Explorations in
sentence fusion"), for trying things out without one. A fusion says what both sentences say; in doubt, the rules reject.
If the first sentence starts with a date or a condition, or reports somebody's words, a conjunction would extend that to
the second sentence; a semicolon is used instead.
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
from embassay.testsets.english.words import Tagged, tag, word_at
from embassay.testsets.triples import ABBREVIATIONS

RULES = (("apposition", apposed), ("shared subject", joined_verbs), ("relative clause", relative))
"""The patterns that are tried before a conjunction, in this order."""
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
"""Beginnings of a sentence before which "and" does not fit."""
_REPORTING = wordset(
    "say claim argue believe think suggest report show state note find estimate assume conclude declare suspect hold "
    "write propose insist admit hope fear expect know mean ensure prove explain tell imply require demand observe"
)
_OPENING_CLAUSES = SUBORDINATORS - wordset("which who whose whom as after before once since")
"""Words that start a subordinate clause other than a relative one."""
_OPEN = frozenset({";", "–", "—", "-", "--"})
"""Marks after which it is not certain to what a joined sentence would belong."""
_INTRODUCED = ("IN", "TO", "RB", "VBG", "VBN", "WRB", "WP")
"""Tags of the first word of an introduction before the subject: ``In 1923, …``."""


@dataclass(frozen=True)
class Fusion:
    """A sentence made of two, or the reason why there is none.

    Attributes
    ----------
    way
        The rule that made it: ``apposition``, ``conjunction`` …
    problem
        The reason, a short phrase; empty if there is a sentence.
    """

    text: str = ""
    way: str = ""
    problem: str = ""


def fuse(first: str, second: str, seed: int = 0) -> Fusion:
    """Return one sentence that says what two neighbouring English sentences say.

    Parameters
    ----------
    seed
        Seed for the choice between conjunctions that fit equally well.

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
    """Return why two sentences cannot be fused by rules; empty if they can."""
    both = (first, second)
    if any(language_of(text) not in {"English", ""} for text in both):
        return "a sentence that is not English"
    if any(text.rstrip()[-1:] in {"?", "!", ""} for text in both):
        return "a question or an exclamation"
    if any(_QUOTES.search(text) for text in both):
        return "a sentence with a quotation"
    if ":" in first:
        return "a sentence with a colon"
    return ""


def _is_two(tagged: Tagged) -> bool:
    """Return whether a text may be two sentences that were not divided: "It was a part of plan B. They left."."""
    verb_groups = groups(tagged)
    if not verb_groups:
        return False
    between_verbs = tagged.words[verb_groups[0].last : verb_groups[-1].first]
    return any(word.text == "." for word in between_verbs)


def _conjoined(a: Tagged, b: Tagged, seed: int) -> Fusion:
    """Join two sentences with a conjunction, or with a semicolon if a conjunction would change the meaning."""
    needs_semicolon = _extends_to_second(a, b) or _APART.match(b.text) or _is_aside(b)
    if needs_semicolon:
        rule, joint, second = "semicolon", "; ", b.text
    else:
        rule = "conjunction"
        joint, second = _conjunction(a, b, seed)
    # The second sentence loses the capital of its first word, which must not be a name.
    second_in_lower_case = lowered(second, a.text)
    if second_in_lower_case is None:
        return Fusion(problem="a first word that may be a name")
    return Fusion(_without_stop(a.text) + joint + second_in_lower_case, rule)


def _conjunction(a: Tagged, b: Tagged, seed: int) -> tuple[str, str]:
    """Return the conjunction between two sentences, and the second sentence without a connective at its start."""
    for conjunction, connective in _CONNECTIVES:
        match = connective.match(b.text)
        if match:
            rest = b.text[match.end() :]
            return conjunction, rest[0].upper() + rest[1:]
    conjunctions = [", and "]
    if _are_side_by_side(a, b):
        conjunctions.append(", while ")
    stream = generator(seed, "builders", "fuser", a.text, b.text)
    return conjunctions[int(stream.integers(len(conjunctions)))], b.text


def _without_stop(text: str) -> str:
    """Return a sentence without its full stop, unless the full stop belongs to an abbreviation."""
    last = text.rsplit(maxsplit=1)[-1].removesuffix(".")
    is_abbreviation = "." in last or last.lower() in ABBREVIATIONS or (len(last) == 1 and last.isupper())
    if is_abbreviation:
        return text
    return text.removesuffix(".")


def _extends_to_second(a: Tagged, b: Tagged) -> bool:
    """Return whether a conjunction would extend a date, a condition or reported speech of ``a`` to ``b``."""
    for word in a.words:
        if word.text in _OPEN or word.lemma in _REPORTING or word.lowercase in _OPENING_CLAUSES:
            return True
    if re.search(r", so\b", a.text):
        return True
    # In "In 1923, the dam broke; the village lies lower now.", an "and" would make 1923 the time of both clauses.
    # If the second sentence has an introduction too, the scope of the first one ends there.
    first = b.words[0]
    has_introduction = first.tag in _INTRODUCED and (first.tag != "RB" or word_at(b.words, 1).text == ",")
    return a.words[0].tag in _INTRODUCED and not has_introduction


def _is_aside(b: Tagged) -> bool:
    """Return whether a sentence starts with a participle or infinitive, or has "however" inside."""
    return b.words[0].tag in {"VBN", "VBG", "TO"} or any(word.lowercase == "however" for word in b.words[1:10])


def _are_side_by_side(a: Tagged, b: Tagged) -> bool:
    """Return whether "while" fits: two sentences in the present tense with different subjects that are not pronouns."""
    if not (_starts_with_noun(a) and _is_in_present(a) and _starts_with_noun(b) and _is_in_present(b)):
        return False
    first_words = [word.lowercase for word in a.words[:2]]
    return first_words != [word.lowercase for word in b.words[:2]]


def _is_in_present(tagged: Tagged) -> bool:
    """Return whether the main verb of a sentence is in the present tense."""
    group = main_group(tagged)
    return group is not None and tagged.words[group.first].tag in {"VBZ", "VBP"}


def _starts_with_noun(tagged: Tagged) -> bool:
    """Return whether a sentence starts with a noun, or with a determiner or adjective before one."""
    first = tagged.words[0]
    is_noun_or_modifier = first.tag in {"DT", "NN", "NNS", "NNP", "NNPS", "JJ"}
    return is_noun_or_modifier and first.lowercase not in {"this", "these"}
