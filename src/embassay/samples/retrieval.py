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
        Ids of the documents that answer it; empty if no document does.
    gains
        The graded relevance of each right document, at least 1; if empty, all are 1.
    units
        The keys of its units: an article, or its right documents; if empty, the question's id.
    """

    id: str
    question: str
    right: tuple[str, ...]
    gains: tuple[int, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The first of its units, or its own id."""
        return self.units[0] if self.units else self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the question, as a query; the documents belong to the corpus."""
        return (("query", self.question),)

    def fields(self) -> Mapping[str, str]:
        """Return the question, and the ids of the right documents."""
        return {"question": self.question, "right": ", ".join(self.right) or "(none: not answered by the documents)"}


@dataclass(frozen=True)
class Document:
    """A document to search. Its similarity to a question is that of its closest passage.

    Attributes
    ----------
    passages
        Its text, whole or divided into parts; at least one.
    """

    id: str
    passages: tuple[str, ...]
