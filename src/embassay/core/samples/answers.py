"""Questions whose answers are known as texts, and where these stand in the documents.

A place counts the characters of a document without white space, so that it is the same however the document is divided
into passages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from annotated_types import Ge, MinLen

from embassay.core.samples.base import Words
from embassay.core.samples.retrieval import Question


class AnswerPlace(NamedTuple):
    """Where an answer stands: in this document, from ``start`` to before ``end``, white space not counted.

    Examples
    --------
    >>> ea.AnswerPlace("faq", 0, 3)
    AnswerPlace(document='faq', start=0, end=3)
    """

    document: Words
    start: Annotated[int, Ge(0)]
    end: Annotated[int, Ge(1)]


@dataclass(frozen=True)
class AnsweredQuestion(Question):
    """A question with its answers as texts: it is answered by what is read of a document, not by its title.

    Attributes
    ----------
    answers
        The texts of the answers; any of them is enough.
    places
        Where they stand in the documents; at least one.

    Examples
    --------
    >>> places = (ea.AnswerPlace("faq", 0, 6),)
    >>> question = ea.AnsweredQuestion("1", "When is it open?", ("faq",), answers=("All day",), places=places)
    >>> question.fields()["answer"]
    'All day'
    """

    answers: Annotated[tuple[Words, ...], MinLen(1)] = ()
    places: Annotated[tuple[AnswerPlace, ...], MinLen(1)] = ()

    def fields(self) -> Mapping[str, str]:
        """Return the question, the ids of the right documents, and the answers."""
        return {**super().fields(), "answer": " / ".join(self.answers)}
