"""Brill's tagger (1994), with the lexicon and the contextual rules of the textblob package.

The files are read without importing textblob, which would take a second.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from embassay.errors import MissingExtraError

_EDGE = ["STAART"] * 3
"""Padding before and after a sentence, so that conditions can look up to three words away."""
_Test = Callable[[str, str, Sequence[str], Sequence[str], int], bool]
"""(x, y, words, tags, index): whether the condition of a rule with the parameters x and y holds at an index."""
_TESTS: dict[str, _Test] = {
    "prevtag": lambda x, _, w, t, i: x == t[i - 1],
    "nexttag": lambda x, _, w, t, i: x == t[i + 1],
    "prev2tag": lambda x, _, w, t, i: x == t[i - 2],
    "next2tag": lambda x, _, w, t, i: x == t[i + 2],
    "prev1or2tag": lambda x, _, w, t, i: x == t[i - 1] or x == t[i - 2],
    "next1or2tag": lambda x, _, w, t, i: x == t[i + 1] or x == t[i + 2],
    "prev1or2or3tag": lambda x, _, w, t, i: x in t[i - 3 : i],
    "surroundtag": lambda x, y, w, t, i: x == t[i - 1] and y == t[i + 1],
    "curwd": lambda x, _, w, t, i: x == w[i],
    "prevwd": lambda x, _, w, t, i: x == w[i - 1],
    "nextwd": lambda x, _, w, t, i: x == w[i + 1],
    "prev1or2wd": lambda x, _, w, t, i: x == w[i - 1] or x == w[i - 2],
    "next1or2wd": lambda x, _, w, t, i: x == w[i + 1] or x == w[i + 2],
    "wdprevtag": lambda x, y, w, t, i: x == t[i - 1] and y == w[i],
    "wdnexttag": lambda x, y, w, t, i: x == w[i] and y == t[i + 1],
    "wdand2aft": lambda x, y, w, t, i: x == w[i] and y == w[i + 2],
    "wdand2tagbfr": lambda x, y, w, t, i: x == t[i - 2] and y == w[i],
    "wdand2tagaft": lambda x, y, w, t, i: x == w[i] and y == t[i + 2],
    "lbigram": lambda x, y, w, t, i: x == w[i - 1] and y == w[i],
    "rbigram": lambda x, y, w, t, i: x == w[i] and y == w[i + 1],
    "prevbigram": lambda x, y, w, t, i: x == t[i - 2] and y == t[i - 1],
    "nextbigram": lambda x, y, w, t, i: x == t[i + 1] and y == t[i + 2],
}
"""The conditions of Brill's rules, by their names in the file of rules."""


@dataclass(frozen=True)
class _Rule:
    """A contextual rule: if ``test`` holds for ``x`` and ``y``, the tag becomes ``new_tag``.

    Attributes
    ----------
    rank
        Its line in the file, from 1; rules are applied in this order.
    """

    rank: int
    new_tag: str
    test: _Test
    x: str
    y: str


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
        # After a rule changed the tag, the later rules for the new tag apply.
        rule = _first_rule(padded_words, padded_tags, index, after=0)
        while rule is not None:
            padded_tags[index] = rule.new_tag
            rule = _first_rule(padded_words, padded_tags, index, after=rule.rank)
    return padded_tags[3:-3]


def _first_rule(words: Sequence[str], tags: Sequence[str], index: int, after: int) -> _Rule | None:
    """Return the first rule that changes the tag at an index and has a rank above ``after``."""
    for rule in _rules().get(tags[index], ()):
        if rule.rank > after and rule.test(rule.x, rule.y, words, tags, index):
            return rule
    return None


@cache
def _rules() -> dict[str, list[_Rule]]:
    """Return the contextual rules by the tag that they change."""
    rules: dict[str, list[_Rule]] = {}
    for rank, line in enumerate(_lines("en-context.txt"), start=1):
        # A line such as "NN VB PREVTAG TO": tag, new tag, condition, x, and y if the condition has one (else "-").
        tag, new_tag, condition, x, y, *_ = f"{line} -".split()
        rule = _Rule(rank, new_tag, _TESTS[condition.lower()], x, y)
        rules.setdefault(tag, []).append(rule)
    return rules


def _lines(name: str) -> list[str]:
    """Return the lines of a file of the textblob package, without comments and blank lines."""
    spec = importlib.util.find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("building a test set", "build")
    package = Path(spec.submodule_search_locations[0])
    text = (package / "en" / name).read_text(encoding="utf-8-sig")
    lines = []
    for line in text.split("\n"):
        is_comment = line.startswith(";;;")
        if line.strip() and not is_comment:
            lines.append(line)
    return lines
