"""From lists of documents to the item scores of each question, and one encoder's view of its scores.

The exact search of an encoder's vectors gives :class:`~embassay.core.vectors.Neighbours`, as the lists of a retriever
do, and both are scored in the same way. What only vectors have stands beside it: similarities to random documents,
transforms, isotropy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.stats import hypergeom

from embassay.core.randomness import generator
from embassay.core.result import MIN_UNITS, Estimate
from embassay.core.samples.retrieval import Question, first_passages, right_pairs
from embassay.core.types import Corpus
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.base import NEAREST
from embassay.diagnostics.isotropy_metrics import measured
from embassay.diagnostics.method import ItemView, Stored, need_within
from embassay.diagnostics.metrics.metric import Metric
from embassay.stats.exams import GRID, Retrieved
from embassay.stats.geometry import transforms
from embassay.stats.geometry.closeness import paired_similarity
from embassay.stats.labels import Labels
from embassay.stats.overlap import COMPARED
from embassay.stats.ranking import RightPlaces
from embassay.stats.thresholds import Guarantee, Threshold, recommend
from embassay.stats.units import Bools, Floats, Ints, ranges

NAME = "retrieval"
COUNTED = 1000
"""Documents whose words are counted; more would take time and change little."""
K = 5
LOSS = 0.02
"""The loss of success that a recommended threshold may cause."""
RECOMMENDED: Mapping[Guarantee, str] = {"confidence": "recommended", "average": "recommended_on_average"}
"""The subset of a recommended threshold's rows, by the guarantee on its loss."""
RANDOM = 10
"""Random documents for each question: ROE and the table of similarities are based on them."""
RIGHT = "own"
"""The stored name of the (n,) similarities to the nearest right document."""


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

    hub: str | None = ""
    of_places: Callable[[RightPlaces, int], Floats]
    more_documents_than: int = 0
    beside_headline: bool = False


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions:
    """The options of the diagnostic.

    Parameters
    ----------
    k
        How many documents are retrieved.
    loss
        The loss of success that a recommended threshold may cause: 0.02 is 2 points. It holds with 95 % confidence
        where there are enough questions (149 independent ones at 2 points), else on average (49).
    transforms
        ``all`` also searches after standardizing, whitening, and removing the main directions; it takes several
        times as long.
    compare
        Which metrics are compared pair by pair: ``headline`` (Success@k) or ``all`` (also R@k, RR, AP and nDCG@10).
    paper
        Whether the paper's own figures are computed too: exams, COE, ROE, its thresholds, correlations, its tables.
    psi
        The percentile ψ at which COE and ROE are correlated across encoders, 1 to 99; they are computed at 5, 10, … 95
        and at this one.
    random
        How many random documents of each question are used for ROE, 1 to 10; the paper uses one.

    Raises
    ------
    SpecError
        For a number out of range.
    """

    k: int = K
    loss: float = LOSS
    transforms: Literal["none", "all"] = "none"
    paper: bool = False
    psi: int = 5
    random: int = RANDOM

    def __post_init__(self) -> None:
        """Check the ranges of the numbers."""
        need_within(NAME, self, k=(1, 1000), loss=(0, 1), psi=(1, 99), random=(1, RANDOM))

    @property
    def among_first(self) -> str:
        """Where a right document counts: ``among the first 5``, or, of one place, ``first``."""
        return "first" if self.k == 1 else f"among the first {self.k}"

    @property
    def headline(self) -> str:
        """The name of the headline metric."""
        return f"Success@{self.k}"

    @property
    def percentiles(self) -> tuple[int, ...]:
        """The ψ at which COE, ROE and the paper's thresholds are computed, in ascending order."""
        return tuple(sorted({*GRID, self.psi}))


def queries_of(corpus: Corpus[Question], vectors: Vectors) -> Any:
    """Return the (n, d) vectors of all questions."""
    return vectors.take([sample.question for sample in corpus.samples], "query")


def passages_of(corpus: Corpus[Question], vectors: Vectors, *, distinct: bool = False) -> Any:
    """Return the (p, d) vectors of all passages, or of each distinct text; stored documents are read on access."""
    if corpus.stored_documents:
        return vectors.documents
    texts = chain.from_iterable(document.passages for document in corpus.documents)
    return vectors.take(dict.fromkeys(texts) if distinct else texts, "document")


def starts_of(corpus: Corpus[Question]) -> Ints:
    """Return (N,) the first passage of each document; each stored document has one passage."""
    if corpus.stored_documents:
        return np.arange(len(corpus.documents))
    return first_passages(corpus.documents)


def reference_of(corpus: Corpus[Question], starts: Ints, passage: float) -> str:
    """Return the reference of a passage, ``id#0``: its document, and its place in it.

    Parameters
    ----------
    starts
        (N,) the first passage of each document.
    """
    document = int(np.searchsorted(starts, passage, side="right")) - 1
    return f"{corpus.documents[document].id}#{passage - starts[document]:.0f}"


def search(corpus: Corpus[Question], vectors: Vectors, k: int) -> Neighbours:
    """Return the k documents nearest to each question, and the ranks of the right ones."""
    nearest: Neighbours = vectors.search(
        queries_of(corpus, vectors),
        passages_of(corpus, vectors),
        k=k,
        similarity_function=vectors.similarity,
        starts=None if corpus.stored_documents else starts_of(corpus),
        pairs=right_pairs(corpus.samples, corpus.documents),
    )
    return nearest


# Lists


def list_values(
    corpus: Corpus[Question], nearest: Neighbours, k: int, metrics: Iterable[RankingMetric], missing: Bools
) -> dict[str, Floats]:
    """Return the values of the first k documents of each question, and of the ranks of the right ones.

    Parameters
    ----------
    nearest
        The lists of a search or a retriever, of any length.
    missing
        (n,) the questions whose metrics are undefined. A right document that is in no list is missed otherwise.

    Returns
    -------
    values
        ``top`` (n, k) similarities, ``own`` (n,) that to the nearest right document, ``answered`` (n,) 1 where there
        is a right document, and the ranking metrics, NaN where there is none. Also ``found`` (n, k) the rows of the
        nearest documents' passages, ``nearest`` (n, m) the places of the ten nearest documents and of all that are
        exactly as near as the last of them, 20 at most. Of the nearest right document ``rank`` (n,) from 1: one more
        than the number of documents that are strictly nearer; ``tied`` (n,) the number of documents that are exactly as
        near, itself included; ``right_passage`` (n,) the row of its nearest passage; NaN where it has no rank. And
        ``margin`` (n,) its similarity less that of the nearest wrong one.
    """
    questions, pairs = len(corpus.samples), right_pairs(corpus.samples, corpus.documents)
    values, places = dict[str, Floats](), right_places(corpus, nearest, pairs)
    for metric in metrics:
        if len(corpus.documents) > metric.more_documents_than:
            values[metric.name] = np.where(missing, np.nan, metric.of_places(places, k))
    passages = np.where(nearest.passages < 0, np.nan, nearest.passages)
    for name, columns in (("top", nearest.similarity), ("found", passages)):
        # A list may be shorter than k, or longer.
        values[name] = np.full((questions, k), np.nan)
        values[name][:, : columns.shape[1]] = columns[:, :k]
    values[NEAREST] = nearest.first(COMPARED)
    values[RIGHT] = _largest(pairs[:, 0], nearest.own, questions)
    values["margin"] = values[RIGHT] - _nearest_wrong(nearest, pairs, len(corpus.documents), k)
    values["answered"] = np.array([bool(sample.right) for sample in corpus.samples], dtype=np.float64)
    # The nearest right document of each question; −1 marks one without a rank, which is sorted last.
    order = np.lexsort((np.where(nearest.greater < 0, np.inf, nearest.greater), pairs[:, 0]))
    question, first = np.unique(pairs[order, 0], return_index=True)
    for name, of_pairs in (("rank", nearest.greater), ("tied", nearest.tied), ("right_passage", nearest.own_passages)):
        best = of_pairs[order[first]]
        values[name] = _largest(question, np.where(best < 0, np.nan, best), questions)
    values["rank"] += 1
    return values


def _nearest_wrong(nearest: Neighbours, pairs: Ints, documents: int, k: int) -> Floats:
    """Return (n,) the similarity of the nearest wrong document; NaN where all of the first k are right."""
    listed = nearest.documents[:, :k]
    # A question and a document as one number.
    codes = documents * np.arange(len(listed))[:, None] + listed
    is_wrong = (listed >= 0) & ~np.isin(codes, pairs @ [documents, 1])
    similarity = np.where(is_wrong, nearest.similarity[:, :k], np.nan)
    return np.asarray(np.fmax.reduce(similarity, axis=1))


def right_places(corpus: Corpus[Question], nearest: Neighbours, pairs: Ints) -> RightPlaces:
    """Return the places of the right documents of each question."""
    gains = [gain for sample in corpus.samples for gain in sample.gains or [1] * len(sample.right)]
    return RightPlaces(len(corpus.samples), pairs[:, 0], nearest.greater, nearest.tied, np.array(gains))


def success_of_blind_choice(corpus: Corpus[Question], k: int) -> float:
    """Return the success of blind choice: the mean over answered questions of 1 − C(N − r, k)/C(N, k).

    N is the number of documents, r that of a question's right ones; k/N where each question has one.
    """
    right = [len(sample.right) for sample in corpus.samples if sample.right]
    all_wrong = hypergeom.pmf(0, len(corpus.documents), right, k)
    return float(1 - all_wrong.mean())


def words_of_a_passage(corpus: Corpus[Question]) -> float:
    """Return the mean number of words of a passage, of at most about ``COUNTED`` documents that are evenly spread.

    NaN where only their vectors are available.
    """
    if corpus.stored_documents:
        return np.nan
    step = max(1, len(corpus.documents) // COUNTED)
    return float(np.mean([len(text.split()) for document in corpus.documents[::step] for text in document.passages]))


def random_documents(corpus: Corpus[Question]) -> Ints:
    """Return (n, 10) random documents for each question, the same for every encoder."""
    stream = generator(0, "random documents", corpus.fingerprint)
    return stream.integers(0, len(corpus.documents), size=(len(corpus.samples), RANDOM))


def _largest(places: Ints, values: Floats, size: int) -> Floats:
    """Return (size,) the largest value at each place; NaN where there is none."""
    largest = np.full(size, np.nan)
    np.fmax.at(largest, places, values)
    return largest


# Vectors


def similarity_to_random(corpus: Corpus[Question], vectors: Vectors) -> Floats:
    """Return (n, 10) the similarity of each question to random documents, the same ones for every encoder."""
    passages, starts, drawn = passages_of(corpus, vectors), starts_of(corpus), random_documents(corpus)
    queries = queries_of(corpus, vectors)
    ends = np.append(starts[1:], passages.shape[0])
    similarity = np.empty(drawn.shape)
    for question, documents in enumerate(drawn):
        passage, place = ranges(starts[documents], ends[documents])
        repeated = queries[np.full(len(passage), question)]
        values = paired_similarity(repeated, passages[passage], vectors.similarity)
        # A document is as similar as its most similar passage.
        similarity[question] = _largest(place, values, RANDOM)
    return similarity


def transformed_values(corpus: Corpus[Question], vectors: Vectors, options: RetrievalOptions, missing: Bools) -> Stored:
    """Return the success after each transform, and the isotropy of the passages before and after.

    Transforms are fitted on the distinct passages, which isotropy is of, too: a text that is repeated says nothing more
    about the encoder. They are applied to passages and questions, which are compared by cosine. Sparse vectors are not
    transformed: they would no longer fit into memory.

    Parameters
    ----------
    missing
        (n,) which questions have no similarity at all; they stay undefined.
    """
    sample = passages_of(corpus, vectors, distinct=True)
    # Without the bias of few passages only untransformed: a fitted transform makes them depend on each other.
    stored: dict[str, Floats | float] = _isotropy(sample, "", ("i_a", "isoscore", "isoscore_unbiased"))
    stored["distinct_passages"] = float(sample.shape[0])
    if issparse(sample) or options.transforms == "none":
        return stored
    pairs = right_pairs(corpus.samples, corpus.documents)
    for name in transforms.NAMES:
        success = stored[f"{options.headline}/{name}"] = np.full(len(missing), np.nan)
        fitted = transforms.fit(name, sample)
        if fitted is None:
            # The transform leaves nothing of these vectors.
            continue
        # An undefined row becomes a zero vector, which has no cosine.
        matrix = np.nan_to_num(fitted.apply(vectors.matrix)).astype(np.float32)
        moved = replace(vectors, matrix=matrix, similarity="cosine")
        nearest = search(corpus, moved, options.k)
        success[:] = right_places(corpus, nearest, pairs).success(options.k)
        success[missing | np.isnan(nearest.similarity[:, 0])] = np.nan
        stored |= _isotropy(passages_of(corpus, moved, distinct=True), name, ("i_a", "isoscore"))
        stored[f"rank/{name}"] = float(fitted.rank)
    return stored


def _isotropy(passages: Any, condition: str, metrics: tuple[str, ...]) -> dict[str, Floats | float]:
    """Return the isotropy of the passages by ``metric/condition``; undefined values are missing."""
    figures = measured(passages, metrics)
    return {f"{metric}/{condition}": value for metric, value in figures.items() if metric in metrics}


# What a summary reads


@dataclass(frozen=True)
class RetrievalView(ItemView):
    """One encoder's questions. Below, n counts all questions, m those with a right document, d those of the m with k
    similarities, u those without a right document.
    """

    options: RetrievalOptions

    @property
    def headline(self) -> str:
        """The name of the headline metric."""
        return self.options.headline

    @property
    def compares_by_dot(self) -> bool:
        """Whether the similarities are dot products, whose scale is the encoder's own; otherwise cosines."""
        return bool(self.scores.scalars["dot"])

    @property
    def listed(self) -> float | None:
        """The length of the longest list that lacks documents; None where each list has all documents."""
        return self.scores.scalars.get("listed")

    @property
    def right(self) -> Floats:
        """(n,) whether a question succeeds at k; NaN without a right document."""
        return self.scores.values[self.headline]

    @property
    def subset(self) -> NDArray[np.str_]:
        """(n,) whether a question has a right document; empty where all have one."""
        return np.where(self.answered.all(), "", np.where(self.answered, "answerable", "unanswerable"))

    @cached_property
    def answered(self) -> Bools:
        """(n,) which questions have a right document."""
        return np.asarray(self.scores.values["answered"] == 1)

    @cached_property
    def labels(self) -> Labels:
        """The unit labels of the m answered questions."""
        return self.all_labels.of_items(self.answered)

    def values(self, name: str) -> Floats:
        """Return the (m, …) stored values of the answered questions."""
        return self.scores.values[name][self.answered]

    def ranking(self, declared: str) -> Floats | None:
        """Return (n,) a ranking metric by its declared name, such as ``Success@{k}``.

        NaN is undefined, ABSENT a question without a right document. None where it is not stored: of few documents, or
        after a transform of sparse vectors.
        """
        name = declared.format(k=self.options.k)
        if name not in self.scores.values:
            return None
        return self.at(self.answered, self.values(name))

    @cached_property
    def has_full_top_k(self) -> Bools:
        """(m,) which answered questions have k similarities."""
        return np.asarray(~np.isnan(self.values("top")).any(axis=1))

    @cached_property
    def answers(self) -> Retrieved:
        """The d questions that thresholds are tried on; a right document without a similarity is below all of them."""
        top, right, success = (self.values(name)[self.has_full_top_k] for name in ("top", RIGHT, self.headline))
        return Retrieved(top, np.fmax(right, -np.inf), success)

    @cached_property
    def random(self) -> Floats:
        """(d, r) similarities to random documents; undefined ones are below all others."""
        return np.fmax(self.values("random")[self.has_full_top_k, : self.options.random], -np.inf)

    @cached_property
    def largest_of_unanswerable(self) -> Floats:
        """(u,) the largest similarity that each unanswerable question finds, NaN where it has none."""
        return self.scores.values["top"][~self.answered][:, 0]

    def estimate(self, value: float | None, reason: str | None = None, of: Bools | None = None) -> Estimate:
        """Return a figure that has no interval, a threshold for example.

        Parameters
        ----------
        of
            (m,) the answered questions that it is of; by default the d with k similarities.
        """
        of = self.has_full_top_k if of is None else of
        items = int(of.sum())
        return Estimate(value, None, None, items, self.labels.of_items(of).sets, len(of) - items, reason)

    @cached_property
    def recommended(self) -> Threshold:
        """The highest threshold that loses no more than allowed, with its guarantee, or why there is none."""
        answers, labels = self.answers, self.labels.of_items(self.has_full_top_k)
        if labels.sets >= MIN_UNITS:
            return recommend(answers.own, answers.success, answers.top, labels, self.options.loss)
        reason = f"no question has {self.options.k} similarities"
        if labels.sets:
            reason = f"{labels.sets} units are too few to recommend a threshold; that takes {MIN_UNITS}"
        return Threshold(reason=reason)

    @property
    def recommended_tau(self) -> Mapping[str, float]:
        """The recommended threshold by its subset; empty where there is none."""
        threshold = self.recommended
        if threshold.value is None or threshold.guarantee is None:
            return {}
        return {RECOMMENDED[threshold.guarantee]: threshold.value}

    def shares_at(self, threshold: float) -> dict[str, Floats]:
        """Return what a threshold does: (n,) shares, of answered questions and of unanswerable ones, if any.

        A question finds nothing when even its largest similarity is below the threshold.
        """
        largest, answers, shares = self.largest_of_unanswerable, self.answers, dict[str, Floats]()
        for name, of_full in (("accuracy_at_tau", answers.right_at(threshold)), ("kept", answers.kept_at(threshold))):
            values = np.full(len(self.has_full_top_k), np.nan)
            values[self.has_full_top_k] = of_full
            shares[name] = self.at(self.answered, values)
        if len(largest):
            dropped = np.where(np.isnan(largest), np.nan, largest < threshold)
            shares["unanswerable_dropped"] = self.at(~self.answered, dropped)
        return shares
