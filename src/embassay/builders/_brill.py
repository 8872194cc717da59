"""Brill's tagger (1994) with the lexicon and the contextual rules that the textblob package carries.

Pattern (De Smedt & Daelemans 2012) trained them on Brown and the Penn treebank: 94,000 words with their most frequent
tag, 284 rules. The two files are read as they are; the package itself, which imports much, is not imported.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from embassay.errors import MissingExtraError

_EDGE = ["STAART"] * 3
_Test = Callable[[str, str, Sequence[str], Sequence[str], int], bool]
_TESTS: dict[str, _Test] = {
    "prevtag": lambda x, _, w, t, i: x == t[i - 1],
    "nexttag": lambda x, _, w, t, i: x == t[i + 1],
    "prev2tag": lambda x, _, w, t, i: x == t[i - 2],
    "next2tag": lambda x, _, w, t, i: x == t[i + 2],
    "prev1or2tag": lambda x, _, w, t, i: x == t[i - 1] or x == t[i - 2],
    "next1or2tag": lambda x, _, w, t, i: x == t[i + 1] or x == t[i + 2],
    "prev1or2or3tag": lambda x, _, w, t, i: x in t[i - 3 : i],
    "next1or2or3tag": lambda x, _, w, t, i: x in t[i + 1 : i + 4],
    "surroundtag": lambda x, y, w, t, i: x == t[i - 1] and y == t[i + 1],
    "curwd": lambda x, _, w, t, i: x == w[i],
    "prevwd": lambda x, _, w, t, i: x == w[i - 1],
    "nextwd": lambda x, _, w, t, i: x == w[i + 1],
    "prev1or2wd": lambda x, _, w, t, i: x == w[i - 1] or x == w[i - 2],
    "next1or2wd": lambda x, _, w, t, i: x == w[i + 1] or x == w[i + 2],
    "next1or2or3wd": lambda x, _, w, t, i: x in w[i + 1 : i + 4],
    "prev1or2or3wd": lambda x, _, w, t, i: x in w[i - 3 : i],
    "prevwdtag": lambda x, y, w, t, i: x == w[i - 1] and y == t[i - 1],
    "nextwdtag": lambda x, y, w, t, i: x == w[i + 1] and y == t[i + 1],
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


@cache
def lexicon() -> dict[str, str]:
    """Return the most frequent tag of each word, as it is spelt.

    Raises
    ------
    MissingExtraError
        If textblob is not installed.
    """
    pairs = (line.split(" ") for line in _lines("en-lexicon.txt"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


def by_context(words: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Return the tags after the contextual rules, applied in their order at each place, from left to right."""
    rules = _rules()
    w, t = [*_EDGE, *words, *_EDGE], [*_EDGE, *tags, *_EDGE]
    for place in range(3, len(words) + 3):
        rank = 0
        while rule := next((r for r in rules.get(t[place], ()) if r[0] > rank and r[2](r[3], r[4], w, t, place)), None):
            rank, t[place] = rule[0], rule[1]
    return t[3:-3]


@cache
def _rules() -> dict[str, tuple[tuple[int, str, _Test, str, str], ...]]:
    """Return the rules by the tag that they change: (rank from 1, new tag, condition, its x, its y)."""
    found: dict[str, list[tuple[int, str, _Test, str, str]]] = {}
    for rank, line in enumerate(_lines("en-context.txt"), start=1):
        old, new, condition, x, *rest = line.split()
        if test := _TESTS.get(condition.lower()):
            found.setdefault(old, []).append((rank, new, test, x, rest[0] if rest else ""))
    return {tag: tuple(rules) for tag, rules in found.items()}


def _lines(name: str) -> list[str]:
    spec = importlib.util.find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("building a test set", "build")
    text = (Path(spec.submodule_search_locations[0]) / "en" / name).read_text(encoding="utf-8-sig")
    return [line for line in text.split("\n") if line.strip() and not line.startswith(";;;")]
