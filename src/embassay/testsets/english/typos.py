"""A misspelling of a word: from a list of common ones, else by rule (Chiang et al. 2023, section 2.2.5).

By rule one character is deleted or replaced, or two neighbours are swapped. What comes out is never a word.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from embassay.corpora.io.texts import read_text
from embassay.errors import MissingExtraError, SourceError
from embassay.store.paths import source_path
from embassay.testsets.english.brill import lexicon
from embassay.testsets.english.tagger import possible

TRIES = 40
"""Misspellings by rule that are tried before a word is given up."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BETWEEN = re.compile(r"\t|->|→")


def misspelt(word: str, listed: Mapping[str, tuple[str, ...]], chance: np.random.Generator) -> tuple[str, str] | None:
    """Return a misspelling of a word in lower case, and whether from the ``"list"`` or by ``"rule"``.

    None for a word of fewer than three letters, or where all that rules make are words.
    """
    wrong = [form for form in listed.get(word, ()) if not is_word(form)]
    if wrong:
        return wrong[int(chance.integers(len(wrong)))], "list"
    if len(word) < 3 or not word.isalpha():
        return None
    for _ in range(TRIES):
        made = _RULES[int(chance.integers(len(_RULES)))](word, chance)
        if made != word and not is_word(made):
            return made, "rule"
    return None


def read_misspellings(path: Path) -> dict[str, tuple[str, ...]]:
    """Read lines of a misspelling and the right word, between them a tab, ``->`` or ``→``.

    Returns
    -------
    The misspellings of each word, in lower case; a line with several right words counts for the first.

    Raises
    ------
    SourceError
        With the line, for a file that cannot be read or has another form.
    """
    text = read_text(source_path(path))
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in _BETWEEN.split(line, maxsplit=1)]
        if len(parts) != 2 or not all(parts):
            raise SourceError("must be a misspelling, a tab, -> or →, and the right word", path, number)
        _add(found, parts[0], parts[1])
    if not found:
        raise SourceError("has no misspelling", path)
    return {word: tuple(forms) for word, forms in found.items()}


@cache
def common_misspellings() -> dict[str, tuple[str, ...]]:
    """Return codespell's dictionary by the right word; a misspelling that may stand for several words is left out.

    Raises
    ------
    MissingExtraError
        If codespell is not installed.
    """
    spec = importlib.util.find_spec("codespell_lib")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("building minimal pairs", "build")
    file = Path(spec.submodule_search_locations[0]) / "data" / "dictionary.txt"
    found: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").split("\n"):
        wrong, arrow, right = line.partition("->")
        if arrow and "," not in right:
            _add(found, wrong, right)
    return {word: tuple(forms) for word, forms in found.items()}


def is_word(form: str) -> bool:
    """Return whether a form in lower case is an English word, as far as tagger and inflection know."""
    return form in lexicon() or bool(possible(form)) or form.capitalize() in lexicon()


def _add(found: dict[str, list[str]], wrong: str, right: str) -> None:
    """Take a pair up if each side is one word."""
    right = right.split(",")[0].strip()
    if wrong.isalpha() and right.isalpha() and wrong.lower() != right.lower():
        found.setdefault(right.lower(), []).append(wrong.lower())


def _deleted(word: str, chance: np.random.Generator) -> str:
    at = int(chance.integers(len(word)))
    return word[:at] + word[at + 1 :]


def _replaced(word: str, chance: np.random.Generator) -> str:
    at = int(chance.integers(len(word)))
    return word[:at] + _LETTERS[int(chance.integers(len(_LETTERS)))] + word[at + 1 :]


def _swapped(word: str, chance: np.random.Generator) -> str:
    at = int(chance.integers(len(word) - 1))
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


_RULES: tuple[Callable[[str, np.random.Generator], str], ...] = (_deleted, _replaced, _swapped)
