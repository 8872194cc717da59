"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; that of a document is that of its best passage.
``Success@5`` is the share of all questions with a right document among the nearest five. The paper's own figures come
with the option ``paper``: see :mod:`embassay.diagnostics.retrieval.paper`.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import ceil
from typing import Any

import numpy as np

from embassay.core.claims import AVERAGE_LOSS, COUNT, INTERVAL, LIMIT, THRESHOLD, Template
from embassay.core.errors import SpecError, begun
from embassay.core.formatting import counted, names, number, size_in_points
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
from embassay.core.result import Estimate, Finding, Result, Row, Series
from embassay.core.samples.retrieval import Question
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.isotropy_metrics import ISOTROPY_METRICS
from embassay.diagnostics.method import ItemMethod, Shown, Stored
from embassay.diagnostics.metrics.metric import Meaning, Metric, with_options
from embassay.diagnostics.metrics.summary import Figures, MetricSummary, row
from embassay.diagnostics.published import Paper, table
from embassay.diagnostics.retrieval import paper
from embassay.diagnostics.retrieval.scores import (
    NAME,
    RECOMMENDED,
    RIGHT,
    K,
    RankingMetric,
    RetrievalOptions,
    RetrievalView,
    list_values,
    random_documents,
    reference_of,
    search,
    similarity_to_random,
    starts_of,
    success_of_blind_choice,
    transformed_values,
    words_of_a_passage,
)
from embassay.stats.density import bandwidth, density
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.overlap import COMPARED
from embassay.stats.ranking import RightPlaces
from embassay.stats.separation import separation
from embassay.stats.thresholds import questions_needed
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
VERSION = 8
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("retrieval", "questions", task="information-retrieval", about=("search",))
FOUND = 5
"""How many of the documents found for a question are listed, at most."""
OF_PASSAGES = ("i_a", "isoscore", "isoscore_unbiased", "rank")
"""The metrics of isotropy that are computed of the passages."""
STEP = 0.05
"""The lines of the table of similarities of cosines: multiples of 0.05."""
RERANKED = 50
"""How many documents a reranker usually reads for a question."""

NOT_SHOWN = Template(
    "{encoder} finds a right document {where} for {success} of the questions; random order has {chance:.1%}.",
    "the interval contains chance, or lies below it",
    INTERVAL,
    "not shown",
    title="Search is not shown to be better than chance",
    kind="headline",
    question="Than chance?",
    severity="medium",
    consequence="It is not shown to be of use for search on this corpus; more questions would decide.",
)
LISTED = Template(
    "{encoder} lists at most {lists}; for {missed} no right one is listed, which counts as missed.",
    "a retriever lists some of the documents, and not every question has a right one among them",
    COUNT,
    title="Lists, not all documents",
)
HEADROOM = Template(
    "{encoder} has a right document among the first {depth} for {share} of the questions: a perfect reranker of these "
    "would add {gain} to {headline}.",
    f"of candidates, where there are more than {RERANKED} documents, and lists of at least that many",
    COUNT,
    title="Headroom for a reranker",
)
CHOSEN = Template(
    "{encoder}: with weight {weight:g} ({low:g} to {high:g} if chosen on four fifths of the questions), {headline} is "
    "{own:.1%} on the questions it was chosen on; {expected:.1%} is expected on others.",
    "a retriever chooses a weight",
    COUNT,
    title="The weight of {encoder}",
    question="Weight",
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
WORDS_READ = Template(
    "{passages}: about {words}. Success by document does not see this: it counts the right page, not what is "
    "read of it.",
    "a run varies how documents are cut",
    LIMIT,
    title="Words read",
    question="Words",
    severity="medium",
)


def _recommended(view: RetrievalView) -> Mapping[str, Estimate]:
    """Return the recommended threshold by its guarantee; also why there is none with 95 % confidence."""
    reason = view.recommended.reason or (
        f"a threshold with 95% confidence needs {ceil(questions_needed(view.options.loss, 'confidence')):,} "
        "independent questions; these are fewer, enough for one that holds on average"
    )
    undefined = view.estimate(None, reason)
    return {"recommended": undefined, **{name: view.estimate(tau) for name, tau in view.recommended_tau.items()}}


def ranking_metric(name: str, of_places: Callable[[RightPlaces, int], Floats], **declared: Any) -> RankingMetric:
    """Declare a metric of the ranks of a question's right documents, of which higher values are better."""
    return RankingMetric(
        name,
        of=lambda view: view.ranking(name),
        better="higher",
        low=0.0,
        high=1.0,
        source="ir-measures",
        of_places=of_places,
        **declared,
    )


def _success_after(transform: str) -> Metric:
    """Declare the success after a transform of the vectors."""
    return Metric(
        "Success@{k}",
        condition=transform,
        of=lambda view: view.ranking(f"Success@{{k}}/{transform}"),
        kind="share",
        better="higher",
        meaning="success after a transform of the vectors",
    )


_share_without_items = partial(Metric, kind="computed", low=0.0, high=1.0, format="percent")
METRICS = (
    ranking_metric(
        "Success@{k}",
        RightPlaces.success,
        kind="share",
        headline=True,
        margin=0.02,
        chance=lambda view: view.scores.scalars["chance"],
        says="a right {document} is in its top {k} for {of_100}",
        term="Success@{K}",
        explanation=(
            "The share of the questions with a right document among the K nearest documents. 100% is the best value."
        ),
        meaning="share of answerable questions with a right document among the first k",
    ),
    ranking_metric(
        "R@{k}",
        RightPlaces.recall,
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
        paper.ACCURACY,
        better="higher",
        meaning="success in an exam of 100 questions: mean and range over 500 exams",
    ),
    _share_without_items(
        "coe",
        "psi*",
        better="higher",
        meaning="share of right documents above the ψ-th percentile of the retrieved similarities",
    ),
    _share_without_items(
        "roe",
        "psi*",
        better="lower",
        meaning="share of random documents above the ψ-th percentile of the retrieved similarities",
    ),
    Metric(
        "tau",
        "recommended*",
        of=_recommended,
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
        of=lambda view: separation(view.scores.values["top"][:, 0], view.all_labels, view.answered, ~view.answered),
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
        of=lambda view: {subset: view.estimate(view.recommended.loss_limit) for subset in view.recommended_tau},
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
class Retrieval(RetrievalOptions, ItemMethod):
    """The diagnostic; its options are those of :class:`~embassay.diagnostics.retrieval.scores.RetrievalOptions`."""

    shape = NAME
    view = RetrievalView
    metrics = METRICS
    similarity_function = "similarity"
    scores_rankings = True

    @property
    def options(self) -> str:
        """The options that change item scores, as text for their origin; the others change the summary."""
        defaults = {"k": K, "transforms": "none"}.items()
        return ",".join(f"{name}={getattr(self, name)}" for name, of in defaults if getattr(self, name) != of)

    @property
    def ranking_metrics(self) -> list[RankingMetric]:
        """The metrics of ranks, for k retrieved documents."""
        return [metric for metric in with_options(METRICS, k=self.k) if isinstance(metric, RankingMetric)]

    def check(self, corpus: Corpus[Question]) -> None:
        """Check that fewer documents are retrieved than there are, and that some question has an answer.

        Raises
        ------
        SpecError
            If not; the message says what to do.
        """
        problems = {
            f"{len(corpus.documents)} documents, of which k={self.k} would be retrieved: every question would succeed; "
            "set a smaller k (retrieval,k=N)": self.k >= len(corpus.documents),
            "documents whose vectors are read from their parts; transforms=all needs all vectors in memory": (
                corpus.stored_documents and self.transforms != "none"
            ),
            "no question with a right document, so nothing can be found": not any(s.right for s in corpus.samples),
        }
        for problem, is_so in problems.items():
            if is_so:
                raise SpecError(f"corpus {corpus.name!r} has {problem}")

    def values(self, corpus: Corpus[Question], vectors: Vectors) -> Stored:
        """Search the vectors, and store what is of the lists; what only vectors have is beside it."""
        nearest = search(corpus, vectors, max(self.k, 2 * COMPARED))
        # A question without any similarity is undefined, not missed.
        missing = np.isnan(nearest.similarity[:, 0])
        return {
            **self._of_lists(corpus, nearest, missing),
            **transformed_values(corpus, vectors, self, missing),
            "random": similarity_to_random(corpus, vectors),
            "dot": float(vectors.similarity == "dot"),
        }

    def score_rankings(self, corpus: Corpus[Question], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Score the lists of a retriever.

        Where some lists lack documents, ``listed`` is the length of the longest of these, and no similarity to random
        documents is known.
        """
        drawn = random_documents(corpus)
        random, listed = np.full(drawn.shape, np.nan), np.nan
        lengths = (nearest.documents >= 0).sum(axis=1)
        lacking = lengths[lengths < len(corpus.documents)]
        if lacking.size:
            listed = float(lacking.max())
        else:
            by_place = np.take_along_axis(nearest.similarity, np.argsort(nearest.documents), axis=1)
            random = np.take_along_axis(by_place, drawn, axis=1)
        stored = {
            # What is in no list is missed.
            **self._of_lists(corpus, nearest, np.array(False)),
            "random": random,
            "listed": listed,
            # Scores are on the retriever's own scale, as dot products are.
            "dot": 1.0,
        }
        return self.stored(corpus, origin, stored)

    def _of_lists(self, corpus: Corpus[Question], nearest: Neighbours, missing: Bools) -> Stored:
        """Return what is stored of lists, whatever made them."""
        return {
            **list_values(corpus, nearest, self.k, self.ranking_metrics, missing),
            "documents": float(len(corpus.documents)),
            "chance": success_of_blind_choice(corpus, self.k),
            "passage_words": words_of_a_passage(corpus),
        }

    def figures(self, scores: Sequence[ItemScores]) -> Figures[RetrievalView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(partial(RetrievalView, options=self), scores, with_options(METRICS, k=self.k))

    def rows(self, figures: Figures[RetrievalView], draws: Draws) -> list[Row]:
        """Return the metrics, isotropy, thresholds and the shares that they cost; with ``paper`` also its figures."""
        rows = figures.rows(draws)
        thresholds = {view.encoder: dict(view.recommended_tau) for view in figures.views}
        for view in figures.views:
            if self.paper or self.transforms == "all":
                rows += isotropy_rows(view, draws)
            if self.paper:
                threshold_rows, paper_thresholds = paper.threshold_rows(view, draws)
                rows += [*threshold_rows, *paper.exam_rows(view, draws)]
                thresholds[view.encoder] |= paper_thresholds
        rows += share_rows(figures, thresholds, draws)
        if self.paper:
            row_of: paper.RowByKey = {(one.encoder, one.metric, one.subset, one.condition): one for one in rows}
            rows += paper.correlations(figures.requested, row_of, draws)
        # These options change rows but no item scores, whose signature therefore lacks them.
        recipe = f"loss:{self.loss:g}|psi:{self.psi}|random:{self.random}"
        return [replace(one, signature=f"{one.signature}|{recipe}") for one in rows]

    def series(self, figures: Figures[RetrievalView], summary: MetricSummary) -> Iterator[Series]:
        """Yield the densities of similarities and what they mean."""
        yield from similarity_series(figures.views)
        # The paper's figures are those of five documents.
        if self.paper and self.k == K:
            origins = [view.scores.origin for view in figures.requested]
            yield from Paper(NAME, summary.verdict, summary.rows, origins).beside()

    def findings(self, figures: Figures[RetrievalView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield what is about each encoder, then how many words are read."""
        requested = figures.requested
        for view in requested:
            yield from findings_of(view, summary.headline[view.encoder])
            yield threshold_of(view, summary.row_of)
        yield from words_read(requested)

    def shows(self, corpus: Corpus[Question]) -> Callable[[RetrievalView, int], Shown]:
        """Return what shows the rank of the right document and what was found, with references to passages."""
        return partial(_shown, corpus, starts_of(corpus))

    def texts(
        self, corpus: Corpus[Question], index: int, outcomes: Sequence[Mapping[str, str]]
    ) -> tuple[dict[str, str], Mapping[str, str]]:
        """Return a question with its right documents, and the passages that the encoders found."""
        sample = corpus.samples[index]
        texts = corpus.shown(sample)
        for reference in chain.from_iterable(outcome.values() for outcome in outcomes):
            if "#" in reference:
                texts[reference] = begun(corpus.passage(reference))
        return texts, {f"right{place}": document for place, document in enumerate(sample.right, start=1)}


create = Retrieval


def _shown(corpus: Corpus[Question], starts: Ints, view: RetrievalView, index: int) -> Shown:
    """Return what one encoder found for a question, with references ``id#0`` to passages.

    Parameters
    ----------
    starts
        (N,) the first passage of each document.
    """
    values = {name: of_questions[index] for name, of_questions in view.scores.values.items()}
    # At place 0 the nearest right document; then the first that were retrieved.
    retrieved = [(values["right_passage"], values[RIGHT]), *zip(values["found"], values["top"], strict=True)]
    numbers, labels = {"rank": values["rank"]}, dict[str, str]()
    if values["tied"] > 1:
        labels["ties"] = f"tied up to rank {values['rank'] + values['tied'] - 1:.0f}"
    for place, (passage, similarity) in enumerate(retrieved[: FOUND + 1]):
        if not np.isnan(passage):
            name = f"found{place}" if place else "right"
            numbers[name] = similarity
            labels[name] = reference_of(corpus, starts, passage)
    return numbers, labels


# Rows that are no means of the questions


def isotropy_rows(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield I_A and IsoScore of the distinct passages, as they are and after each transform, and the rank it leaves."""
    for name, value in view.scores.scalars.items():
        metric, _, condition = name.partition("/")
        if metric in OF_PASSAGES:
            passages = int(view.scores.scalars["distinct_passages"])
            yield row(
                view.scores, draws, metric, "documents", Estimate(value, None, None, passages, passages), condition
            )


def share_rows(
    figures: Figures[RetrievalView], thresholds: Mapping[str, Mapping[str, float]], draws: Draws
) -> list[Row]:
    """Return what each threshold keeps and costs; ``thresholds`` are by encoder and subset."""

    def share(metric: str, subset: str, view: RetrievalView) -> Floats | None:
        threshold = thresholds[view.encoder].get(subset)
        return None if threshold is None else view.shares_at(threshold).get(metric)

    metrics = [
        Metric(name, subset, kind="share", better="neither", of=partial(share, name, subset))
        for subset in dict.fromkeys(chain.from_iterable(thresholds.values()))
        for name in ("accuracy_at_tau", "kept", "unanswerable_dropped")
    ]
    return Figures(figures.views, tuple(metrics)).rows(draws)


# Series


def similarity_series(views: Sequence[RetrievalView]) -> Iterator[Series]:
    """Yield the densities of similarities to random, retrieved and right documents, and a table of them.

    The lists of a few documents have no similarities to random ones, and are left out.
    """
    curves, card = list[dict[str, object]](), list[list[Any]]()
    for view in views:
        if view.listed is not None or not len(view.answers.top):
            continue
        similarities = {"random": view.random, "retrieved": view.answers.top, "right": view.answers.own}
        sets = {name: np.sort(values[np.isfinite(values)]) for name, values in similarities.items()}
        values = np.concatenate([*sets.values()])
        low, high = values.min(), values.max()
        # Dot products: twentieths of their range.
        steps = np.linspace(low, high, 21)
        if not view.compares_by_dot:
            # Cosines have a common scale, so the lines of all encoders are multiples of the step.
            steps = np.arange(np.floor(low / STEP), np.ceil(high / STEP) + 1) * STEP
        below = [np.searchsorted(of_set, steps) / max(len(of_set), 1) for of_set in sets.values()]
        card += [[view.encoder, *line] for line in np.stack([steps, *below], axis=1).tolist()]
        # Floating-point numbers cannot tell larger scores apart finely enough for a density.
        if max(-low, high) > 1e6:
            continue
        beyond = max(3 * max(map(bandwidth, sets.values())), 1e-6)
        low, high = low - beyond, high + beyond
        # Each line has its own points: the similarities of two encoders may have different ranges.
        grid = np.linspace(low, high, 160)
        if not view.compares_by_dot:
            # Densities of cosines are reflected at the ends of what is possible.
            grid, low, high = np.linspace(max(low, -1.0), min(high, 1.0), 160), -1.0, 1.0
        for name, of_set in sets.items():
            y = density(of_set, grid, low, high)
            curves.append({"encoder": view.encoder, "line": name, "at": grid.tolist(), "y": y.tolist()})
    if curves:
        data = {"x": "similarity", "y": "density", "at": (), "lines": curves}
        yield Series(NAME, views[0].corpus, "densities", "curve", data)
    if card:
        columns = {
            "encoder": "text",
            "similarity": "number",
            "random pairs below it": "percent",
            "retrieved pairs below it": "percent",
            "right pairs below it": "percent",
        }
        yield table(NAME, views[0].corpus, "card", columns, card)


# Findings


def findings_of(view: RetrievalView, success: Row) -> Iterator[Finding]:
    """Yield what is found about one encoder: failure, missing documents, a chosen weight, headroom for a reranker."""
    origin, scalars, rank, value = view.scores.origin, view.scores.scalars, view.values("rank"), success.value
    chance, documents, missed = scalars["chance"], scalars["documents"], int(np.isnan(rank).sum())
    say = {"encoder": view.encoder, "headline": view.headline}
    if against_chance(success, chance) in ("below", "both"):
        where = view.options.among_first
        yield NOT_SHOWN.finding(success, success=written(success), where=where, chance=chance, **say)
    if view.listed is not None and missed:
        lists, questions = f"{view.listed:,.0f} of {documents:,.0f} documents", counted(missed, "question")
        yield replace(LISTED.finding(origin, style="count", lists=lists, missed=questions, **say), value=missed)
    if value is None:
        return
    if "setting" in scalars:
        yield CHOSEN.finding(
            origin,
            weight=scalars["setting"],
            low=scalars["setting/lowest"],
            high=scalars["setting/highest"],
            own=value,
            expected=scalars["setting/expected"],
            **say,
        )
    if documents > RERANKED and (view.listed is None or view.listed >= RERANKED):
        # Expected over ties: where words are counted, thousands of documents may have the score 0.
        inside = np.clip((RERANKED + 1 - rank) / np.fmax(view.values("tied"), 1), 0, 1)
        share = float(np.nan_to_num(inside).mean())
        gain = size_in_points(max(0.0, share - value))
        yield replace(HEADROOM.finding(origin, depth=RERANKED, share=number(share), gain=gain, **say), value=share)


def threshold_of(view: RetrievalView, row_of: paper.RowByKey) -> Finding:
    """Return which similarities to drop, the guaranteed loss and the loss here; or why nothing is recommended."""
    threshold, answers, separates = view.recommended, view.answers, ""
    area = row_of.get((view.encoder, "auc", "unanswerable", ""))
    if area is not None:
        template = SEPARATES if (area.low or 0) >= 0.9 else NO_SEPARATION
        unanswerable = counted(len(view.largest_of_unanswerable), "unanswerable question")
        separates = template.sentence(unanswerable=unanswerable, area=_written_area(area))
    say = {"encoder": view.encoder, "headline": view.headline, "separates": separates}
    if not view.recommended_tau:
        return NO_THRESHOLD.finding(view.scores.origin, reason=threshold.reason, **say)
    ((subset, tau),) = view.recommended_tau.items()
    lost = 100 * (answers.success.mean() - answers.right_at(tau).mean())
    template, guarantee = DROP_BELOW_ON_AVERAGE, f"on average ({lost:.1f} here)"
    if threshold.guarantee == "confidence":
        template, guarantee = DROP_BELOW, f"with 95% confidence ({lost:.1f} here)"
    return template.finding(
        row_of[view.encoder, "tau", subset, ""],
        style="threshold",
        threshold=number(tau, "threshold"),
        scale=" (in its own scores)" if view.compares_by_dot else "",
        loss=size_in_points(view.options.loss),
        guarantee=guarantee,
        removed=1 - answers.kept_at(tau).mean(),
        **say,
    )


def _written_area(area: Row) -> str:
    """Write an area under the curve with its interval, if it has one: ``.93 [.85, .97]``."""
    shares = [share for share in (area.value, area.low, area.high) if share is not None]
    value, *ends = (f"{share:.2f}".removeprefix("0") for share in shares)
    return f"{value} [{', '.join(ends)}]" if ends else value


def words_read(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield how many words the first passages hold, where the candidates differ in that."""
    # The first encoder with each length names it.
    encoder_of = dict[float, str]()
    for view in views:
        encoder_of.setdefault(view.scores.scalars.get("passage_words", 0.0), view.encoder)
    if len(encoder_of) > 1:
        k = views[0].options.k
        words = [f"{k * length:,.0f} words with {encoder}" for length, encoder in sorted(encoder_of.items())]
        yield WORDS_READ.finding(views[0].scores.origin, passages=counted(k, "passage"), words=names(words))


# Page


def layout(result: Result) -> Layout:
    """Return the page of a result."""
    recall = (one.metric for one in result.rows if one.diagnostic == NAME and one.metric.startswith("R@"))
    options = Retrieval(k=int(next(recall, f"R@{K}").removeprefix("R@")))
    success, beside = options.headline, [metric.column for metric in options.ranking_metrics if metric.beside_headline]
    # Parts without figures are left out.
    return Layout(
        title="Retrieval",
        question="Which encoder finds the right document, and from what similarity on?",
        headline=EncoderTable(
            f"Questions with a right document {options.among_first}",
            (
                Column(success, success),
                *beside,
                Column("threshold τ (95%)", "tau", "recommended"),
                Column(f"{success} at τ", "accuracy_at_tau", "recommended"),
                Column("kept at τ", "kept", "recommended"),
            ),
            note=f"{success}: of all questions that have an answer. τ: dropping results below it loses no more success "
            "than allowed, with 95% confidence.",
        ),
        parts=tuple(_parts(options)),
        source="Roychowdhury et al. (2024), A Compass for Navigating the World of Sentence Embeddings for the Telecom "
        "Domain",
        paper=tuple(paper.paper_parts()),
    )


def _parts(options: Retrieval) -> Iterator[Part]:
    """Yield the parts of a search run."""
    success = Column(options.headline, options.headline)
    yield IntervalChart(f"{success.heading} with its 95% interval", success)
    yield ComparisonTable(
        "Which differences are shown",
        success,
        "Paired on the same questions; p by exchanging questions that share documents, corrected within each family.",
    )
    yield Curves(
        "How similar questions are to random, right and retrieved documents",
        "densities",
        "Retrieved: the nearest k documents. Where the curves of right and retrieved documents overlap, no threshold "
        "can separate them. The paper's figures 1 and 2.",
        split=True,
    )
    yield SeriesTable(
        "What a similarity means",
        "card",
        "For each encoder: the share of random, retrieved and right pairs that are less similar. A similarity of 0.6 "
        "means something different for each encoder.",
    )
    recommended = list[Column]()
    headings = {
        "τ": "tau",
        "success at τ": "accuracy_at_tau",
        "kept": "kept",
        "limit of the loss": "loss_limit",
        "unanswerable questions that find nothing": "unanswerable_dropped",
    }
    for subset, suffix in zip(RECOMMENDED.values(), ("", ", on average"), strict=True):
        recommended += [Column(f"{heading}{suffix}", metric, subset) for heading, metric in headings.items()]
    yield EncoderTable(
        "A recommended threshold, and what it does",
        tuple(recommended),
        "The highest similarity for which the upper 95% confidence limit of the loss is no more than allowed (2 points "
        "unless said otherwise; that needs 149 independent questions). On average: with 49 questions or more, the loss "
        "averaged over many such samples of questions is no more than allowed; the limit is its upper bound.",
    )
    yield EncoderTable(
        "Ranking metrics",
        tuple(metric.column for metric in options.ranking_metrics),
        "Names as in ir-measures. Tied documents count with the expected value over all their orders: an encoder that "
        "gives all documents the same similarity scores as random choice does.",
    )
    isotropy = (
        Column(f"{metric} {condition}".strip(), metric, subset, condition)
        for condition in ("", *TRANSFORMS)
        for metric, subset in ((options.headline, "all"), ("isoscore", "documents"), ("i_a", "documents"))
        if condition or subset == "documents"
    )
    yield EncoderTable(
        "Does making the vectors more isotropic help?",
        tuple(isotropy),
        "Transforms are fitted on the passages and applied to passages and questions; then cosine. More isotropic is "
        "not better by itself. IsoScore is too low where there are few passages, and with fewer than twice the "
        "dimensions whitening overfits.",
    )
    first = tuple(f"found{place}" for place in range(1, FOUND + 1))
    yield Examples(
        "Question by question",
        "question",
        texts=(("right", "right document"),),
        columns=(
            ExampleColumn("rank of right document", ("rank", "ties"), "count"),
            ExampleColumn("its similarity", ("right",), passages=True),
            ExampleColumn("found first", first, passages=True),
        ),
        margin="the similarity of the nearest right document less that of the nearest wrong one",
        threshold=Column("τ", "tau", "recommended"),
        note=f"Right: a right document is {options.among_first}. Beside each passage its similarity to the "
        "question; below the threshold τ it would be dropped.",
    )
