"""Misspelling a word: from a list of common misspellings, else by a rule (Chiang et al. 2023, section 2.2.5).

A rule deletes or replaces one character, or swaps two neighbours. A misspelling is never an English word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from numpy.random import Generator

from embassay.testsets.english.installed import text_of
from embassay.testsets.english.parser import function_words, possible

TRIES = 40
"""The number of misspellings by rule that are tried before a word is given up."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def misspelt(word: str, chance: Generator) -> tuple[str, str] | None:
    """Return a misspelling of a word in lower case, and its origin: ``"list"`` or ``"rule"``.

    None for an unlisted word of fewer than three letters, or if the rules make only English words.
    """
    listed_forms = [form for form in common_misspellings().get(word, ()) if not is_word(form)]
    if listed_forms:
        return listed_forms[int(chance.integers(len(listed_forms)))], "list"
    if len(word) < 3 or not word.isalpha():
        return None
    for _ in range(TRIES):
        form = _mistyped(word, chance)
        if form != word and not is_word(form):
            return form, "rule"
    return None


@cache
def common_misspellings() -> Mapping[str, Sequence[str]]:
    """Return codespell's misspellings by the correct word, in lower case, without those of several possible words.

    Raises
    ------
    MissingExtraError
        If codespell is not installed.
    """
    forms_of = defaultdict[str, list[str]](list)
    for line in text_of("codespell_lib", "data/dictionary.txt", "building minimal pairs").split("\n"):
        wrong, _, right = line.strip().lower().partition("->")
        if wrong.isalpha() and right.isalpha():
            forms_of[right].append(wrong)
    return forms_of


def is_word(form: str) -> bool:
    """Return whether a form in lower case is a function word or in lemminflect's dictionary."""
    return form in function_words() or bool(possible(form))


def _mistyped(word: str, chance: Generator) -> str:
    """Return a word with one character deleted or replaced, or two neighbours swapped."""
    rule = int(chance.integers(3))
    at = int(chance.integers(len(word) - (rule == 2)))
    # Drawn for each rule, so that all rules take equally many random numbers.
    letter = _LETTERS[int(chance.integers(len(_LETTERS)))]
    before, character, after = word[:at], word[at], word[at + 1 :]
    if rule == 0:
        return before + after
    if rule == 1:
        return before + letter + after
    return before + after[0] + character + after[1:]
