"""Questions, and the documents that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.samples.base import Role


@dataclass(frozen=True)
class Question:
    """A question and the documents that answer it (shape ``retrieval``).

    Attributes
    ----------
    right
        Ids of the documents that answer it; none for a question that the documents do not answer.
    gains
        How good each of them is, 1 or more; all 1 where empty.
    units
        The keys of the units that it belongs to: an article, or its right documents; its own id where empty.
    """

    id: str
    question: str
    right: tuple[str, ...]
    gains: tuple[int, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The first of its units, or itself."""
        return self.units[0] if self.units else self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the question, as a query; documents are texts of the corpus."""
        return (("query", self.question),)

    def fields(self) -> Mapping[str, str]:
        """Return the question, and the ids of the right documents."""
        return {"question": self.question, "right": ", ".join(self.right) or "(none: not answered by the documents)"}


@dataclass(frozen=True)
class Document:
    """A document that can be found: it is as near to a question as its nearest passage.

    Attributes
    ----------
    passages
        Its text, whole or cut into parts, one at least.
    """

    id: str
    passages: tuple[str, ...]
