"""Checking the grammar and the spelling of English texts.

HEROS was filtered with LanguageTool (Chiang et al. 2023, section 2.2.1), which needs Java and a server. Harper
(Automattic) runs in this process and takes 5 ms per sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any

from embassay.core.errors import MissingExtraError
from embassay.core.processes.cores import cores, in_threads
from embassay.testsets.options import Grammar

STYLE = frozenset({"Enhancement", "Readability", "Redundancy", "Style"})
"""The kinds of complaints that are about style; they are ignored."""
OFF = (
    "Dashes EllipsisLength Hedging LitotesDirectPositive LongSentences NumericRangeEnDash OxfordComma Regionalisms "
    "UpdatePlaceNames UseEllipsisCharacter"
).split()
"""Rules that are switched off because they are about style; ``LitotesDirectPositive`` would reject "not unhappy"."""


class Harper:
    """The Harper grammar checker; American and British spellings are both correct."""

    def __init__(self) -> None:
        """Load the dictionary and the rules, which takes about a second.

        Raises
        ------
        MissingExtraError
            If harper-py is not installed.
        """
        try:
            from harper import Dialect, Linter
        except ImportError:
            raise MissingExtraError("building minimal pairs", "build") from None
        self._results: dict[str, bool] = {}
        # One pair of linters per thread: a linter cannot be used by two threads at a time.
        self._linters: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
        for _ in range(cores()):
            american, british = Linter(), Linter(Dialect.BRITISH)
            for linter in (american, british):
                linter.set_lint_config({**linter.get_lint_config(), **dict.fromkeys(OFF, False)})
            self._linters.put((american, british))

    def is_clean(self, text: str) -> bool:
        """Return whether Harper has no complaint about a text, apart from complaints about style."""
        if text not in self._results:
            american, british = self._linters.get()
            self._results[text] = _is_clean(text, american, british)
            self._linters.put((american, british))
        return self._results[text]

    def look_ahead(self, texts: Iterable[str]) -> None:
        """Check texts in advance, on all cores; :meth:`is_clean` then returns at once for them."""
        new = [text for text in dict.fromkeys(texts) if text not in self._results]

        def work(part: int, parts: int) -> None:
            for text in new[part::parts]:
                self.is_clean(text)

        in_threads(min(cores(), len(new)), work)


class Unchecked:
    """In place of a checker: every text is correct."""

    def is_clean(self, text: str) -> bool:
        """Return true."""
        return True

    def look_ahead(self, texts: Iterable[str]) -> None:
        """Do nothing."""


def grammar_checker(grammar: Grammar) -> Harper | Unchecked:
    """Return the checker of an option."""
    return Harper() if grammar == "harper" else Unchecked()


def _is_clean(text: str, american: Any, british: Any) -> bool:
    """Return whether a text has no errors of grammar, and no spelling that is wrong in both dialects."""
    complaints = [lint for lint in american.lint(text, language="plaintext") if lint.lint_kind not in STYLE]
    if any(lint.lint_kind != "Spelling" for lint in complaints):
        return False
    if not complaints:
        return True
    wrong_in_american = {(lint.span.start, lint.span.end) for lint in complaints}
    wrong_in_british = {(lint.span.start, lint.span.end) for lint in british.lint(text, language="plaintext")}
    return wrong_in_american.isdisjoint(wrong_in_british)
