"""Misspelling a word: from a list of common misspellings, else by a rule (Chiang et al. 2023, section 2.2.5).

A rule deletes or replaces one character, or swaps two neighbours. A misspelling is never an English word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from numpy.random import Generator

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.tables.texts import read_text
from embassay.testsets.english.installed import text_of
from embassay.testsets.english.parser import function_words, possible

TRIES = 40
"""The number of misspellings by rule that are tried before a word is given up."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BETWEEN = re.compile(r"\t|->|→")


Misspellings = Mapping[str, Sequence[str]]
"""The misspellings of each word, in lower case."""


def misspelt(word: str, listed: Misspellings, chance: Generator) -> tuple[str, str] | None:
    """Return a misspelling of a word in lower case, and its origin: ``"list"`` or ``"rule"``.

    None for an unlisted word of fewer than three letters, or if the rules make only English words.
    """
    listed_forms = [form for form in listed.get(word, ()) if not is_word(form)]
    if listed_forms:
        return listed_forms[int(chance.integers(len(listed_forms)))], "list"
    if len(word) < 3 or not word.isalpha():
        return None
    for _ in range(TRIES):
        form = _mistyped(word, chance)
        if form != word and not is_word(form):
            return form, "rule"
    return None


def read_misspellings(path: Path) -> Misspellings:
    """Read a file with a misspelling and the correct word on each line, separated by a tab, ``->`` or ``→``.

    Returns
    -------
    The misspellings of each word, in lower case. Of several correct words on a line, the first is used.

    Raises
    ------
    SourceError
        With the line, for a file that cannot be read or has another format.
    """
    lines = [line for line in read_text(source_path(path)).split("\n") if not line.startswith("#")]
    forms_of = _by_word(_BETWEEN.split(line.strip(), maxsplit=1) for line in lines)
    if not forms_of:
        raise SourceError("has no line with a misspelling, a tab, -> or →, and the right word", path)
    return forms_of


@cache
def common_misspellings() -> Misspellings:
    """Return codespell's misspellings by the correct word, without those of several possible words.

    Raises
    ------
    MissingExtraError
        If codespell is not installed.
    """
    lines = text_of("codespell_lib", "data/dictionary.txt", "building minimal pairs").split("\n")
    return _by_word(line.split("->") for line in lines if "->" in line and "," not in line)


def is_word(form: str) -> bool:
    """Return whether a form in lower case is a function word or in lemminflect's dictionary."""
    return form in function_words() or bool(possible(form))


def _by_word(pairs: Iterable[Sequence[str]]) -> Misspellings:
    """Return the misspellings by the first of the correct words, from pairs of both, if they are single words."""
    forms_of = defaultdict[str, list[str]](list)
    for wrong, *words in pairs:
        right = "".join(words).split(",")[0].strip()
        wrong = wrong.strip()
        if wrong.isalpha() and right.isalpha() and wrong.lower() != right.lower():
            forms_of[right.lower()].append(wrong.lower())
    return dict(forms_of)


def _mistyped(word: str, chance: Generator) -> str:
    """Return a word with one character deleted or replaced, or two neighbours swapped."""
    rule = int(chance.integers(3))
    at = int(chance.integers(len(word) - (rule == 2)))
    replacement = ("", _LETTERS[int(chance.integers(len(_LETTERS)))], word[at + 1 : at + 2] + word[at])[rule]
    return word[:at] + replacement + word[at + 1 + (rule == 2) :]
