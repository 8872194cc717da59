"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; that of a document is that of its best passage.
``Success@5`` is the share of all questions with a right document among the nearest five. The paper's own figures come
with the option ``paper``: see :mod:`embassay.diagnostics.retrieval.paper`.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import AVERAGE_LOSS, COUNT, INTERVAL, LIMIT, THRESHOLD, Template
from embassay.core.errors import SpecError, begun
from embassay.core.formatting import among_first, counted, names, number, size_in_points
from embassay.core.layout import (
    Column,
    ComparisonTable,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    Part,
    SeriesTable,
)
from embassay.core.result import Estimate, Example, Finding, Result, Row, Series, answers_and_findings
from embassay.core.samples.retrieval import Question, right_pairs, words_of_a_passage
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.isotropy_metrics import ISOTROPY_METRICS
from embassay.diagnostics.metrics.metric import Kind, Meaning, Metric, with_options
from embassay.diagnostics.metrics.scoreboard import item_example, pool_of, roles_of, without_baselines
from embassay.diagnostics.metrics.summary import Figures, row
from embassay.diagnostics.published import table
from embassay.diagnostics.retrieval import paper
from embassay.diagnostics.retrieval.scores import (
    LOSS,
    NAME,
    RIGHT,
    EncodedCorpus,
    K,
    RankingMetric,
    RetrievalOptions,
    RetrievalView,
    list_values,
    random_documents,
    similarity_to_random,
    starts_of,
    success_of_blind_choice,
    transformed_values,
)
from embassay.stats.density import FINE, bandwidth, density
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.overlap import COMPARED
from embassay.stats.ranking import RightPlaces
from embassay.stats.separation import separation
from embassay.stats.shares import bounded_means
from embassay.stats.thresholds import Guarantee, questions_needed
from embassay.stats.units import Bools, Floats, Ints

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
FOUND = 5
"""How many of the documents found for a question are listed, at most."""
RECOMMENDED: dict[Guarantee, str] = {"confidence": "recommended", "average": "recommended_on_average"}
"""The subset of a recommended threshold's rows, by the guarantee on its loss."""
OF_PASSAGES = ("i_a", "isoscore", "isoscore_unbiased", "rank")
"""The metrics of isotropy that are computed of the passages."""
POINTS = 160
"""Points of each density curve."""
STEP = 0.05
STEPS = 20
"""The lines of the table of similarities: every 0.05 of a cosine, twentieths of the range of a dot product."""
CARD = {
    "encoder": "text",
    "similarity": "number",
    "random pairs below it": "percent",
    "retrieved pairs below it": "percent",
    "right pairs below it": "percent",
}
RERANKED = 50
"""How many documents a reranker usually reads for a question."""
SEPARATED = 0.9
"""From this area under the ROC curve on, a score tells unanswerable questions from the others."""
SATURATED = 0.95
"""From this share on, a headline leaves little room to tell good encoders apart."""
SETTLED = 0.2
"""Weights chosen on parts of the questions that span more do not agree."""

NOT_SHOWN = Template(
    "{encoder} finds a right document {where} for {success} of the questions; random order has {chance:.1%}.",
    "the interval contains chance",
    INTERVAL,
    "not shown",
    title="Search is not shown to be better than chance",
    question="Than chance?",
    severity="high",
    consequence="That it is of use for search on this corpus is not shown; more questions would tell.",
)
BELOW_CHANCE = replace(
    NOT_SHOWN,
    when="the interval lies below chance",
    claim="shown",
    title="Search is worse than chance",
    consequence="For search on this corpus it is worse than random order.",
)
LISTED = Template(
    "{encoder} lists at most {listed:,} of {documents:,.0f} documents; for {missed} no right one is listed, which "
    "counts as missed.",
    "a retriever lists some of the documents, and not every question has a right one among them",
    COUNT,
    title="Lists, not all documents",
)
HEADROOM = Template(
    "{encoder} has a right document among the first {depth} for {share} of the questions: a perfect reranker of these "
    "would add {gain} to {headline}.",
    f"of encoders that were asked for, where there are more than {RERANKED} documents, and lists of so many",
    COUNT,
    title="Headroom for a reranker",
)
CHOSEN = Template(
    "{encoder}: with weight {weight:g}, {headline} is {own:.1%} on the questions it was chosen on; {expected:.1%} is "
    "expected on others.{unsettled}",
    "a retriever chooses a weight",
    COUNT,
    title="The weight of {encoder}",
    question="Weight",
)
UNSETTLED = Template(
    "The weight is not settled by {questions} ({low:g} to {high:g}).",
    f"the same, where the weights that are chosen on four fifths of the units span more than {SETTLED:g}",
    COUNT,
)
NO_THRESHOLD = Template(
    "{separates}None is recommended for {encoder}: {reason}.",
    "no threshold keeps the loss within the margin, or there are too few questions",
    THRESHOLD,
    "not shown",
    title="No threshold is recommended",
    question="Cut-off",
    severity="medium",
)
SEPARATES = Template(
    "A score separates the {unanswerable} (AUC {area}). ",
    "before it, where a corpus has unanswerable questions: it separates them where the interval of the area under the "
    "ROC curve of the top score is above 0.9",
    INTERVAL,
)
NO_SEPARATION = Template(
    "No score is shown to separate the {unanswerable} (AUC {area}). ",
    "the same, where it is not",
    INTERVAL,
    "not shown",
)
DROP_BELOW = Template(
    "{separates}Results of {encoder} below {threshold}{scale} may be dropped: at most {loss} of {headline} are lost "
    "{guarantee}; {removed:.0%} of the results go.",
    "it is the highest threshold within the margin",
    THRESHOLD,
    # Those of lists are not said together with those of similarities.
    title="Threshold{scale}",
    question="Cut-off",
    severity="medium",
)
DROP_BELOW_ON_AVERAGE = replace(
    DROP_BELOW,
    when="the same, where the questions are too few for a limit with 95 % confidence",
    procedure=AVERAGE_LOSS,
)
EQUAL_VALUES = Template(
    "{encoders}: exactly the same {headline}, the highest; their order has no meaning.",
    "the values are the same",
    COUNT,
    title="Equal values",
)
SATURATED_HEADLINE = Template(
    "{headline} is {reached} for {encoders}: it can hardly tell them apart.",
    f"two encoders that may be the best reach {SATURATED:.0%} or more",
    LIMIT,
    title="The headline is saturated",
    severity="medium",
    action="Compare Success@1: add -d retrieval,k=1.",
)
BY_DOT_PRODUCT = Template(
    "{encoders}: compared by dot product; its thresholds are on another scale than cosines.",
    "the encoder compares by dot product",
    LIMIT,
    title="Compared by dot product",
)
OVERFITTED = Template(
    "{encoders}: whitening overfits: {passages} are fewer than twice the dimensions.",
    "there are fewer distinct passages than twice the directions that are scaled",
    LIMIT,
    title="Whitening overfits",
)
WORDS_READ = Template(
    "{passages}: about {words}. Success by document does not see this: it counts the right page, not what is "
    "read of it.",
    "a run varies how documents are cut",
    LIMIT,
    title="Words read",
    question="Words",
    severity="medium",
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
    # What follows is computed below, and with the option paper in embassay.diagnostics.retrieval.paper.
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


@dataclass(frozen=True, kw_only=True)
class Retrieval(RetrievalOptions):
    """The diagnostic; its options are those of :class:`~embassay.diagnostics.retrieval.scores.RetrievalOptions`."""

    shape: str = field(default="retrieval", init=False)

    @property
    def options(self) -> str:
        """The options that change item scores, as text for their origin; the others change the summary."""
        default = RetrievalOptions()
        changing = ("k", "transforms", "pcs")
        return ",".join(
            f"{name}={getattr(self, name)}" for name in changing if getattr(self, name) != getattr(default, name)
        )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The declared metrics for k retrieved documents."""
        return with_options(METRICS, k=self.k)

    @property
    def ranking_metrics(self) -> list[RankingMetric]:
        """The metrics of ranks, for k retrieved documents."""
        return [metric for metric in self.metrics if isinstance(metric, RankingMetric)]

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
                f"corpus {corpus.name!r}: transforms={self.transforms} needs all vectors in memory, and those of "
                f"{corpus.stored_documents.path} are read from its parts; leave the option out"
            )
        if not any(sample.right for sample in corpus.samples):
            raise SpecError(f"corpus {corpus.name!r}: no question has a right document, so nothing can be found")

    def score(self, corpus: Corpus[Question], vectors: Vectors, origin: Origin) -> ItemScores:
        """Search the vectors, and score the lists; what only vectors have is beside it."""
        encoded = EncodedCorpus.of(corpus, vectors)
        depth = max(self.k, 2 * COMPARED)
        nearest = encoded.search(encoded.queries, encoded.passages, depth, vectors.similarity)
        # A question without any similarity is undefined, not missed.
        missing = np.isnan(nearest.similarity[:, 0])
        values, scalars = transformed_values(encoded, self, missing)
        values["random"] = similarity_to_random(encoded)
        scalars["dot"] = float(vectors.similarity == "dot")
        return self._item_scores(corpus, nearest, origin, missing, values, scalars)

    def score_rankings(self, corpus: Corpus[Question], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Score the lists of a retriever.

        ``scored`` is 1 where there are scores, else 0. Where some lists lack documents, ``listed`` is the length of the
        longest of these.
        """
        drawn = random_documents(corpus)
        # Scores are on the retriever's own scale, as dot products are.
        scalars = {"scored": float(not np.isnan(nearest.similarity).all()), "dot": 1.0}
        lengths = (nearest.documents >= 0).sum(axis=1)
        lacking = lengths[lengths < len(corpus.documents)]
        if len(lacking):
            scalars["listed"] = float(lacking.max())
            random = np.full(drawn.shape, np.nan)
        else:
            # By place: the similarity of every document.
            similarity = np.take_along_axis(nearest.similarity, np.argsort(nearest.documents, axis=1), axis=1)
            random = np.take_along_axis(similarity, drawn, axis=1)
        missing = np.zeros(len(drawn), dtype=np.bool_)
        return self._item_scores(corpus, nearest, origin, missing, {"random": random}, scalars)

    def _item_scores(
        self,
        corpus: Corpus[Question],
        nearest: Neighbours,
        origin: Origin,
        missing: Bools,
        values: dict[str, Floats],
        scalars: dict[str, float],
    ) -> ItemScores:
        """Return the scores of lists, with the values and scalars of what made them."""
        pairs = right_pairs(corpus.samples, corpus.documents)
        values |= list_values(corpus, nearest, pairs, self.k, self.ranking_metrics, missing)
        scalars |= {"documents": float(len(corpus.documents)), "chance": success_of_blind_choice(corpus, self.k)}
        if not corpus.stored_documents:
            scalars["passage_words"] = words_of_a_passage(corpus.documents)
        return ItemScores(
            origin,
            similarity_function="similarity",
            item=np.array([sample.id for sample in corpus.samples]),
            unit=corpus.units,
            labels={},
            values=values,
            scalars=scalars,
            unit_labels=corpus.unit_labels,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus."""
        figures = self.figures(scores)
        views, requested = figures.views, figures.requested
        summary = figures.summarise(draws, on_request=self.compare == "all")
        rows, series = list(summary.rows), list[Series]()
        thresholds = {view.encoder: recommended_threshold(view) for view in views}
        for view in views:
            rows += computed_rows(view, draws)
            if self.paper:
                rows += paper.exam_rows(view, draws)
                of_paper, chosen = paper.paper_thresholds(view, draws)
                thresholds[view.encoder] |= of_paper
                for subset, psi in chosen.items():
                    rows.append(row(view.scores, draws, "psi", subset, view.estimate(float(psi)), **self.recipe))
        rows += threshold_rows(views, thresholds, draws)
        if self.paper:
            rows += list(paper.correlations(requested, rows, draws))
        place = {view.encoder: number for number, view in enumerate(views)}
        rows.sort(key=lambda row: place.get(row.encoder, len(place)))

        success = {name: row.value for name, row in summary.headline.items()}
        drawable = [view for view in views if len(view.answers.top)]
        series += similarity_series(drawable, success)
        if self.paper:
            series += paper.widths(without_baselines(drawable), draws)
        series += weight_series(views)
        if self.paper:
            series += [*paper.curves(views, rows), *paper.beside_published(views, rows)]

        # About all encoders, then about each, then warnings. A baseline that joined by itself is none to choose.
        may_be_best = [view for view in requested if view.encoder in summary.verdict.best_set]
        findings = [*saturation(may_be_best, success), *first_place(requested, success)]
        for view in requested:
            findings += findings_of(view, rows)
        findings += [*words_read(requested), *scale_warnings(requested)]
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(summary.comparisons),
            series=tuple(series),
            verdicts=(summary.verdict,),
            **answers_and_findings(findings),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[RetrievalView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(lambda of_encoder: RetrievalView(of_encoder, self), scores, self.metrics)

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which questions succeed at k; those without a right document are undecided, and a subset."""
        requested = self.figures(scores).requested
        correct = np.stack([view.scores.values[view.headline] for view in requested])
        return Outcomes(_subsets(requested[0]), correct)

    def examples(
        self, corpus: Corpus[Question], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each question with its right documents, and their rank and what was found by each encoder."""
        views, starts = self.figures(scores).views, starts_of(corpus)
        subsets = _subsets(views[0])
        for index in items.tolist():
            sample, subset = corpus.samples[index], str(subsets[index])
            outcomes = [_outcome(view, index, subset, corpus, starts) for view in views]
            texts = corpus.shown(sample.id)
            for name, reference in chain.from_iterable(outcome.labels.items() for outcome in outcomes):
                if name != "ties":
                    texts[reference] = begun(corpus.passage(reference))
            labels = {f"right{place}": document for place, document in enumerate(sample.right, start=1)}
            yield item_example(scores[0], index, texts, subset, labels)
            yield from outcomes


create = Retrieval


def _subsets(view: RetrievalView) -> NDArray[np.str_]:
    """Return (n,) whether a question has a right document; empty where all have one."""
    if view.answered.all():
        return np.full(len(view.answered), "")
    return np.where(view.answered, "answerable", "unanswerable")


def _outcome(view: RetrievalView, index: int, subset: str, corpus: Corpus[Question], starts: Ints) -> Example:
    """Return what one encoder found for a question, with references ``id#0`` to passages.

    The margin is the similarity of the nearest right document less that of the nearest wrong one; it is undefined
    where all that was found is right.

    Parameters
    ----------
    starts
        (N,) the first passage of each document.
    """
    values = {name: of_questions[index] for name, of_questions in view.scores.values.items()}
    rank, tied = values["rank"], values["tied"]
    numbers, labels, of_wrong = {"right": values[RIGHT], "rank": rank}, dict[str, str](), np.nan
    if tied > 1:
        labels["ties"] = f"tied up to rank {rank + tied - 1:.0f}"
    passages = {"right": values["right_passage"]}
    for place, passage in enumerate(values["found"].tolist(), start=1):
        passages[f"found{place}"] = passage
        numbers[f"found{place}"] = values["top"][place - 1]
    for name, passage in passages.items():
        if np.isnan(passage):
            continue
        document = int(np.searchsorted(starts, passage, side="right")) - 1
        document_id = corpus.documents[document].id
        labels[name] = f"{document_id}#{int(passage - starts[document])}"
        if np.isnan(of_wrong) and document_id not in corpus.samples[index].right:
            of_wrong = numbers[name]
    beyond = {f"found{place}" for place in range(FOUND + 1, view.options.k + 1)}
    return view.outcome(
        index,
        {name: numbers[name] for name in numbers if name not in beyond},
        correct=values[view.headline],
        margin=values[RIGHT] - of_wrong,
        subset=subset,
        labels={name: labels[name] for name in labels if name not in beyond},
    )


# Rows that are no means of the questions


def computed_rows(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield isotropy where it is requested, how well scores separate unanswerable questions, and limits of the loss."""
    scores, options, threshold = view.scores, view.options, view.recommended
    # The lists of a retriever have no passages.
    passages = int(scores.scalars.get("distinct_passages", 0))
    if options.paper or options.transforms == "all":
        for condition in ("", *TRANSFORMS):
            for metric in OF_PASSAGES:
                value = scores.scalars.get(f"{metric}/{condition}")
                if value is not None:
                    estimate = Estimate(value, None, None, passages, passages)
                    yield row(scores, draws, metric, "documents", estimate, condition)
    area = separation(
        (view.values("top")[:, 0], view.labels), (view.largest_of_unanswerable, view.labels_of_unanswerable)
    )
    if area is not None:
        yield row(scores, draws, "auc", "unanswerable", area)
    if threshold.guarantee != "confidence":
        # A reader looks for this row first, so it is there also where the guarantee is weaker or missing.
        reason = threshold.reason or (
            f"a threshold with 95% confidence needs {ceil(questions_needed(options.loss, 'confidence')):,} independent "
            "questions; these are fewer, enough for one that holds on average"
        )
        yield row(scores, draws, "tau", RECOMMENDED["confidence"], view.estimate(None, reason), **options.recipe)
    for subset in recommended_threshold(view):
        yield row(scores, draws, "loss_limit", subset, view.estimate(threshold.loss_limit), **options.recipe)


def recommended_threshold(view: RetrievalView) -> dict[str, float]:
    """Return the recommended threshold by its subset; empty where there is none."""
    threshold = view.recommended
    if threshold.value is None or threshold.guarantee is None:
        return {}
    return {RECOMMENDED[threshold.guarantee]: threshold.value}


def threshold_rows(
    views: Sequence[RetrievalView], thresholds: Mapping[str, Mapping[str, float]], draws: Draws
) -> Iterator[Row]:
    """Yield what each threshold keeps and costs.

    Parameters
    ----------
    thresholds
        By encoder and subset.
    """
    first, scores = views[0], [view.scores for view in views]
    base_systems, recipe = roles_of(scores).base_systems, first.options.recipe
    labels_of = dict.fromkeys(("accuracy_at_tau", "kept"), first.labels)
    labels_of["unanswerable_dropped"] = first.labels_of_unanswerable
    if any(labels.partners for labels in labels_of.values()):
        recipe["pool"] = pool_of(scores)
    for subset in dict.fromkeys(chain.from_iterable(thresholds.values())):
        having = [view for view in views if subset in thresholds[view.encoder]]
        shares = {view.encoder: view.shares_at(thresholds[view.encoder][subset]) for view in having}
        for view in having:
            yield row(view.scores, draws, "tau", subset, view.estimate(thresholds[view.encoder][subset]), **recipe)
        for metric, labels in labels_of.items():
            if labels.items:
                values = {name: of_encoder[metric] for name, of_encoder in shares.items()}
                estimates = bounded_means(values, labels, base_systems, of_shares=True)
                for view in having:
                    yield row(view.scores, draws, metric, subset, estimates[view.encoder], **recipe)


# Series


def similarity_series(views: Sequence[RetrievalView], success: Mapping[str, float | None]) -> Iterator[Series]:
    """Yield the densities of similarities to random, retrieved and right documents, and a table of them.

    Parameters
    ----------
    views
        Those with similarities. The lists of a few documents have none to random ones, and are left out.
    success
        The headline by encoder.
    """
    views = [view for view in views if view.listed is None]
    if not views:
        return
    curves, card = list[dict[str, object]](), list[list[Any]]()
    for view in views:
        similarities = {"random": view.random.ravel(), "retrieved": view.answers.top.ravel(), "right": view.answers.own}
        sets = {name: np.sort(values[np.isfinite(values)]) for name, values in similarities.items()}
        curves += _densities(view, sets)
        steps = _steps(view, np.concatenate(list(sets.values())))
        below = [np.searchsorted(values, steps) / max(len(values), 1) for values in sets.values()]
        card += [[view.encoder, *line] for line in np.stack([steps, *below], axis=1).tolist()]
    if curves:
        # Each line has its own points: the similarities of two encoders may have different ranges.
        data = {"x": "similarity", "y": "density", "at": (), "lines": curves}
        yield Series(NAME, views[0].corpus, "densities", "curve", data)
    yield table(NAME, views[0].corpus, "card", CARD, card, note=_note_on_card(views, success, card))


def _densities(view: RetrievalView, sets: Mapping[str, Floats]) -> Iterator[dict[str, object]]:
    """Yield the density of each kind of similarity, at 160 points of a common axis; nothing that cannot be drawn.

    The axis ends three bandwidths beyond the values, and at −1 and 1 for cosines. The scores of a search engine may be
    of any size: near 5 · 10¹⁷ neighbouring floats are 64 apart, and the squares of the largest ones are infinite.
    """
    values = np.concatenate(list(sets.values()))
    with np.errstate(all="ignore"):
        beyond = max(3 * max(map(bandwidth, sets.values())), 1e-6)
        low, high = float(values.min() - beyond), float(values.max() + beyond)
        if not view.compares_by_dot:
            low, high = max(low, -1.0), min(high, 1.0)
        if not np.spacing(max(-low, high)) < (high - low) / FINE < np.inf:
            return
    # The density is reflected at the ends of what is possible. A dot product has no such ends.
    ends = (low, high) if view.compares_by_dot else (-1.0, 1.0)
    grid = np.linspace(low, high, POINTS)
    for name, of_set in sets.items():
        curve = density(of_set, grid, *ends)
        yield {"encoder": view.encoder, "line": name, "at": grid.tolist(), "y": curve.tolist()}


def _steps(view: RetrievalView, values: Floats) -> Floats:
    """Return the similarities of the card's lines, from the smallest value to the largest."""
    low, high = values.min(), values.max()
    if view.compares_by_dot:
        return np.linspace(low, high, STEPS + 1)
    # Cosines have a common scale, so the lines of all encoders are multiples of the step.
    return np.arange(np.floor(low / STEP), np.ceil(high / STEP) + 1) * STEP


def _note_on_card(
    views: Sequence[RetrievalView], success: Mapping[str, float | None], card: Sequence[Sequence[Any]]
) -> str:
    """Say what the most typical similarity of a right document means for the encoder with the highest success.

    Empty if no encoder has a success.
    """
    values = {view.encoder: success[view.encoder] for view in without_baselines(views)}
    defined = {name: value for name, value in values.items() if value is not None}
    if not defined:
        return ""
    best = max(defined, key=lambda name: defined[name])
    # The line that divides the right documents most evenly.
    middle = min((line for line in card if line[0] == best), key=lambda line: abs(line[-1] - 0.5))
    random, retrieved, right = (number(1 - below) for below in middle[2:])
    return (
        f"With {best}, which has the highest {views[0].headline} of these, a similarity of {middle[1]:.2f} "
        f"or more is reached by {right} of the right documents, {retrieved} of the retrieved ones and {random} of "
        "random ones."
    )


def weight_series(views: Sequence[RetrievalView]) -> Iterator[Series]:
    """Yield the mean reciprocal rank by weight, of the retrievers that choose a weight."""
    lines = []
    for view in views:
        curve = {name.removeprefix("curve/"): value for name, value in view.scores.scalars.items() if "curve/" in name}
        if curve:
            at = [float(weight) for weight in curve]
            lines.append({"encoder": view.encoder, "line": "RR", "at": at, "y": list(curve.values())})
    if lines:
        data = {"x": "weight", "y": "RR", "at": (), "lines": lines}
        yield Series(NAME, views[0].corpus, "weights", "curve", data)


# Findings


def findings_of(view: RetrievalView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield what is found about one encoder: failure, and the recommended threshold."""
    origin, scalars, k = view.scores.origin, view.scores.scalars, view.options.k
    row_of = {(r.metric, r.subset): r for r in rows if r.encoder == view.encoder and not r.condition}
    success = row_of[view.headline, "all"]
    template = {"below": BELOW_CHANCE, "both": NOT_SHOWN}.get(against_chance(success, view.chance))
    if template is not None:
        yield template.finding(
            success, encoder=view.encoder, success=written(success), where=among_first(k), chance=view.chance
        )
    missed = int(np.isnan(view.values("rank")).sum())
    if view.listed is not None and missed:
        finding = LISTED.finding(
            origin,
            style="count",
            encoder=view.encoder,
            listed=view.listed,
            documents=scalars["documents"],
            missed=counted(missed, "question"),
        )
        yield replace(finding, value=missed)
    if success.value is None:
        return
    if "setting" in scalars:
        low, high = scalars["setting/lowest"], scalars["setting/highest"]
        unsettled = ""
        if round(high - low, 9) > SETTLED:
            questions = counted(int(view.answered.sum()), "question")
            unsettled = " " + UNSETTLED.sentence(questions=questions, low=low, high=high)
        yield CHOSEN.finding(
            origin,
            encoder=view.encoder,
            weight=scalars["setting"],
            headline=view.headline,
            own=success.value,
            expected=scalars["setting/expected"],
            unsettled=unsettled,
        )
    is_known = view.listed is None or view.listed >= RERANKED
    if is_known and not view.is_baseline and scalars["documents"] > RERANKED:
        # Expected over ties: where words are counted, thousands of documents may have the score 0.
        inside = (RERANKED + 1 - view.values("rank")) / np.fmax(view.values("tied"), 1)
        share = float(np.nan_to_num(np.clip(inside, 0, 1)).mean())
        headroom = HEADROOM.finding(
            origin,
            encoder=view.encoder,
            depth=RERANKED,
            share=number(share, "percent"),
            gain=size_in_points(max(0.0, share - success.value)),
            headline=view.headline,
        )
        yield replace(headroom, value=share)
    yield _threshold(view, row_of, success.value)


def _threshold(view: RetrievalView, row_of: Mapping[tuple[str, str], Row], success: float) -> Finding:
    """Return which similarities to drop, the guaranteed loss and the loss here; or why nothing is recommended."""
    separates, area = "", row_of.get(("auc", "unanswerable"))
    if area is not None:
        short, *ends = (f"{one:.2f}".removeprefix("0") for one in (area.value, area.low, area.high) if one is not None)
        is_separated = area.low is not None and area.low >= SEPARATED
        separates = (SEPARATES if is_separated else NO_SEPARATION).sentence(
            unanswerable=counted(len(view.largest_of_unanswerable), "unanswerable question"),
            area=f"{short} [{', '.join(ends)}]" if ends else short,
        )
    recommended = recommended_threshold(view)
    if not recommended:
        reason = view.recommended.reason
        return NO_THRESHOLD.finding(view.scores.origin, encoder=view.encoder, reason=reason, separates=separates)
    ((subset, threshold),) = recommended.items()
    here = f"{100 * max(success - (row_of['accuracy_at_tau', subset].value or 0.0), 0.0):.1f} here"
    template, guarantee = DROP_BELOW_ON_AVERAGE, f"on average ({here})"
    if subset == RECOMMENDED["confidence"]:
        template, guarantee = DROP_BELOW, f"with 95% confidence ({here})"
    return template.finding(
        row_of["tau", subset],
        style="threshold",
        encoder=view.encoder,
        threshold=number(threshold, "threshold"),
        scale=" (in its own scores)" if view.is_lists else "",
        loss=size_in_points(view.options.loss),
        headline=view.headline,
        guarantee=guarantee,
        removed=1 - (row_of["kept", subset].value or 0.0),
        separates=separates,
    )


def first_place(views: Sequence[RetrievalView], success: Mapping[str, float | None]) -> Iterator[Finding]:
    """Yield which encoders share exactly the highest value; ``success`` is the headline by encoder."""
    values = [success[view.encoder] for view in views]
    best = max((value for value in values if value is not None), default=None)
    first = [view.encoder for view, value in zip(views, values, strict=True) if value == best]
    if best is not None and len(first) > 1:
        yield EQUAL_VALUES.finding(views[0].scores.origin, encoders=", ".join(first), headline=views[0].headline)


def saturation(views: Sequence[RetrievalView], success: Mapping[str, float | None]) -> Iterator[Finding]:
    """Yield whether the headline has little room left to tell those apart that may be the best."""
    values = {view.encoder: success[view.encoder] or 0.0 for view in views}
    high = {name: value for name, value in values.items() if value >= SATURATED}
    if len(high) > 1 and views[0].options.k > 1:
        lowest = min(high.values())
        reached = number(lowest) + ("" if lowest == 1 else " or more")
        origin, headline = views[0].scores.origin, views[0].headline
        yield SATURATED_HEADLINE.finding(origin, headline=headline, reached=reached, encoders=names(list(high)))


def words_read(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield how many words the first passages hold, where the candidates differ in that."""
    # The first encoder with each length names it.
    encoder_of = {view.scores.scalars.get("passage_words", 0.0): view.encoder for view in reversed(views)}
    if len(encoder_of) > 1:
        k = views[0].options.k
        words = [f"{k * length:,.0f} words with {encoder_of[length]}" for length in sorted(encoder_of)]
        yield WORDS_READ.finding(views[0].scores.origin, passages=counted(k, "passage"), words=names(words))


def scale_warnings(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield which encoders do not compare by cosine, and which have too few passages for whitening."""
    by_dot = [view.encoder for view in views if view.compares_by_dot and not view.is_lists]
    if by_dot:
        yield BY_DOT_PRODUCT.finding(views[0].scores.origin, encoders=", ".join(by_dot))
    # With fewer distinct passages than twice the directions that it scales, whitening mostly scales their noise.
    overfitted = dict[str, float]()
    for view in views:
        passages = view.scores.scalars.get("distinct_passages", 0.0)
        if 2 * view.scores.scalars.get("rank/whiten", 0.0) > passages:
            overfitted[view.encoder] = passages
    if overfitted:
        # A run may vary how documents are cut.
        least, most = min(overfitted.values()), max(overfitted.values())
        passages_text = f"{most:,.0f} passages" if least == most else f"at most {most:,.0f} passages"
        yield OVERFITTED.finding(views[0].scores.origin, encoders=", ".join(overfitted), passages=passages_text)


# Page


def layout(result: Result) -> Layout:
    """Return the page for the options that a result was made with, as far as they are read from its content."""
    series = {one.name: one.data for one in result.series if one.diagnostic == NAME}
    of_search = [v.metric for v in result.verdicts if v.metric.startswith("Success@")]
    options: dict[str, Any] = dict(series.get("coe", {}).get("options", {}))
    if options:
        options["random"] = options.pop("random_documents")
    diagnostic = Retrieval(k=int(of_search[0].removeprefix("Success@")) if of_search else K, **options)
    has_isotropy = any((one.diagnostic, one.metric) == (NAME, "isoscore") for one in result.rows)
    isotropy = (_isotropy_table(diagnostic.headline),) if has_isotropy else ()
    return Layout(
        title="Retrieval",
        question="Which encoder finds the right document, and from what similarity on?",
        headline=_headline(diagnostic),
        parts=(*_parts(diagnostic), *isotropy, _browser(diagnostic.k)),
        source="Roychowdhury et al. (2024), A Compass for Navigating the World of Sentence Embeddings for the Telecom "
        "Domain",
        paper=paper.paper_parts(diagnostic) if "published" in series else (),
    )


def _headline(options: Retrieval) -> EncoderTable:
    """Return the headline table: success, and the recommended threshold with what it keeps."""
    success = options.headline
    beside = [metric for metric in options.ranking_metrics if metric.beside_headline]
    meanings = "".join(f" {metric.name}: {metric.meaning}." for metric in beside)
    return EncoderTable(
        f"Questions with a right document {among_first(options.k)}",
        (
            Column(success, success),
            *(metric.column for metric in beside),
            Column("threshold τ (95%)", "tau", "recommended"),
            Column(f"{success} at τ", "accuracy_at_tau", "recommended"),
            Column("kept at τ", "kept", "recommended"),
        ),
        note=f"{success}: of all questions that have an answer.{meanings} τ: dropping results below it loses no more "
        "success than allowed, with 95% confidence.",
    )


def _parts(options: Retrieval) -> tuple[Part, ...]:
    """Return the parts of every search run."""
    success = Column(options.headline, options.headline)
    confident, average = (ceil(questions_needed(LOSS, guarantee)) for guarantee in RECOMMENDED)
    columns = {
        "τ": "tau",
        "success at τ": "accuracy_at_tau",
        "kept": "kept",
        "limit of the loss": "loss_limit",
        "unanswerable questions that find nothing": "unanswerable_dropped",
    }
    recommended = list[Column]()
    for subset, suffix in zip(RECOMMENDED.values(), ("", ", on average"), strict=True):
        recommended += [Column(f"{heading}{suffix}", metric, subset) for heading, metric in columns.items()]
    return (
        IntervalChart(f"{options.headline} with its 95% interval", success),
        ComparisonTable(
            "Which differences are shown",
            success,
            note="Paired on the same questions; p by exchanging questions that share documents, corrected within "
            "each family.",
        ),
        Curves(
            "The weight of a hybrid's first part",
            "weights",
            note="The mean reciprocal rank of all questions by weight. weight=auto is the weight of the highest "
            "point, which is too high: it was chosen on these questions.",
            zero=False,
        ),
        Curves(
            "How similar questions are to random, right and retrieved documents",
            "densities",
            note=f"Retrieved: the nearest {options.k}. Where the curves of right and retrieved documents overlap, no "
            "threshold can separate them.",
            split=True,
        ),
        SeriesTable(
            "What a similarity means",
            "card",
            note="For each encoder: the share of random, retrieved and right pairs that are less similar. A "
            "similarity of 0.6 means something different for each encoder.",
        ),
        EncoderTable(
            "A recommended threshold, and what it does",
            tuple(recommended),
            note="The highest similarity for which the upper 95% confidence limit of the loss is no more than allowed "
            f"({size_in_points(LOSS)} unless said otherwise; that needs {confident} independent questions). On "
            f"average: with {average} questions or more, the loss averaged over many such samples of questions is "
            "no more than allowed; the limit is its upper bound.",
        ),
        EncoderTable(
            "Ranking metrics",
            tuple(metric.column for metric in options.ranking_metrics),
            note="Names as in ir-measures. Tied documents count with the expected value over all their "
            "orders: an encoder that gives all documents the same similarity scores as random choice does.",
        ),
    )


def _isotropy_table(headline: str) -> EncoderTable:
    """Return the table of success and isotropy, without a transform and after each."""
    columns = list[Column]()
    for condition in ("", *TRANSFORMS):
        suffix = f", {condition.replace('_', ' ')}" if condition else ""
        columns.append(Column(f"{headline}{suffix}", headline, condition=condition))
        columns.append(Column(f"IsoScore{suffix}", "isoscore", "documents", condition))
        columns.append(Column(f"I_A{suffix}", "i_a", "documents", condition))
    columns.append(Column("IsoScore, unbiased", "isoscore_unbiased", "documents"))
    return EncoderTable(
        "Does making the vectors more isotropic help?",
        tuple(columns),
        note="Transforms are fitted on the passages and applied to passages and questions; then cosine. More "
        "isotropic is not better by itself. IsoScore, as published, is too low where there are few passages; the "
        "unbiased one is of the vectors without a transform.",
    )


def _browser(k: int) -> Examples:
    """Return the browser of questions."""
    found = tuple(f"found{place}" for place in range(1, min(k, FOUND) + 1))
    return Examples(
        "Question by question",
        "question",
        texts=(("right", "right document"),),
        columns=(
            ExampleColumn("rank of right document", ("rank", "ties"), "count"),
            ExampleColumn("its similarity", ("right",), passages=True),
            ExampleColumn("found first", found, passages=True),
        ),
        margin="the similarity of the nearest right document less that of the nearest wrong one",
        threshold=Column("τ", "tau", "recommended"),
        note=f"Right: a right document is {among_first(k)}. Beside each passage its similarity to the question; "
        "below the threshold τ it would be dropped.",
    )
