"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; that of a document is that of its best passage.
``Success@5`` is the share of all questions with a right document among the nearest five, ``accuracy_l100`` the paper's:
the mean over 500 exams of 100 questions, with the interval of one such exam.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import finding
from embassay.diagnostics.retrieval.findings import findings_of, first_place, saturation, scale_warnings
from embassay.diagnostics.retrieval.page import FOUND, layout, page
from embassay.diagnostics.retrieval.published import beside_published
from embassay.diagnostics.retrieval.rows import correlations, is_share, rows_of, shares_of
from embassay.diagnostics.retrieval.scores import (
    RIGHT,
    EncodedCorpus,
    References,
    metric_names,
    search_documents,
    search_transformed,
    success_of_blind_choice,
)
from embassay.diagnostics.retrieval.series import series_of
from embassay.diagnostics.retrieval.view import NAME, RetrievalView
from embassay.errors import SpecError
from embassay.geometry.transforms import NAMES as TRANSFORMS
from embassay.metrics.metric import Direction, Meaning
from embassay.metrics.scoreboard import candidates_of, item_example, roles_of, without_baselines
from embassay.metrics.summary import comparisons
from embassay.metrics.verdict import verdict
from embassay.result import Comparison, Estimate, Example, Finding, Result, Row
from embassay.samples.retrieval import Question
from embassay.stats.best import rank_means
from embassay.stats.detectable import precision_of
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.noninferiority import Headline, ItemMetric
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin, begun
from embassay.vectors import Vectors

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
VERSION = 5
"""To be raised with each change after which the same vectors have other scores or figures."""
K = 5
LOSS = 0.02
"""The loss of success that a recommended threshold may cause."""
MEANING = Meaning("retrieval", "questions", 0.02)
DIRECTIONS: dict[str, Direction] = {
    # Success@5, R@5, nDCG@10 and what else is measured at a rank.
    "*@*[*]": "higher",
    "RR[*]": "higher",
    "AP[*]": "higher",
    "accuracy_l100[*]": "higher",
    "accuracy_at_tau[*]": "higher",
    "unanswerable_dropped[*]": "higher",
    "coe[*]": "higher",
    "roe[*]": "lower",
    "loss_limit[*]": "lower",
    # Thresholds depend on the scale of an encoder's similarities, and what they keep on the threshold.
    "tau[*]": "neither",
    "psi[*]": "neither",
    "kept[*]": "neither",
    # Isotropic is not better by itself.
    "i_a[*]": "neither",
    "isoscore[*]": "neither",
    "isoscore_unbiased[*]": "neither",
    "rank[*]": "neither",
    # Correlations across encoders.
    "pearson[*]": "neither",
    "spearman[*]": "neither",
}
PSI = 5
LAYOUT = page(K)
__all__ = ["LAYOUT", "NAME", "create", "layout"]


def create(
    *,
    k: int = K,
    psi: int = PSI,
    loss: float = LOSS,
    gap: float = 0.0,
    search: Literal["exact", "approximate"] = "exact",
    transforms: Literal["none", "all"] = "none",
    compare: Literal["headline", "all"] = "headline",
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
    gap
        A difference between two encoders that matters to you, 0.03 for 3 points: the verdict says how many units it
        takes to detect it.
    search
        ``approximate`` finds the top k of large corpora by faiss; a finding states its measured recall.
    transforms
        ``all`` also searches after standardizing, whitening, and removing the main directions; it takes several
        times as long.
    compare
        Which metrics are compared pair by pair: ``headline`` (Success@k) or ``all`` (also R@k, RR, AP and nDCG@10).

    Raises
    ------
    SpecError
        For a number out of range.
    """
    for name, value, low, high in (("k", k, 1, 1000), ("psi", psi, 1, 99), ("loss", loss, 0, 1), ("gap", gap, 0, 1)):
        if not low <= value <= high:
            raise SpecError(f"diagnostic 'retrieval', option {name!r}: must be {low} to {high}, is {value:g}")
    return Retrieval(k, psi, loss, gap, search, transforms, compare)


@dataclass(frozen=True)
class Retrieval:
    """The diagnostic; see the module's documentation."""

    k: int = K
    psi: int = PSI
    loss: float = LOSS
    gap: float = 0.0
    search: str = "exact"
    transforms: str = "none"
    compare: str = "headline"
    shape: str = "retrieval"

    @property
    def options(self) -> str:
        """The options that change item scores, as text for their origin; the others change the summary."""
        changed = list[str]()
        if self.k != K:
            changed.append(f"k={self.k}")
        if self.search != "exact":
            changed.append(f"search={self.search}")
        if self.transforms != "none":
            changed.append(f"transforms={self.transforms}")
        return ",".join(changed)

    @property
    def searches_whole_documents(self) -> bool:
        """True: a document that is found is shown by its first passage."""
        return True

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
                f"{corpus.stored_documents.path} are read from its shards; leave the option out"
            )
        if not any(sample.right for sample in corpus.samples):
            raise SpecError(f"corpus {corpus.name!r}: no question has a right document, so nothing can be found")

    def score(self, corpus: Corpus[Question], vectors: Vectors, origin: Origin) -> ItemScores:
        """Find the nearest documents of each question, and the ranks of the right ones."""
        route = "auto" if self.search == "exact" else "faiss"
        encoded = EncodedCorpus.of(corpus, vectors)
        values, labels = search_documents(encoded, self.k, route)
        names = TRANSFORMS if self.transforms == "all" else ()
        after_transforms, scalars = search_transformed(encoded, self.k, names, ~np.isnan(values["top"][:, 0]))
        scalars |= {
            "documents": float(len(corpus.documents)),
            "dot": float(vectors.similarity == "dot"),
            "chance": success_of_blind_choice(corpus, self.k),
        }
        return ItemScores(
            origin,
            similarity_function="similarity",
            item=np.array([s.id for s in corpus.samples]),
            unit=corpus.units,
            labels=labels,
            values={**values, **after_transforms},
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus."""
        views = self._views(scores)
        requested = without_baselines(views)
        unit, stream = views[0].unit, views[0].stream
        shares = shares_of(views, draws)
        rows = list[Row]()
        for view in views:
            rows += rows_of(view, shares[view.encoder], draws)
        correlation_rows = tuple(correlations(requested, rows, draws))

        headline = self.headline(scores)
        compared_metrics: tuple[str, ...] = (headline.metric,)
        if self.compare == "all":
            compared_metrics = metric_names(self.k)
        roles = roles_of(scores, all_pairs=self.compare == "all")
        compared = list[Comparison]()
        for name in compared_metrics:
            values = {view.encoder: view.metric(name) for view in views}
            differences = compare_means(values, unit, roles, draws, *stream, of_shares=is_share(name))
            compared += comparisons(scores[0], name, "all", differences)
            if name == headline.metric:
                headline_differences = differences

        success_at_k = dict[str, Estimate]()
        for encoder, encoder_shares in shares.items():
            success_at_k[encoder] = encoder_shares.shares[headline.metric, "all", ""].estimate
        requested_success = {view.encoder: success_at_k[view.encoder].value for view in requested}
        candidates = candidates_of(scores, headline.values)
        standings = rank_means(candidates, unit, draws, *stream)
        # About all encoders, then about each, then warnings.
        # No encoder may be the best under MIN_UNITS units.
        may_be_best = [view for view in views if view.encoder in standings.best_set]
        findings = list(saturation(may_be_best, requested_success))
        findings += first_place(views[0], requested_success)
        findings += self._units_needed(views[0], headline_differences, candidates, unit)
        for view in requested:
            findings += findings_of(view, rows)
        findings += scale_warnings(views)
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *correlation_rows),
            comparisons=tuple(compared),
            series=(*series_of(views, rows), *beside_published(views, (*rows, *correlation_rows))),
            verdicts=(
                verdict(
                    scores,
                    headline,
                    success_at_k,
                    headline_differences,
                    standings,
                    chance=views[0].chance,
                ),
            ),
            findings=tuple(findings),
        )

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which questions succeed at k; those without a right document are undecided, and a subset."""
        requested = without_baselines(self._views(scores))
        correct = np.stack([view.scores.values[view.headline] for view in requested])
        return Outcomes(_subsets(requested[0]), correct)

    def examples(
        self, corpus: Corpus[Question], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each question with its right documents, and their rank and what was found by each encoder."""
        views = self._views(scores)
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

    def headline(self, scores: Sequence[ItemScores]) -> Headline:
        """Return Success@k, question by question, of all encoders; only of questions with a right document."""
        views = self._views(scores)
        # Questions and k are the same for all encoders.
        first = views[0]
        success = first.headline
        return Headline(
            metric=success,
            margin=MEANING.margin,
            values={view.encoder: view.metric(success) for view in views},
            unit=first.unit,
            purpose=first.stream,
            places=np.flatnonzero(first.answered),
        )

    def item_metrics(self, scores: Sequence[ItemScores]) -> Iterator[ItemMetric]:
        """Yield the ranking metrics, and Success@k after each transform; only of questions with a right document."""
        views = self._views(scores)
        first = views[0]
        stored = {(name, ""): name for name in first.metrics}
        for transform in TRANSFORMS:
            after_transform = f"{first.headline}/{transform}"
            if all(after_transform in view.scores.values for view in views):
                stored[first.headline, transform] = after_transform
        for (metric, condition), name in stored.items():
            yield ItemMetric(
                metric,
                None,
                {view.encoder: view.metric(name) for view in views},
                first.unit,
                first.stream,
                condition=condition,
                of_shares=is_share(metric),
                places=np.flatnonzero(first.answered),
            )

    def _views(self, scores: Sequence[ItemScores]) -> list[RetrievalView]:
        return [RetrievalView(s, self.k, self.psi, self.loss) for s in scores]

    def _units_needed(
        self,
        view: RetrievalView,
        differences: Sequence[PairedDifference],
        candidates: Mapping[str, Floats],
        unit: NDArray[np.int64],
    ) -> Iterator[Finding]:
        """Yield how many units it takes to detect the difference in the option ``gap``."""
        if not self.gap:
            return
        precision = precision_of(differences, candidates, unit, of_shares=True)
        if precision is None:
            sentence = "The units needed cannot be estimated: no candidate has two units of answerable questions."
            yield finding(view.scores, "Units needed", sentence, severity="medium", about_all=True)
            return
        sentence = (
            f"Detecting a difference of {100 * self.gap:g} points with 80% power needs about "
            f"{precision.units_needed(self.gap):,} units like these ({precision.items_needed(self.gap):,} questions); "
            f"there are {precision.units:,} units."
        )
        yield finding(view.scores, "Units needed", sentence, severity="medium", about_all=True)


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
