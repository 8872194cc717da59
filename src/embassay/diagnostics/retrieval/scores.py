"""From vectors to the item scores of each question: similarities, ranks of the right documents, transforms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Document, Question, first_passages, right_pairs
from embassay.core.types import Corpus
from embassay.core.vectors import Neighbours, Search, Vectors
from embassay.diagnostics.base import NEAREST
from embassay.diagnostics.metrics.metric import Metric
from embassay.stats.geometry import transforms
from embassay.stats.geometry.closeness import paired
from embassay.stats.geometry.isotropy import isotropy
from embassay.stats.overlap import COMPARED
from embassay.stats.ranking import RightPlaces
from embassay.stats.units import Floats, Ints, ranges

RANDOM = 10
"""Random documents for each question: ROE and the table of similarities are based on them."""
FITTED = 200_000
"""Passages that a transform is fitted on, at most; more do not change it."""
ROWS = 65_536
"""Passages that are processed together."""
RIGHT = "own"
"""The stored name of the (n,) similarities to the nearest right document. Another name would orphan stored scores."""
DIGITS = 6
"""Significant digits of isotropy: the precision of float32 vectors."""


@dataclass(frozen=True, kw_only=True)
class RankingMetric(Metric):
    """A metric of the ranks of a question's right documents, which are stored under its name.

    Attributes
    ----------
    of_places
        The (n,) values by the places of the right documents and k; NaN for a question without a right document.
    more_documents_than
        It is left out where a corpus has no more documents than this: then every question would succeed.
    beside_headline
        Whether it stands in the first table, beside the headline: that is the one on the screen.
    """

    of_places: Callable[[RightPlaces, int], Floats]
    more_documents_than: int = 0
    beside_headline: bool = False


@dataclass(frozen=True)
class EncodedCorpus:
    """A corpus's questions and passages as vectors, and which documents are right.

    Attributes
    ----------
    queries, passages
        (n, d) and (p, d) dense or CSR.
    starts
        (N,) the first passage of each document; None where each document has one.
    first
        (t,) the first passage of each distinct text; None where all texts differ.
    pairs
        (R, 2) the places of each question and each of its right documents.
    """

    corpus: Corpus[Question]
    vectors: Vectors
    queries: Any
    passages: Any
    starts: Ints | None
    first: Ints | None
    pairs: Ints

    @classmethod
    def of(cls, corpus: Corpus[Question], vectors: Vectors) -> EncodedCorpus:
        """Take the vectors of a corpus's questions and passages."""
        questions = [sample.question for sample in corpus.samples]
        queries = vectors.take(questions, "query")
        pairs = right_pairs(corpus.samples, corpus.documents)
        if corpus.stored_documents:
            # Each has one passage.
            return cls(corpus, vectors, queries, vectors.documents, None, None, pairs)
        texts = list[str]()
        for document in corpus.documents:
            texts += document.passages
        passages = vectors.take(texts, "document")
        starts = first_passages(corpus.documents)
        return cls(corpus, vectors, queries, passages, starts, _first_of_texts(texts), pairs)

    @property
    def search(self) -> Search:
        """The search of the vectors.

        Raises
        ------
        ValueError
            If the vectors have none.
        """
        return self.vectors.need_search("retrieval")

    def distinct(self, passages: Any) -> Any:
        """Return the rows of (p, d) passages with each distinct text once."""
        if self.first is None:
            return passages
        return passages[self.first]


class References:
    """The references ``id#0`` of passages by their rows: the id of the document and the number of the passage."""

    def __init__(self, corpus: Corpus[Question]):
        """Count the passages of the documents of a corpus."""
        self._documents = corpus.documents
        if corpus.stored_documents:
            # Each has one passage.
            self._starts: Ints = np.arange(len(corpus.documents))
        else:
            self._starts = first_passages(corpus.documents)

    def document(self, passage: int) -> Document:
        """Return the document of a passage."""
        return self._documents[self.place(passage)]

    def of(self, passage: int) -> str:
        """Return the reference of a passage."""
        place = self.place(passage)
        return f"{self._documents[place].id}#{passage - int(self._starts[place])}"

    def place(self, passage: int) -> int:
        """Return the place of the document of a passage."""
        return int(np.searchsorted(self._starts, passage, side="right")) - 1


def search_documents(encoded: EncodedCorpus, k: int, declared: Iterable[RankingMetric]) -> dict[str, Floats]:
    """Find the nearest documents of each question and the ranks of the right ones.

    Parameters
    ----------
    declared
        The metrics of these ranks.

    Returns
    -------
    values
        ``top`` (n, k) similarities, ``own`` (n,) that to the nearest right document, ``random`` (n, 10) to random ones,
        ``answered`` (n,) 1 where there is a right document, and the ranking metrics: NaN where there is none, or where
        the question's vector has no similarity to anything. Also ``found`` (n, k) the rows of the nearest documents'
        passages, ``nearest`` (n, m) the places of the ten nearest documents and of all that are exactly as near as the
        last of them, 20 at most, and what :func:`nearest_right` returns.
    """
    corpus, pairs = encoded.corpus, encoded.pairs
    nearest = encoded.search(
        encoded.queries,
        encoded.passages,
        k=max(k, 2 * COMPARED),
        similarity_function=encoded.vectors.similarity,
        starts=encoded.starts,
        pairs=pairs,
    )
    # A question without any similarity is undefined, not missed.
    without_similarity = np.isnan(nearest.similarity[:, 0])
    values = _values(corpus, pairs, nearest, k, declared, without_similarity)
    values["random"] = similarity_to_random(encoded)
    return values


def read_lists(
    corpus: Corpus[Question], nearest: Neighbours, k: int, declared: Iterable[RankingMetric]
) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return what :func:`search_documents` does, from the lists of a retriever, and facts about the lists.

    A right document that is in no list, and has no rank, is missed. ``scored`` is 1 where there are scores, else 0.
    Where some lists lack documents, ``listed`` is the length of the longest of these.
    """
    pairs = right_pairs(corpus.samples, corpus.documents)
    never = np.zeros(len(corpus.samples), dtype=np.bool_)
    values = _values(corpus, pairs, nearest, k, declared, never)
    values["random"] = np.full((len(corpus.samples), RANDOM), np.nan)
    scalars = {"scored": float(not np.isnan(nearest.similarity).all())}
    lengths = (nearest.documents >= 0).sum(axis=1)
    is_part = lengths < len(corpus.documents)
    if is_part.any():
        return values, {**scalars, "listed": float(lengths[is_part].max())}
    # By place: the similarity of every document.
    similarity = np.take_along_axis(nearest.similarity, np.argsort(nearest.documents, axis=1), axis=1)
    values["random"] = np.take_along_axis(similarity, _drawn(corpus), axis=1)
    return values, scalars


def _values(
    corpus: Corpus[Question],
    pairs: Ints,
    nearest: Neighbours,
    k: int,
    declared: Iterable[RankingMetric],
    undefined: NDArray[np.bool_],
) -> dict[str, Floats]:
    """Return the values of the first k documents of each question, and of the ranks of the right ones.

    Parameters
    ----------
    undefined
        (n,) the questions whose metrics are undefined.
    """
    places = _places(corpus, pairs, nearest)
    values = dict[str, Floats]()
    for metric in declared:
        if len(corpus.documents) > metric.more_documents_than:
            values[metric.name] = np.where(undefined, np.nan, metric.of_places(places, k))
    # A list may be shorter than k, or longer.
    beyond = ((0, 0), (0, max(k - nearest.documents.shape[1], 0)))
    values["top"] = np.pad(nearest.similarity[:, :k], beyond, constant_values=np.nan)
    found = np.pad(nearest.passages[:, :k], beyond, constant_values=-1)
    values["found"] = np.where(found < 0, np.nan, found)
    values[NEAREST] = nearest.first(COMPARED)
    values |= nearest_right(len(corpus.samples), pairs, nearest)
    values[RIGHT] = _largest_at(pairs[:, 0], nearest.own, len(corpus.samples))
    values["answered"] = np.array([float(bool(s.right)) for s in corpus.samples])
    return values


def success_of_blind_choice(corpus: Corpus[Question], k: int) -> float:
    """Return the success of blind choice: the mean over answered questions of 1 − C(N − r, k)/C(N, k).

    N is the number of documents, r that of a question's right ones; k/N where each question has one.
    """
    documents = len(corpus.documents)
    questions_of = Counter(len(sample.right) for sample in corpus.samples if sample.right)
    # Of all choices of k documents for each question, those of wrong documents only.
    all_wrong = sum(questions * comb(max(documents - right, 0), k) for right, questions in questions_of.items())
    return 1 - all_wrong / (max(questions_of.total(), 1) * comb(documents, k))


def _places(corpus: Corpus[Question], pairs: Ints, nearest: Neighbours) -> RightPlaces:
    """Return the places of the right documents of each question."""
    gains = list[int]()
    for sample in corpus.samples:
        gains += sample.gains or [1] * len(sample.right)
    of_right = np.array(gains, dtype=np.int64)
    return RightPlaces(len(corpus.samples), pairs[:, 0], nearest.greater, nearest.tied, of_right)


def nearest_right(questions: int, pairs: Ints, nearest: Neighbours) -> dict[str, Floats]:
    """Return the rank of each question's nearest right document, and the passage that it was found by.

    Returns
    -------
    ``rank`` (n,) from 1: one more than the number of documents that are strictly nearer; ``tied`` (n,) the number of
    documents that are exactly as near, itself included; ``right_passage`` (n,) the row of its nearest passage. NaN
    where there is no right document, or where it has no rank.
    """
    question_of_pair = pairs[:, 0]
    # −1 marks a right document without a rank; it is sorted last.
    nearer_documents = np.where(nearest.greater < 0, np.iinfo(np.int64).max, nearest.greater)
    by_question_and_rank = np.lexsort((nearer_documents, question_of_pair))
    question, first_of_question = np.unique(question_of_pair[by_question_and_rank], return_index=True)
    best_pair = by_question_and_rank[first_of_question]

    rank = np.full(questions, np.nan)
    tied = np.full(questions, np.nan)
    has_rank = nearest.greater[best_pair] >= 0
    rank[question[has_rank]] = nearest.greater[best_pair[has_rank]] + 1
    tied[question[has_rank]] = nearest.tied[best_pair[has_rank]]

    right_passage = np.full(questions, np.nan)
    passage = nearest.own_passages[best_pair]
    has_passage = passage >= 0
    right_passage[question[has_passage]] = passage[has_passage]
    return {"rank": rank, "tied": tied, "right_passage": right_passage}


def search_transformed(
    encoded: EncodedCorpus, k: int, names: Sequence[transforms.Name], defined: NDArray[np.bool_], pcs: int = 0
) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return the success after each transform, and the isotropy of the passages before and after.

    Transforms are fitted on the distinct passages, which isotropy is of, too: a text that is repeated says nothing more
    about the encoder. They are applied to passages and questions, which are compared by cosine. Sparse vectors are not
    transformed: they would no longer fit into memory.

    Parameters
    ----------
    names
        The transforms.
    defined
        (n,) which questions have a similarity at all; the others stay undefined.
    pcs
        How many principal components ``remove_pcs`` removes; 0 means one for every hundred dimensions.
    """
    corpus, passages = encoded.corpus, encoded.passages
    sample = encoded.distinct(passages)
    values, scalars = dict[str, Floats](), _isotropy(sample, "")
    scalars["distinct_passages"] = float(sample.shape[0])
    if issparse(passages):
        return values, scalars
    # Drawn with a fixed seed, so that every encoder's transform is fitted on the same passages.
    if len(sample) > FITTED:
        chosen = generator(0, "fitted on", corpus.fingerprint).choice(len(sample), FITTED, replace=False)
        sample = sample[np.sort(chosen)]
    for name in names:
        metric = f"Success@{k}/{name}"
        try:
            fitted = transforms.fit(name, sample, pcs)
        except ValueError:
            # The transform leaves nothing of these vectors.
            values[metric] = np.full(len(corpus.samples), np.nan)
            continue
        queries, moved = _apply(fitted, encoded.queries), _apply(fitted, passages)
        nearest = encoded.search(
            queries, moved, k=k, similarity_function="cosine", starts=encoded.starts, pairs=encoded.pairs
        )
        success = _places(corpus, encoded.pairs, nearest).success(k)
        has_similarity = defined & ~np.isnan(nearest.similarity[:, 0])
        values[metric] = np.where(has_similarity, success, np.nan)
        scalars |= _isotropy(encoded.distinct(moved), name)
        scalars[f"rank/{name}"] = float(fitted.rank)
    return values, scalars


def _first_of_texts(texts: Sequence[str]) -> Ints | None:
    """Return (t,) the first place of each distinct text; None where all texts differ."""
    first = dict[str, int]()
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    if len(first) == len(texts):
        return None
    return np.array(list(first.values()), dtype=np.int64)


def _largest_at(places: Ints, values: Floats, size: int) -> Floats:
    """Return (size,) the largest value at each place; NaN where there is none."""
    largest = np.full(size, -np.inf)
    np.maximum.at(largest, places, np.where(np.isnan(values), -np.inf, values))
    return np.where(np.isinf(largest), np.nan, largest)


def similarity_to_random(encoded: EncodedCorpus, rows: int = ROWS) -> Floats:
    """Return (n, 10) the similarity of each question to random documents, the same ones for every encoder.

    Parameters
    ----------
    rows
        Approximate number of passages compared at once; changes no value.
    """
    corpus = encoded.corpus
    similarity_function = encoded.vectors.similarity
    questions = len(corpus.samples)
    documents = len(corpus.documents)
    passages = encoded.passages.shape[0]
    drawn = _drawn(corpus)
    starts = np.arange(documents) if encoded.starts is None else encoded.starts
    ends = np.append(starts[1:], passages)

    similarity = np.empty((questions, RANDOM))
    passages_per_question = RANDOM * passages / documents
    step = max(1, int(rows // passages_per_question))
    for first in range(0, questions, step):
        block = slice(first, min(first + step, questions))
        chosen = drawn[block].ravel()
        passage, place_of_document = ranges(starts[chosen], ends[chosen])
        question = first + place_of_document // RANDOM
        values = paired(encoded.queries[question], encoded.passages[passage], [similarity_function])[
            similarity_function
        ]
        # The similarity of a document is that of its most similar passage.
        of_documents = _largest_at(place_of_document, values, len(chosen))
        similarity[block] = of_documents.reshape(-1, RANDOM)
    return similarity


def _drawn(corpus: Corpus[Question]) -> Ints:
    """Return (n, 10) random documents for each question, the same for every encoder."""
    stream = generator(0, "random documents", corpus.fingerprint)
    return stream.integers(0, len(corpus.documents), size=(len(corpus.samples), RANDOM))


def _apply(fitted: transforms.Transform, matrix: Any) -> NDArray[np.float32]:
    """Apply a transform block by block; an undefined row becomes a zero vector, which has no cosine."""
    blocks = list[NDArray[np.float32]]()
    for start in range(0, len(matrix), ROWS):
        transformed = fitted.apply(matrix[start : start + ROWS])
        blocks.append(np.nan_to_num(transformed).astype(np.float32))
    if not blocks:
        return np.zeros((0, 1), dtype=np.float32)
    return np.concatenate(blocks)


def _isotropy(passages: Any, condition: str) -> dict[str, float]:
    """Return I_A and IsoScore of the passages by ``metric/condition``; undefined ones are missing."""
    measured = isotropy(passages)
    values = {"i_a": measured.i_a, "isoscore": measured.isoscore}
    if not condition:
        # Only untransformed: a transform that was fitted on the passages makes them depend on each other.
        values["isoscore_unbiased"] = measured.isoscore_unbiased
    scalars = dict[str, float]()
    for metric, value in values.items():
        if np.isfinite(value):
            scalars[f"{metric}/{condition}"] = float(f"{value:.{DIGITS}g}")
    return scalars
