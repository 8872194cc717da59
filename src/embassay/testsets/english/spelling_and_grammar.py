"""Grammar and spelling of an English text: what a checker complains about.

HEROS was filtered with LanguageTool (Chiang et al. 2023, section 2.2.1), which needs Java and a server. Harper
(Automattic) checks in this process, 5 ms a sentence. Any other checker that keeps to :class:`Checker` will do.
"""

from __future__ import annotations

from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any, Protocol

from embassay.engine.cores import cores, side_by_side
from embassay.errors import MissingExtraError

STYLE = frozenset({"Enhancement", "Readability", "Redundancy", "Style"})
"""Kinds of complaint that are about style."""
OFF = (
    "Dashes EllipsisLength Hedging LitotesDirectPositive LongSentences NumericRangeEnDash OxfordComma Regionalisms "
    "UpdatePlaceNames UseEllipsisCharacter"
).split()
"""Rules about style or taste; ``LitotesDirectPositive`` would refuse "not unhappy"."""


class Checker(Protocol):
    """Finds out whether something is wrong with a text."""

    def is_clean(self, text: str) -> bool:
        """Return whether a text is grammatical and rightly spelt."""
        ...

    def look_ahead(self, texts: Iterable[str]) -> None:
        """Check texts that will be asked for, on all cores."""
        ...


class Harper:
    """The Harper grammar checker; a word that is right in American or in British spelling is right."""

    def __init__(self) -> None:
        """Load the dictionary and the rules, which takes a second.

        Raises
        ------
        MissingExtraError
            If harper-py is not installed.
        """
        try:
            from harper import Dialect, Linter
        except ImportError:
            raise MissingExtraError("building minimal pairs", "build") from None
        self._known: dict[str, bool] = {}
        self._linters: SimpleQueue[Any] = SimpleQueue()
        for _ in range(cores()):  # one for each thread: a linter serves one at a time
            pair = (Linter(), Linter(Dialect.BRITISH))
            for linter in pair:
                linter.set_lint_config({**linter.get_lint_config(), **dict.fromkeys(OFF, False)})
            self._linters.put(pair)

    def is_clean(self, text: str) -> bool:
        """Return whether Harper has no complaint about a text but one of style."""
        if text not in self._known:
            pair = self._linters.get()
            self._known[text] = _is_clean(text, *pair)
            self._linters.put(pair)
        return self._known[text]

    def look_ahead(self, texts: Iterable[str]) -> None:
        """Check texts that will be asked for, on all cores."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]

        def work(part: int, parts: int) -> None:
            for text in new[part::parts]:
                self.is_clean(text)

        with side_by_side(min(cores(), len(new))) as each:
            each(work)


def _is_clean(text: str, american: Any, british: Any) -> bool:
    found = [lint for lint in american.lint(text, language="plaintext") if lint.lint_kind not in STYLE]
    if any(lint.lint_kind != "Spelling" for lint in found):
        return False
    if not found:
        return True
    there = {(lint.span.start, lint.span.end) for lint in british.lint(text, language="plaintext")}
    return all((lint.span.start, lint.span.end) not in there for lint in found)
