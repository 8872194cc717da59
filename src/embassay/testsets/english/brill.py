"""Brill's tagger (1994), with the lexicon and the contextual rules of the textblob package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from embassay.testsets.english.installed import text_of

_EDGE = ["STAART"] * 3
"""Padding before and after a sentence, so that conditions can look up to three words away."""
_CONDITIONS = """
prevtag         t-1
nexttag         t+1
prev2tag        t-2
next2tag        t+2
prev1or2tag     t-1|t-2
next1or2tag     t+1|t+2
prev1or2or3tag  t-1|t-2|t-3
surroundtag     t-1         t+1
curwd           w+0
prevwd          w-1
nextwd          w+1
prev1or2wd      w-1|w-2
next1or2wd      w+1|w+2
wdprevtag       t-1         w+0
wdnexttag       w+0         t+1
wdand2aft       w+0         w+2
wdand2tagbfr    t-2         w+0
wdand2tagaft    w+0         t+2
lbigram         w-1         w+0
rbigram         w+0         w+1
prevbigram      t-2         t-1
nextbigram      t+1         t+2
"""
"""Brill's conditions, by their names in the file of rules: where the parameters x and y of a rule must stand.

``t-1|t-2`` is one of the two tags before the word, ``w+1`` the word after it.
"""
_NEAR = {f"{distance:+}": distance for distance in (-3, -2, -1, 0, 1, 2)}
_Seen = tuple[str, str]
"""A place and what stands there: ``("t-1", "DT")``."""


@dataclass(frozen=True)
class _Rule:
    """A contextual rule: if all that it ``needs`` is seen, the tag becomes ``new_tag``.

    Attributes
    ----------
    rank
        Its line in the file, from 1; rules are applied in this order.
    """

    rank: int
    new_tag: str
    needs: frozenset[_Seen]


@cache
def lexicon() -> dict[str, str]:
    """Return the most frequent tag of each word; upper and lower case differ.

    Raises
    ------
    MissingExtraError
        If textblob is not installed.
    """
    tag_of = {}
    for line in _lines("en-lexicon.txt"):
        word, _, tag = line.partition(" ")
        if tag:
            tag_of[word] = tag.split(" ")[0]
    return tag_of


def by_context(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags after the contextual rules; words are processed from left to right, rules in order of rank."""
    padded_words, padded_tags = [*_EDGE, *words, *_EDGE], [*_EDGE, *tags, *_EDGE]
    for index in range(3, len(words) + 3):
        seen = {(f"t{name}", padded_tags[index + distance]) for name, distance in _NEAR.items()}
        seen |= {(f"w{name}", padded_words[index + distance]) for name, distance in _NEAR.items()}
        # After a rule changed the tag, the later rules for the new tag apply.
        rule = _first_rule(padded_tags[index], seen, after=0)
        while rule is not None:
            padded_tags[index] = rule.new_tag
            rule = _first_rule(rule.new_tag, seen, after=rule.rank)
    return padded_tags[3:-3]


def _first_rule(tag: str, seen: set[_Seen], after: int) -> _Rule | None:
    """Return the first rule that changes a tag and has a rank above ``after``."""
    for rule in _rules().get(tag, ()):
        if rule.rank > after and rule.needs <= seen:
            return rule
    return None


@cache
def _rules() -> dict[str, list[_Rule]]:
    """Return the contextual rules by the tag that they change."""
    places_of = {name: places for name, *places in map(str.split, _CONDITIONS.strip().splitlines())}
    rules: dict[str, list[_Rule]] = {}
    for rank, line in enumerate(_lines("en-context.txt"), start=1):
        # A line such as "NN VB PREVTAG TO": tag, new tag, condition, x, and y if the condition has one.
        tag, new_tag, condition, *values = line.split()
        # A condition with alternatives gives several rules of one rank.
        alternatives = [places.split("|") for places in places_of[condition.lower()]]
        for places in product(*alternatives):
            rules.setdefault(tag, []).append(_Rule(rank, new_tag, frozenset(zip(places, values, strict=False))))
    return rules


def _lines(name: str) -> list[str]:
    """Return the lines of a file of the textblob package, without comments and blank lines."""
    lines = []
    for line in text_of("textblob", f"en/{name}").split("\n"):
        is_comment = line.startswith(";;;")
        if line.strip() and not is_comment:
            lines.append(line)
    return lines
