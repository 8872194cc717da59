"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; that of a document is that of its best passage.
``Success@5`` is the share of all questions with a right document among the nearest five, ``accuracy_l100`` the paper's:
the mean over 500 exams of 100 questions (``exams``, ``length``), with the interval of one such exam.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import SpecError, begun
from embassay.core.layout import Layout
from embassay.core.result import Example, Result, Row, answers_and_findings
from embassay.core.samples.retrieval import Question, words_of_a_passage
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.isotropy_metrics import ISOTROPY_METRICS
from embassay.diagnostics.metrics.metric import Kind, Meaning, Metric, with_options
from embassay.diagnostics.metrics.scoreboard import item_example
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.retrieval.findings import findings_of, first_place, saturation, scale_warnings, words_read
from embassay.diagnostics.retrieval.layout import FOUND, options_of, page
from embassay.diagnostics.retrieval.published import beside_published
from embassay.diagnostics.retrieval.rows import OF_PASSAGES, at_thresholds, computed_rows, correlations
from embassay.diagnostics.retrieval.scores import (
    RANDOM,
    RIGHT,
    EncodedCorpus,
    RankingMetric,
    References,
    read_lists,
    search_documents,
    search_transformed,
    success_of_blind_choice,
)
from embassay.diagnostics.retrieval.series import series_of
from embassay.diagnostics.retrieval.view import LOSS, PSI, K, RetrievalParameters, RetrievalView
from embassay.stats.exams import EXAMS, LENGTH
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.ranking import RightPlaces
from embassay.stats.units import Floats, Ints

CITATION = """@misc{roychowdhury2024,
  author = {Roychowdhury, Sujoy and Soman, Sumit and Ranjani, H. G. and Chhabra, Vansh and Gunda, Neeraj
            and Bandyopadhyay, Subhadip and Bala, Sai Krishna},
  title = {A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain},
  year = {2024},
  eprint = {2406.12336},
  archivePrefix = {arXiv},
  doi = {10.48550/arXiv.2406.12336},
  note = {Later version: Investigating Distributions of Telecom Adapted Sentence Embeddings for Document Retrieval}
}"""
VERSION = 6
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("retrieval", "questions", task="information-retrieval", about=("search",))


def create(
    *,
    k: int = K,
    psi: int = PSI,
    loss: float = LOSS,
    transforms: Literal["none", "all"] = "none",
    compare: Literal["headline", "all"] = "headline",
    exams: int = EXAMS,
    length: int = LENGTH,
    random: int = RANDOM,
    pcs: int = 0,
) -> Retrieval:
    """Make the diagnostic.

    Parameters
    ----------
    k
        How many documents are retrieved.
    psi
        The percentile of the top-k similarities that COE and ROE are taken at, 1 to 99; both are also drawn as curves.
    loss
        The loss of success that a recommended threshold may cause: 0.02 is 2 points. It holds with 95 % confidence
        where there are enough questions (149 independent ones at 2 points), else on average (49).
    transforms
        ``all`` also searches after standardizing, whitening, and removing the main directions; it takes several
        times as long.
    compare
        Which metrics are compared pair by pair: ``headline`` (Success@k) or ``all`` (also R@k, RR, AP and nDCG@10).
    exams, length
        The number of bootstrap samples of questions, 100 to 10,000, and the number of questions in each, 10 to 1,000:
        the paper's m and l.
    random
        How many random documents of each question are used for ROE, 1 to 10; the paper uses one.
    pcs
        How many principal components the transform ``remove_pcs`` removes, 0 to 1000; 0 means one for every hundred
        dimensions.

    Raises
    ------
    SpecError
        For a number out of range.
    """
    limits = (
        ("k", k, 1, 1000),
        ("psi", psi, 1, 99),
        ("loss", loss, 0, 1),
        ("exams", exams, 100, 10_000),
        ("length", length, 10, 1000),
        ("random", random, 1, RANDOM),
        ("pcs", pcs, 0, 1000),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise SpecError(f"diagnostic 'retrieval', option {name!r}: must be {low} to {high}, is {value:g}")
    return Retrieval(k, psi, loss, exams, length, random, transforms, compare, pcs)


@dataclass(frozen=True)
class Retrieval(RetrievalParameters):
    """The diagnostic; see the module's documentation."""

    transforms: str = "none"
    compare: str = "headline"
    pcs: int = 0
    shape: str = "retrieval"

    @property
    def options(self) -> str:
        """The options that change item scores, as text for their origin; the others change the summary."""
        changed = list[str]()
        if self.k != K:
            changed.append(f"k={self.k}")
        if self.transforms != "none":
            changed.append(f"transforms={self.transforms}")
        if self.pcs:
            changed.append(f"pcs={self.pcs}")
        return ",".join(changed)

    def check(self, corpus: Corpus[Question]) -> None:
        """Check that fewer documents are retrieved than there are, and that some question has an answer.

        Raises
        ------
        SpecError
            If not; the message says what to do.
        """
        if self.k >= len(corpus.documents):
            raise SpecError(
                f"corpus {corpus.name!r} has {len(corpus.documents)} documents, of which k={self.k} would be "
                f"retrieved: every question would succeed; set a smaller k (retrieval,k=N)"
            )
        if corpus.stored_documents and self.transforms != "none":
            raise SpecError(
                f"corpus {corpus.name!r}: transforms={self.transforms} needs all vectors in memory, and the vectors of "
                f"{corpus.stored_documents.path} are read from its parts; leave the option out"
            )
        if not any(sample.right for sample in corpus.samples):
            raise SpecError(f"corpus {corpus.name!r}: no question has a right document, so nothing can be found")

    def score(self, corpus: Corpus[Question], vectors: Vectors, origin: Origin) -> ItemScores:
        """Find the nearest documents of each question, and the ranks of the right ones."""
        encoded = EncodedCorpus.of(corpus, vectors)
        values = search_documents(encoded, self.k, _ranking_metrics(self.k))
        names = TRANSFORMS if self.transforms == "all" else ()
        has_similarity = ~np.isnan(values["top"][:, 0])
        after_transforms, scalars = search_transformed(encoded, self.k, names, has_similarity, self.pcs)
        scalars["dot"] = float(vectors.similarity == "dot")
        return self._item_scores(corpus, origin, {**values, **after_transforms}, scalars)

    def score_rankings(self, corpus: Corpus[Question], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Take the nearest documents of each question, and the ranks of the right ones, from a retriever's lists."""
        values, scalars = read_lists(corpus, nearest, self.k, _ranking_metrics(self.k))
        # Scores are on the retriever's own scale, as dot products are.
        return self._item_scores(corpus, origin, values, {**scalars, "dot": 1.0})

    def _item_scores(
        self,
        corpus: Corpus[Question],
        origin: Origin,
        values: Mapping[str, Floats],
        scalars: Mapping[str, float],
    ) -> ItemScores:
        of_corpus = {
            "documents": float(len(corpus.documents)),
            "chance": success_of_blind_choice(corpus, self.k),
        }
        if not corpus.stored_documents:
            of_corpus["passage_words"] = words_of_a_passage(corpus.documents)
        return ItemScores(
            origin,
            similarity_function="similarity",
            item=np.array([s.id for s in corpus.samples]),
            unit=corpus.units,
            labels={},
            values=values,
            scalars={**scalars, **of_corpus},
            unit_labels=corpus.unit_labels,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus."""
        figures = self.figures(scores)
        views, requested = figures.views, figures.requested
        summary = figures.summarise(draws, on_request=self.compare == "all")
        at = at_thresholds(views, draws)
        rows = list[Row]()
        for view in views:
            rows += [row for row in summary.rows if row.encoder == view.encoder]
            rows += computed_rows(view, at[view.encoder], draws)
        rows += list(correlations(requested, rows, draws))

        success = summary.headline
        success_of_requested = {view.encoder: success[view.encoder].value for view in requested}
        # About all encoders, then about each, then warnings.
        # No encoder may be the best under MIN_UNITS units; a baseline that joined by itself is none to choose.
        may_be_best = [view for view in requested if view.encoder in summary.verdict.best_set]
        findings = list(saturation(may_be_best, success_of_requested))
        findings += first_place(views[0], success_of_requested)
        for view in requested:
            findings += findings_of(view, rows)
        findings += words_read(requested)
        findings += scale_warnings(views)
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(summary.comparisons),
            series=(*series_of(views, rows, success, draws), *beside_published(views, rows)),
            verdicts=(summary.verdict,),
            **answers_and_findings(findings),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[RetrievalView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(self._view, scores, with_options(METRICS, k=self.k))

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which questions succeed at k; those without a right document are undecided, and a subset."""
        requested = self.figures(scores).requested
        correct = np.stack([view.scores.values[view.headline] for view in requested])
        return Outcomes(_subsets(requested[0]), correct)

    def examples(
        self, corpus: Corpus[Question], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each question with its right documents, and their rank and what was found by each encoder."""
        views = self.figures(scores).views
        subsets = _subsets(views[0])
        references = References(corpus)
        for index in items.tolist():
            sample, subset = corpus.samples[index], str(subsets[index])
            outcomes = [_outcome(view, index, sample, references, subset) for view in views]
            texts = corpus.shown(sample.id)
            for outcome in outcomes:
                for name, reference in outcome.labels.items():
                    if name != "ties":
                        texts[reference] = begun(corpus.passage(reference))
            labels = {f"right{number}": document for number, document in enumerate(sample.right, start=1)}
            yield item_example(scores[0], index, texts, subset, labels)
            yield from outcomes

    def _view(self, scores: ItemScores) -> RetrievalView:
        return RetrievalView(scores, self.k, self.psi, self.loss, self.exams, self.length, self.random_documents)


def _subsets(view: RetrievalView) -> NDArray[np.str_]:
    """Return (n,) whether a question has a right document; empty where all have one."""
    if view.answered.all():
        return np.full(len(view.answered), "")
    return np.where(view.answered, "answerable", "unanswerable")


def _outcome(view: RetrievalView, index: int, sample: Question, references: References, subset: str) -> Example:
    """Return what one encoder found for a question.

    The margin is the similarity of the nearest right document less that of the nearest wrong one; it is undefined
    where all that was found is right.
    """
    values = view.scores.values
    right = values["right_passage"][index]
    rank, tied = values["rank"][index], values["tied"][index]
    numbers = {"right": values[RIGHT][index], "rank": rank}
    labels = dict[str, str]()
    if np.isfinite(right):
        labels["right"] = references.of(int(right))
    if tied > 1:
        labels["ties"] = f"tied up to rank {rank + tied - 1:.0f}"
    of_wrong = np.nan
    found = zip(values["found"][index].tolist(), values["top"][index].tolist(), strict=True)
    for place, (passage, similarity) in enumerate(found, start=1):
        if np.isnan(passage):
            break
        document = references.document(int(passage))
        if np.isnan(of_wrong) and document.id not in sample.right:
            of_wrong = similarity
        if place <= FOUND:
            labels[f"found{place}"] = references.of(int(passage))
            numbers[f"found{place}"] = similarity
    return view.outcome(
        index,
        numbers,
        correct=values[view.headline][index],
        margin=values[RIGHT][index] - of_wrong,
        subset=subset,
        labels=labels,
    )


def _answered_places(view: RetrievalView) -> Ints:
    """Return the (m,) places of the questions that have a right document."""
    return np.flatnonzero(view.answered)


def ranking_metric(
    name: str, of_places: Callable[[RightPlaces, int], Floats], *, kind: Kind, meaning: str, hub: str = "", **more: Any
) -> RankingMetric:
    """Declare a metric of the ranks of a question's right documents, of which higher values are better.

    Parameters
    ----------
    name, of_places, kind, meaning, hub, more
        As in :class:`~embassay.diagnostics.retrieval.scores.RankingMetric`.
    """
    return RankingMetric(
        name,
        of=lambda view: view.ranking(name),
        places=_answered_places,
        kind=kind,
        better="higher",
        meaning=meaning,
        hub=hub,
        low=0.0,
        high=1.0,
        source="ir-measures",
        of_places=of_places,
        **more,
    )


def _success_after(transform: str) -> Metric:
    """Declare the success after a transform of the vectors."""
    return Metric(
        "Success@{k}",
        condition=transform,
        of=lambda view: view.ranking(f"Success@{{k}}/{transform}"),
        places=_answered_places,
        kind="share",
        better="higher",
        meaning="success after a transform of the vectors",
    )


_share_without_items = partial(Metric, kind="computed", low=0.0, high=1.0, format="percent")
METRICS = (
    ranking_metric(
        "Success@{k}",
        lambda places, k: places.success(k),
        kind="share",
        headline=True,
        margin=0.02,
        chance=lambda view: view.chance,
        says="a right {document} is in its top {k} for {of_100}",
        term="Success@{K}",
        explanation=(
            "The share of the questions with a right document among the K nearest documents. 100% is the best value."
        ),
        meaning="share of answerable questions with a right document among the first k",
    ),
    ranking_metric(
        "R@{k}",
        lambda places, k: places.recall(k),
        kind="share",
        compared="on request",
        term="R@{K}",
        explanation="Recall: the share of the right documents that are among the nearest K.",
        meaning="share of a question's right documents that are among the first k",
    ),
    ranking_metric(
        "RR",
        lambda places, k: places.reciprocal_rank(),
        kind="mean",
        compared="on request",
        beside_headline=True,
        hub="mrr",
        explanation=(
            "Reciprocal rank: 1 if the nearest right document comes first, 1/2 if second, 1/3 if third. "
            "Averaged over all questions with a right document."
        ),
        meaning="mean of 1/rank of the first right document",
    ),
    ranking_metric(
        "AP",
        lambda places, k: places.average_precision(),
        kind="mean",
        compared="on request",
        hub="map",
        explanation=(
            "Average precision: the mean precision at the rank of each right document. 1 means that all "
            "right documents come first."
        ),
        meaning="mean of the precision at the rank of each right document",
    ),
    ranking_metric(
        "nDCG@10",
        lambda places, k: places.ndcg(10),
        kind="mean",
        compared="on request",
        term="nDCG@{10}",
        explanation=(
            "How high the right documents stand among the ten nearest: a lower rank counts less. 1 is the "
            "best possible order."
        ),
        meaning="gains of the first 10 documents, discounted by rank, relative to the best order",
    ),
    ranking_metric(
        "Success@1",
        lambda places, k: places.success(1),
        kind="share",
        meaning="share of answerable questions whose first document is right",
    ),
    ranking_metric(
        "Success@10",
        lambda places, k: places.success(10),
        kind="share",
        more_documents_than=10,
        meaning="share of answerable questions with a right document among the first 10",
    ),
    *map(_success_after, TRANSFORMS),
    # What follows is computed in embassay.diagnostics.retrieval.rows.
    *(replace(metric, subset="documents") for metric in ISOTROPY_METRICS if metric.name in OF_PASSAGES),
    _share_without_items(
        "accuracy_l*",
        better="higher",
        meaning="success in an exam of 100 questions (length=): mean and range over 500 exams (exams=)",
    ),
    _share_without_items(
        "coe",
        "psi*",
        better="higher",
        term="COE",
        explanation=(
            "The share of right documents that are more similar than the ψ-th percentile of the retrieved "
            "ones. High is good."
        ),
        meaning="share of right documents above the ψ-th percentile of the retrieved similarities",
    ),
    _share_without_items(
        "roe",
        "psi*",
        better="lower",
        term="ROE",
        explanation=(
            "The share of random documents that are more similar than the ψ-th percentile of the retrieved "
            "ones. Low is good."
        ),
        meaning="share of random documents above the ψ-th percentile of the retrieved similarities",
    ),
    Metric(
        "tau",
        "recommended*",
        kind="computed",
        better="neither",
        compared="within one encoder",
        format="threshold",
        term="τ",
        explanation=(
            "Documents less similar to the question than τ are dropped. The recommended τ is the highest one that "
            "loses no more success than allowed."
        ),
        meaning="threshold below which retrieved documents are dropped, at a loss that is limited",
    ),
    Metric(
        "tau",
        "*",
        kind="computed",
        better="neither",
        compared="within one encoder",
        meaning="threshold below which retrieved documents are dropped",
    ),
    Metric(
        "psi",
        "*",
        kind="computed",
        better="neither",
        format="count",
        low=0.0,
        high=100.0,
        term="ψ",
        explanation=(
            "A percentile of the similarities of all retrieved documents. The paper derives thresholds from it."
        ),
        meaning="percentile ψ of the threshold with the highest success",
    ),
    Metric(
        "accuracy_at_tau",
        "*",
        kind="share",
        better="higher",
        meaning="success after documents below the threshold are dropped",
    ),
    Metric(
        "kept",
        "*",
        kind="share",
        better="neither",
        meaning="share of retrieved documents that are not below the threshold",
    ),
    Metric(
        "unanswerable_dropped",
        "*",
        kind="share",
        better="higher",
        meaning="share of unanswerable questions for which no document reaches the threshold",
    ),
    Metric(
        "auc",
        "unanswerable",
        kind="computed",
        better="higher",
        low=0.0,
        high=1.0,
        term="AUC",
        explanation=(
            "How well the similarity of the nearest document tells questions with an answer from those without: 0.5 is "
            "not at all, 1 is perfectly."
        ),
        meaning="area under the ROC curve of the top similarity, answered against unanswerable questions",
        source="Newcombe (2006)",
    ),
    _share_without_items(
        "loss_limit",
        "*",
        better="lower",
        meaning="upper limit of the success that the recommended threshold loses",
        source="Bates et al. (2021), Angelopoulos et al. (2024)",
    ),
    *(
        Metric(
            kind,
            "* and *",
            "*",
            kind="computed",
            better="neither",
            low=-1.0,
            high=1.0,
            meaning=f"{word} of two metrics across encoders",
        )
        for kind, word in (("pearson", "correlation"), ("spearman", "rank correlation"))
    ),
)


def _ranking_metrics(k: int) -> list[RankingMetric]:
    """Return the ranking metrics for k retrieved documents."""
    return [metric for metric in with_options(METRICS, k=k) if isinstance(metric, RankingMetric)]


def layout(result: Result) -> Layout:
    """Return the page for the options that a result was made with."""
    options = options_of(result)
    return page(options, _ranking_metrics(options.k))
