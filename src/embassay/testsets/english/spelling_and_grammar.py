"""Checking the grammar and the spelling of English texts.

HEROS was filtered with LanguageTool (Chiang et al. 2023, section 2.2.1), which needs Java and a server. Harper
(Automattic) runs in this process and takes 5 ms per sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from embassay.core.errors import MissingExtraError
from embassay.testsets.options import Grammar

STYLE = frozenset({"Enhancement", "Readability", "Redundancy", "Style"})
"""The kinds of complaints that are about style; they are ignored."""
OFF = (
    "Dashes EllipsisLength Hedging LitotesDirectPositive LongSentences NumericRangeEnDash OxfordComma Regionalisms "
    "UpdatePlaceNames UseEllipsisCharacter"
).split()
"""Rules that are switched off because they are about style; ``LitotesDirectPositive`` would reject "not unhappy"."""


Checker = Callable[[str], bool]
"""Returns whether a text is grammatical and spelled correctly."""


def grammar_checker(grammar: Grammar) -> Checker:
    """Return the checker of an option: Harper, or one that accepts every text.

    Raises
    ------
    MissingExtraError
        If harper-py is not installed.
    """
    if grammar != "harper":
        return lambda text: True
    try:
        from harper import Dialect, Linter
    except ImportError:
        raise MissingExtraError("building minimal pairs", "build") from None
    american, british = Linter(), Linter(Dialect.BRITISH)
    for linter in (american, british):
        linter.set_lint_config({**linter.get_lint_config(), **dict.fromkeys(OFF, False)})

    def is_clean(text: str) -> bool:
        # An error of grammar or spelling is one in both dialects.
        places = _complaints(text, american)
        return not places or places.isdisjoint(_complaints(text, british))

    return is_clean


def _complaints(text: str, linter: Any) -> set[tuple[int, int]]:
    """Return where a checker complains about a text, except about its style."""
    complaints = linter.lint(text, language="plaintext")
    return {(lint.span.start, lint.span.end) for lint in complaints if lint.lint_kind not in STYLE}
