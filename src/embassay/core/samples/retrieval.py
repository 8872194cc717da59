"""Questions, and the documents that answer them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, MinLen

from embassay.core.arrays import Ints
from embassay.core.samples.base import STRICT, Sample, Text, Words

if TYPE_CHECKING:
    from embassay.core.parts import PartVectors


def length(text: str) -> int:
    """Return the number of characters of a text without white space."""
    return sum(map(len, text.split()))


def after(text: str, letters: int) -> str:
    """Return the words of a text after so many characters without white space."""
    for word in re.finditer(r"\S+", text):
        if letters <= 0:
            return text[word.start() :]
        letters -= len(word[0])
    return ""


@dataclass(frozen=True)
class Question(Sample):
    """A question and the documents that answer it (shape ``retrieval``).

    Attributes
    ----------
    right
        Ids of the documents that answer it; empty if no document does.
    gains
        The graded relevance of each right document, at least 1; if empty, all are 1.
    units
        The keys of its units: an article, or its right documents; if empty, the question's id.

    Examples
    --------
    >>> question = ea.load("handbook").samples[0]
    >>> question.question, question.right
    ('How many sensor devices can a site have in total?', ('overview-02',))
    """

    question: Words
    right: tuple[Words, ...]
    gains: tuple[Annotated[int, Ge(1)], ...] = ()
    units: tuple[Words, ...] = ()

    @property
    def unit(self) -> str:
        """The first of its units, or its own id."""
        return self.units[0] if self.units else self.id

    def texts(self) -> tuple[Text, ...]:
        """Return the question, as a query; the documents belong to the corpus."""
        return (("query", self.question),)

    def fields(self) -> Mapping[str, str]:
        """Return the question, and the ids of the right documents."""
        return {"question": self.question, "right": ", ".join(self.right) or "(none: not answered by the documents)"}

    def contradiction(self) -> str:
        """Return what is wrong with the number of right documents; empty if nothing is."""
        if self.gains and len(self.gains) != len(self.right):
            return f"gains must have {len(self.right)} values, one per right document; has {len(self.gains)}"
        return "a right document is listed twice" if len(set(self.right)) < len(self.right) else ""


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

    def contradiction(self) -> str:
        """Return what is wrong with its right documents or with the places of its answers; empty if nothing is."""
        for place in self.places:
            if place.document not in self.right or place.start >= place.end:
                return f"an answer cannot stand in {place.document!r} from {place.start} to {place.end}"
        return super().contradiction()


@dataclass(frozen=True)
class Document:
    """A document to search. Its similarity to a question is that of its closest passage.

    Attributes
    ----------
    passages
        Its text, whole or divided into parts; at least one.
    spans
        Where each passage begins and ends in the document, in characters without white space, what is set before it
        left out; empty if each begins where the one before it ends, and nothing is set before any.

    Examples
    --------
    >>> ea.Document("faq", ("Ask at the desk.", "It is open all day.")).passages[1]
    'It is open all day.'
    """

    __pydantic_config__ = STRICT
    id: Words
    passages: Annotated[tuple[Words, ...], MinLen(1)]
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def placed(self) -> list[tuple[str, int, int]]:
        """Each passage without what is set before it, and where it begins and ends, as in ``spans``."""
        placed, end = list[tuple[str, int, int]](), 0
        for number, text in enumerate(self.passages):
            # Without spans, each begins where the one before it ends.
            start, end = self.spans[number] if self.spans else (end, end + length(text))
            set_before = length(text) - (end - start)
            placed.append((after(text, set_before), start, end))
        return placed

    @property
    def whole(self) -> str:
        """The text of all passages, with the words that two of them share once."""
        texts, read = list[str](), 0
        for text, start, end in self.placed:
            texts.append(after(text, read - start))
            read = end
        return "\n".join(texts)

    def contradiction(self) -> str:
        """Return what is wrong with where its passages stand; empty if nothing is."""
        if self.spans and len(self.spans) != len(self.passages):
            return f"spans must have {len(self.passages)} values, one per passage; has {len(self.spans)}"
        end_before = 0
        for number, (passage, (start, end)) in enumerate(zip(self.passages, self.spans, strict=False)):
            if not 0 <= start <= end_before < end <= start + length(passage):
                return f"spans.{number}: passage {number} cannot stand from {start} to {end}"
            end_before = end
        return ""


class StoredDocuments(Sequence[Document]):
    """Documents whose vectors are in a folder of parts, and whose texts are not available.

    There may be too many to hold in memory: a document is made when it is asked for. It has one passage, its id, which
    stands for the text where documents are shown.
    """

    def __init__(self, vectors: PartVectors) -> None:
        """Take the rows of a folder as documents."""
        self.vectors = vectors

    @property
    def fingerprint(self) -> str:
        """A hash of the ids and the texts, in their order; the same for folders of different encoders."""
        return self.vectors.manifest.texts_fingerprint

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.vectors)

    def __getitem__(self, place: Any) -> Any:
        """Return the document of a row."""
        # range() refuses rows that do not exist.
        name = self.vectors.id_of(range(len(self))[place])
        return Document(name, (name,))


def places_of(samples: Sequence[Question], documents: Sequence[Document]) -> dict[str, int]:
    """Return by id the places of documents: of stored ones, of those that are right for some question."""
    if isinstance(documents, StoredDocuments):
        return documents.vectors.rows_of({name for sample in samples for name in sample.right})
    return {document.id: place for place, document in enumerate(documents)}


def right_pairs(samples: Sequence[Question], documents: Sequence[Document]) -> Ints:
    """Return (R, 2) the places of each question and of each of its right documents."""
    place_of = places_of(samples, documents)
    pairs = [(question, place_of[name]) for question, sample in enumerate(samples) for name in sample.right]
    # Two columns also where no question has a right document.
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def first_passages(documents: Sequence[Document]) -> Ints:
    """Return (N,) the first passage of each document, counted over all documents."""
    sizes = np.array([len(document.passages) for document in documents], dtype=np.int64)
    return np.cumsum(sizes) - sizes
