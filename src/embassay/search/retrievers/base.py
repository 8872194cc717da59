"""What a retriever is: it answers questions with lists of documents, the nearest first.

A kind of retriever is one file with ``create(target, runtime, *, options)``, which returns a :class:`Retriever`. It
asks or computes; it reads no labels, writes no file and imports no other kind. The engine gives it the lists of the
candidates that it is built on, checks its answers, keeps them, measures their time, and finds the ranks of the right
documents in them (``run/retrieve.py``; ``docs/decisions/retrievers.md``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError
from embassay.core.samples.base import Text
from embassay.core.samples.retrieval import Question, first_passages
from embassay.core.types import Card, Corpus, Encoder
from embassay.core.vectors import Indices, Vectors
from embassay.models.base import Route
from embassay.models.services.spending import Spending

DEPTH = 100
"""How many documents a list holds, unless the retriever says otherwise."""
PARTS_HINT = (
    "Candidates of this command are named by labels without comma or +: -e LABEL=SPEC adds one, such as "
    "-e stemmed=bm25,stemmer=english."
)
"""For messages about what a retriever is built on."""


@dataclass(frozen=True)
class Lists:
    """The documents that were listed for some questions, the nearest first.

    Attributes
    ----------
    rows
        (m,) which questions these are: rows of ``Questions.samples``.
    documents
        (m, depth) places in ``corpus.documents``; −1 after the last one of a list.
    scores
        (m, depth) larger is nearer, never rising; of no meaning after the last one. All are NaN where nothing is known
        but the order.
    passages
        (m, depth) rows of ``Questions.passages`` by which the documents were found, of no meaning after the last one;
        None where that is not known.
    seconds
        (m,) how long each question took, NaN where that is not known; None: all of them together took the time until
        they were given.
    unknown
        Ids that were listed and are no documents of the corpus; the engine counts and names them.
    facts
        Numbers that the retriever has found out, for the scalars of its scores: ``index/probes=8``.
    """

    rows: Indices
    documents: Indices
    scores: NDArray[np.float64]
    passages: Indices | None = None
    seconds: NDArray[np.float64] | None = None
    unknown: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Questions:
    """The q questions that a retriever is to answer, and what it may use for it.

    Attributes
    ----------
    corpus
        Its documents are searched.
    samples
        (q,) the questions; which documents are right is not for retrievers to see.
    parts
        By label, the lists of the candidates in ``Retriever.parts``: a row for each of these questions, at most
        ``Retriever.depth`` documents, with the passages by which they were found.
    vectors
        By label, their vectors, where ``Retriever.needs_vectors``: of all questions (role ``query``) and passages
        (``document``).
    encode
        Encodes distinct (role, text) by an encoder, each once, with the vectors in the cache; a reranker whose scores
        of texts are its vectors, (n, 1), has them cached and resumed like those.
    """

    corpus: Corpus[Question]
    samples: Sequence[Question]
    parts: Mapping[str, Lists] = field(default_factory=dict)
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    encode: Callable[[Encoder, Sequence[Text]], Vectors] | None = None

    @property
    def texts(self) -> list[str]:
        """(q,) the texts of the questions."""
        return [sample.question for sample in self.samples]

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each document by its id."""
        return {document.id: place for place, document in enumerate(self.corpus.documents)}

    @cached_property
    def passages(self) -> list[str]:
        """The texts of all passages, document by document."""
        return list(chain.from_iterable(document.passages for document in self.corpus.documents))

    @cached_property
    def first_passages(self) -> Indices:
        """(N,) the first passage of each document."""
        return first_passages(self.corpus.documents)

    def listed(
        self, row: int, ids: Sequence[str], scores: Sequence[float] | None = None, seconds: float | None = None
    ) -> Lists:
        """Return the list of one question from the ids of documents; those that are no documents are set aside.

        Parameters
        ----------
        scores
            One for each id; None where only the order is known.

        Raises
        ------
        EncoderError
            If there is another number of scores than of ids.
        """
        if scores is not None and len(scores) != len(ids):
            question = self.samples[row].id
            raise EncoderError(f"question {question!r}: {len(ids)} documents were listed with {len(scores)} scores")
        places = np.array([self.place_of.get(name, -1) for name in ids], dtype=np.int64)
        known = places >= 0
        values = np.full(len(ids), np.nan) if scores is None else np.array(scores, dtype=np.float64)
        return Lists(
            np.array([row]),
            places[None, known],
            values[None, known],
            seconds=None if seconds is None else np.array([seconds]),
            unknown=tuple(name for name in ids if name not in self.place_of),
        )


@dataclass(frozen=True, kw_only=True)
class Retriever(ABC):
    """Answers questions with lists of documents.

    Attributes
    ----------
    name
        A short name for people.
    spec
        The canonical spec, scheme first, without secrets.
    fingerprint
        A hash of all that its lists depend on besides its parts, whose fingerprints the engine adds.
    parts
        The labels of the candidates of the run whose lists it is built on; they are scored before it.
    step
        What it adds to its parts, in a word: ``fusion``, ``reranker``, ``index``, or one of another package.
    depth
        How many documents of each part's list it needs.
    needs_vectors
        Whether it needs the vectors of its parts, too, which then are encoders.
    continues
        The label of the part whose order goes on after the list of this retriever; empty if nothing is known of what is
        not in the list. Only for one whose list has the first documents of that part in another order: a right document
        below it keeps its rank.
    warnings
        What its user should know before a run.
    spending
        Tokens and price of the service that it sends texts to; None if it sends none that are paid for.
    choices
        By the value of a setting, in ascending order, the retrievers that the engine chooses from, all built on the
        same parts: the lists are those of the one with the highest mean reciprocal rank. Empty where nothing is chosen.
    """

    name: str
    spec: str
    fingerprint: str
    parts: tuple[str, ...] = ()
    step: str = ""
    depth: int = DEPTH
    needs_vectors: bool = False
    continues: str = ""
    warnings: tuple[str, ...] = ()
    spending: Spending | None = None
    choices: Mapping[float, Retriever] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        """What is known without asking it: its scores are its own, and no vectors of it are in the cache."""
        price = self.spending.price if self.spending else None
        shapes = ("retrieval",)
        return Card(self.spec, cached=False, price=price, similarity="dot", shapes=shapes, warnings=self.warnings)

    @abstractmethod
    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the lists of all questions, of one or of many at once, in any order; each is kept when it is yielded.

        Raises
        ------
        EncoderError
            If it cannot answer; what was yielded is kept, and the run is continued with the other questions.
        """

    def route(self) -> Route:
        """Return how it answered, for ``run.json``: JSON values by name."""
        return {}

    def release(self) -> None:  # noqa: B027 - most hold nothing
        """Release memory or a connection; it is loaded again for the next question."""

    def tokens(self, questions: Questions) -> int:
        """Return the estimated number of tokens that answering all questions sends to a service that is paid for.

        It is known before a run: without the lists of its parts.
        """
        return 0
