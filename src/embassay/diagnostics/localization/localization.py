"""Does what means the same lie together? Name the group of each sentence from its vector.

White, Togneri, Liu & Bennamoun (2015), "Evaluating Semantic Localization of Sentence Embeddings through a Semantic
Classification Task", ADCS. Sentences come in paraphrase groups. A linear support vector machine that has seen two
thirds of every group names the group of the rest: ``accuracy``, the mean over three folds. Two companions do without a
classifier: ``centroid_accuracy`` and ``map_at_r``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.diagnostics.base import Meaning, candidates_of, comparisons, roles_of, verdict
from embassay.diagnostics.localization.page import LAYOUT
from embassay.diagnostics.localization.rows import NAME, QUANTITIES, View, rows_of, shares_of
from embassay.diagnostics.localization.scores import (
    FOLDS,
    codes,
    cosine_with,
    named,
    nearest_centroid,
    precision_at_r,
    stratified_folds,
    zero_vectors,
)
from embassay.diagnostics.localization.series import examples, findings, series_of
from embassay.engine.pending import Pending, Submit, at_once
from embassay.errors import InputError, SpecError
from embassay.result import Result
from embassay.samples.groups import Grouped
from embassay.stats.best import rank_means
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.folds import compare_means_over_folds, contiguous_folds
from embassay.stats.noninferiority import Headline
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
HEADLINE = ("accuracy", "all")
MEANING = Meaning("groups of one meaning", "sentences", 0.02)
LIGHT = 3_000_000
"""Numbers times groups that are classified sooner than another process has been told of them."""
Rule = Literal["paper", "sklearn"]
__all__ = ["LAYOUT", "NAME", "create"]


def create(*, folds: Rule = "paper", fold: int = 0, compare: Literal["headline", "all"] = "headline") -> Localization:
    """Make the diagnostic.

    Parameters
    ----------
    folds
        Which sentences a fold tests: ``paper`` (contiguous thirds of each group in the order of the corpus, the
        remainder to the first folds) or ``sklearn`` (scikit-learn's StratifiedKFold without shuffling).
    fold
        The fold that the agreement of errors is shown for, 0 to 2.
    compare
        Which quantities are compared pair by pair: ``headline`` (accuracy) or ``all`` (also the nearest centroid and
        MAP@R).

    Raises
    ------
    SpecError
        For a fold that there is not.
    """
    if not 0 <= fold < FOLDS:
        raise SpecError(f"diagnostic {NAME!r}, option 'fold': must be 0 to {FOLDS - 1}, is {fold}")
    return Localization(folds, fold, compare)


@dataclass(frozen=True)
class Localization:
    """The diagnostic; see the module's documentation."""

    folds: Rule = "paper"
    fold: int = 0
    compare: str = "headline"
    shape: str = "groups"

    @property
    def options(self) -> str:
        """The option that moves a score."""
        return "" if self.folds == "paper" else f"folds={self.folds}"

    def check(self, corpus: Corpus[Grouped]) -> None:
        """Refuse a corpus with a group that does not reach into every fold, or with fewer than two groups.

        Raises
        ------
        InputError
            With what to do.
        """
        sizes = Counter(sample.group for sample in corpus.samples)
        if len(sizes) < 2:
            raise InputError(
                f"corpus {corpus.name!r} has {len(sizes)} group{'s' * (len(sizes) != 1)}: a sentence is placed in one "
                "of several; take a corpus, or with --limit more units, of two groups at least"
            )
        group, size = min(sizes.items(), key=lambda item: item[1])
        if size < FOLDS:
            raise InputError(
                f"corpus {corpus.name!r}: group {group!r} has {size} sentence{'s' * (size != 1)}, and each of {FOLDS} "
                f"folds tests one of each group; leave out groups of fewer than {FOLDS}"
            )

    def score(self, corpus: Corpus[Grouped], vectors: Vectors, origin: Origin) -> ItemScores:
        """Name the group of each sentence, and see which group lies nearest to it."""
        return self.begin(corpus, vectors, origin, at_once).finish()

    def begin(self, corpus: Corpus[Grouped], vectors: Vectors, origin: Origin, submit: Submit) -> Pending[ItemScores]:
        """Hand out the classifiers of the folds, and see meanwhile which group lies nearest to each sentence."""
        if vectors.search is None:
            raise ValueError(f"{NAME} needs vectors that can be searched: Vectors(…, search=engine.topk.search)")
        samples = corpus.samples
        labels = codes([s.group for s in samples])
        rows = np.array([vectors.row["text", s.text] for s in samples], dtype=np.int64)
        fold = contiguous_folds(labels, FOLDS) if self.folds == "paper" else stratified_folds(labels)
        matrix = vectors.matrix[rows]
        classifiers = tuple(_classifiers(matrix, vectors, rows, labels, fold, submit))
        companions = {
            "centroid_accuracy": nearest_centroid(matrix, labels),
            "map_at_r": precision_at_r(matrix, labels, vectors.search),
            "to_own": cosine_with(matrix, labels, labels),
        }
        group = np.array([s.group for s in samples])
        name = np.array(list(dict.fromkeys(group.tolist())))

        def finish() -> ItemScores:
            place, converged = np.empty(len(labels), dtype=np.int64), []
            for number, part in enumerate(classifiers):
                place[fold == number], done = part.result()
                converged.append(done)
            return ItemScores(
                origin,
                measure="linear_svm",
                item=np.array([s.id for s in samples]),
                unit=corpus.units,
                labels={"group": group, "named": name[place]},
                values={
                    "accuracy": (place == labels).astype(np.float64),
                    "fold": fold.astype(np.float64),
                    **companions,
                    "to_named": cosine_with(matrix, labels, place),
                },
                scalars={"zeros": float(zero_vectors(matrix)), "unconverged": float(FOLDS - sum(converged))},
            )

        return Pending(classifiers, finish)

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: accuracy, companions, which differences are real, shared errors."""
        views = [View(s) for s in scores]
        own = [v for v in views if not v.scores.origin.baseline] or views
        shares = shares_of(views)
        level = {name: found.accuracy.estimate for name, found in shares.items()}
        found = dict(_compared(views, draws, self.compare))
        headline = {v.encoder: (v.values("accuracy"), level[v.encoder]) for v in views}
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(r for v in views for r in rows_of(v, shares[v.encoder], draws)),
            comparisons=tuple(
                c
                for name, ds in found.items()
                for c in comparisons(scores[0], name, "all", ds, measure=views[0].measure(name))
            ),
            series=tuple(series_of(views, own, level, self.fold, draws)),
            examples=tuple(examples(own)),
            verdicts=(
                verdict(
                    scores,
                    headline,
                    "accuracy",
                    found["accuracy"],
                    rank_means(
                        candidates_of(scores, {v.encoder: v.values("accuracy") for v in views}),
                        scores[0].unit,
                        draws,
                        NAME,
                        views[0].corpus_key,
                        fold=views[0].fold,
                    ),
                    chance=1 / views[0].groups,
                    notes=findings(own, level),
                ),
            ),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline:
        """Return the item values of the headline, which a test of "not worse" rests on; each sentence counts alike."""
        views = [View(s) for s in scores]
        values = {v.encoder: v.values("accuracy") for v in views}
        return Headline(HEADLINE[0], MEANING.margin, values, scores[0].unit, (NAME, views[0].corpus_key))


def _classifiers(
    matrix: Any,
    vectors: Vectors,
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    fold: NDArray[np.int64],
    submit: Submit,
) -> Iterator[Future[tuple[NDArray[np.int64], bool]]]:
    """Yield what will hold the group that each test sentence of a fold is placed in; small ones are worked out here.

    Parameters
    ----------
    matrix
        (n, d) the vectors of the sentences.
    rows
        (n,) the row of the vectors that each sentence has.
    """
    for number in range(FOLDS):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        learnt: Any = vectors.learn(np.unique(rows[train]))[rows] if vectors.learn else matrix
        work = (learnt.nnz if issparse(learnt) else learnt.size) * int(labels.max(initial=0))
        yield (at_once if work < LIGHT else submit)(named, learnt, labels, train, test)


def _compared(views: Sequence[View], draws: Draws, which: str) -> Iterator[tuple[str, tuple[PairedDifference, ...]]]:
    """Yield the differences of each quantity: of the headline, or of all of them and between all pairs."""
    unit, key = views[0].scores.unit, views[0].corpus_key
    roles = roles_of([v.scores for v in views], all_pairs=which == "all")
    for name in QUANTITIES if which == "all" else QUANTITIES[:1]:
        values = {v.encoder: v.values(name) for v in views}
        if name == "accuracy":
            yield name, compare_means_over_folds(values, views[0].fold, unit, roles, draws, NAME, key)
        else:
            shares = name == "centroid_accuracy"
            yield name, compare_means(values, unit, roles, draws, NAME, key, of_shares=shares)
