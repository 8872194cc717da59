"""Misspelling a word: from a list of common misspellings, else by a rule (Chiang et al. 2023, section 2.2.5).

A rule deletes or replaces one character, or swaps two neighbours. A misspelling is never an English word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from numpy.random import Generator

from embassay.corpora.io.texts import read_text
from embassay.errors import SourceError
from embassay.store.paths import source_path
from embassay.testsets.english.brill import lexicon
from embassay.testsets.english.installed import text_of
from embassay.testsets.english.tagger import possible

TRIES = 40
"""The number of misspellings by rule that are tried before a word is given up."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BETWEEN = re.compile(r"\t|->|→")


def misspelt(word: str, listed: Mapping[str, tuple[str, ...]], chance: Generator) -> tuple[str, str] | None:
    """Return a misspelling of a word in lower case, and its origin: ``"list"`` or ``"rule"``.

    None for an unlisted word of fewer than three letters, or if the rules make only English words.
    """
    listed_forms = [form for form in listed.get(word, ()) if not is_word(form)]
    if listed_forms:
        return listed_forms[int(chance.integers(len(listed_forms)))], "list"
    if len(word) < 3 or not word.isalpha():
        return None
    for _ in range(TRIES):
        rule = _RULES[int(chance.integers(len(_RULES)))]
        form = rule(word, chance)
        if form != word and not is_word(form):
            return form, "rule"
    return None


def read_misspellings(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file with a misspelling and the correct word on each line, separated by a tab, ``->`` or ``→``.

    Returns
    -------
    The misspellings of each word, in lower case. Of several correct words on a line, the first is used.

    Raises
    ------
    SourceError
        With the line, for a file that cannot be read or has another format.
    """
    text = read_text(source_path(path))
    forms_of: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in _BETWEEN.split(line, maxsplit=1)]
        if len(parts) != 2 or not all(parts):
            raise SourceError("must be a misspelling, a tab, -> or →, and the right word", path, number)
        _add(forms_of, parts[0], parts[1])
    if not forms_of:
        raise SourceError("has no misspelling", path)
    return {word: tuple(forms) for word, forms in forms_of.items()}


@cache
def common_misspellings() -> dict[str, tuple[str, ...]]:
    """Return codespell's misspellings by the correct word, without those of several possible words.

    Raises
    ------
    MissingExtraError
        If codespell is not installed.
    """
    forms_of: dict[str, list[str]] = {}
    for line in text_of("codespell_lib", "data/dictionary.txt", "building minimal pairs").split("\n"):
        wrong, arrow, right = line.partition("->")
        if arrow and "," not in right:
            _add(forms_of, wrong, right)
    return {word: tuple(forms) for word, forms in forms_of.items()}


def is_word(form: str) -> bool:
    """Return whether a form in lower case is in the tagger's lexicon or in lemminflect's dictionary."""
    return form in lexicon() or bool(possible(form)) or form.capitalize() in lexicon()


def _add(forms_of: dict[str, list[str]], wrong: str, right: str) -> None:
    """Add a misspelling to those of a correct word, if both are single words."""
    right = right.split(",")[0].strip()
    if wrong.isalpha() and right.isalpha() and wrong.lower() != right.lower():
        forms_of.setdefault(right.lower(), []).append(wrong.lower())


def _deleted(word: str, chance: Generator) -> str:
    at = int(chance.integers(len(word)))
    return word[:at] + word[at + 1 :]


def _replaced(word: str, chance: Generator) -> str:
    at = int(chance.integers(len(word)))
    return word[:at] + _LETTERS[int(chance.integers(len(_LETTERS)))] + word[at + 1 :]


def _swapped(word: str, chance: Generator) -> str:
    at = int(chance.integers(len(word) - 1))
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


_RULES: tuple[Callable[[str, Generator], str], ...] = (_deleted, _replaced, _swapped)
