"""Questions and passages as vectors of an encoder, and the right documents of each question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.engine.topk import search
from embassay.samples.retrieval import Question
from embassay.training.triplets import normalised
from embassay.types import AnyCorpus, Encoder
from embassay.vectors import VectorMatrix

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rights:
    """The right documents of all questions with one text.

    Attributes
    ----------
    documents
        Indices of the right documents.
    passages
        Indices of all of their passages.
    texts
        The texts of those passages; empty if there is only one.
    forms
        Those texts as :meth:`Space.form` normalises them.
    """

    documents: frozenset[int]
    passages: Ints
    texts: tuple[str, ...]
    forms: frozenset[str]

    def repeated(self, form: str) -> bool:
        """Return whether a normalised text equals, contains or occurs in a right text."""
        return form in self.forms or any(form in right or right in form for right in self.forms)


class Space:
    """The questions and passages as vectors, and the documents nearest to each question.

    Attributes
    ----------
    documents
        The index of each document by its id.
    starts
        (documents + 1,) the index of each document's first passage; the last is the number of passages.
    nearest
        For each question its nearest documents.
    right_similarity
        The similarity of a question and a right document by (row of the question, index of the document).
    """

    def __init__(
        self,
        corpus: AnyCorpus,
        questions: Sequence[Question],
        encoder: Encoder,
        window: int,
        held_out: Collection[str],
    ):
        self.questions = questions
        self.documents = {document.id: place for place, document in enumerate(corpus.documents)}
        # The passages of all documents are numbered one after the other.
        self.passages: list[str] = []
        starts = [0]
        for document in corpus.documents:
            self.passages += document.passages
            starts.append(len(self.passages))
        self.starts = np.array(starts)
        self.by_dot_product = encoder.card.similarity == "dot"

        self._question_vectors = encoder.encode([question.question for question in questions], "query")
        vectors = encoder.encode(self.passages, "document")
        self._unit_vectors = _normalise(vectors)
        self._compared_vectors = self._unit_vectors
        if self.by_dot_product:
            self._compared_vectors = vectors
        pairs = []
        for row, question in enumerate(questions):
            # A corpus may name a right document twice.
            distinct_names = dict.fromkeys(question.right)
            pairs += [(row, self.documents[name]) for name in distinct_names]
        self.nearest = search(
            self._question_vectors,
            vectors,
            k=window,
            measure=encoder.card.similarity,
            starts=self.starts[:-1],
            pairs=np.array(pairs, dtype=np.int64),
        )
        self.right_similarity = dict(zip(pairs, self.nearest.own.tolist(), strict=True))

        self._forms: dict[int, str] = {}
        # Compared as texts, because a document that may be learnt from can repeat a held-out one.
        self._held_out_forms: set[str] = set()
        for name in held_out:
            passages = self._passages_of(self.documents[name])
            self._held_out_forms.update(map(self.form, passages.tolist()))
        # Questions of one text share their right documents.
        self._right_documents: defaultdict[str, set[int]] = defaultdict(set)
        for question in questions:
            places = {self.documents[name] for name in question.right}
            self._right_documents[normalised(question.question)] |= places
        self._rights: dict[frozenset[int], Rights] = {}

    def rights(self, row: int) -> Rights:
        """Return the right documents of a question and of all questions with the same text."""
        documents = frozenset(self._right_documents[normalised(self.questions[row].question)])
        if documents not in self._rights:
            self._rights[documents] = self._rights_of(documents)
        return self._rights[documents]

    def _rights_of(self, documents: frozenset[int]) -> Rights:
        # Sorted, because the order of a set differs between processes.
        blocks = [self._passages_of(document) for document in sorted(documents)]
        passages = np.concatenate(blocks)
        texts = tuple(dict.fromkeys(self.passages[passage] for passage in passages))
        forms = frozenset(map(self.form, passages.tolist()))
        if len(texts) == 1:
            texts = ()
        return Rights(documents, passages, texts, forms)

    def form(self, passage: int) -> str:
        """Return a passage's normalised text between two spaces, so that only whole words match in it."""
        if passage not in self._forms:
            self._forms[passage] = f" {normalised(self.passages[passage])} "
        return self._forms[passage]

    def held_out(self, passage: int) -> bool:
        """Return whether a passage belongs to a held-out document, or has the same text as such a passage."""
        return self.form(passage) in self._held_out_forms

    def text(self, row: int, document: int) -> str:
        """Return the passage of a right document that is nearest to the question."""
        passages = self._passages_of(document)
        nearest = 0
        if len(passages) > 1:
            scores = self._compared_vectors[passages] @ self._question_vectors[row : row + 1].T
            nearest = int(_dense(scores).argmax())
        return self.passages[int(passages[nearest])]

    def largest_cosine(self, passage: int, others: Ints) -> float:
        """Return the largest cosine of a passage with other passages."""
        return float(_dense(self._unit_vectors[others] @ self._unit_vectors[[passage]].T).max())

    def _passages_of(self, document: int) -> Ints:
        return np.arange(self.starts[document], self.starts[document + 1])


def _dense(matrix: VectorMatrix) -> np.ndarray:
    """Return a product of dense or of sparse matrices as an array."""
    if issparse(matrix):
        return np.asarray(csr_array(matrix).toarray())
    return np.asarray(matrix)


def _normalise(vectors: VectorMatrix) -> VectorMatrix:
    """Return rows at unit length; zero rows stay."""
    from sklearn.preprocessing import normalize

    normalised: VectorMatrix = normalize(vectors)
    return normalised
