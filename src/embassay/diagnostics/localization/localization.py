"""Does what means the same lie together? Name the group of each sentence from its vector.

White, Togneri, Liu & Bennamoun (2015), "How Well Sentence Embeddings Capture Meaning", ADCS. Sentences come in
paraphrase groups. A linear support vector machine is trained on two thirds of every group and names the group of the
rest: ``accuracy``, the mean over three folds. Two companions need no classifier: ``centroid_accuracy`` and
``map_at_r``.
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

from embassay.core.errors import InputError, SpecError
from embassay.core.formatting import counted
from embassay.core.processes.pending import Pending, Submit, at_once
from embassay.core.result import Example, Result
from embassay.core.samples.groups import Grouped
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.localization.layout import LAYOUT
from embassay.diagnostics.localization.scores import (
    FOLDS,
    classify,
    codes,
    cosine_with,
    count_zero_vectors,
    most_iterations,
    nearest_centroid,
    precision_at_r,
    stratified_folds,
)
from embassay.diagnostics.localization.series import agreement_series, findings, published_series
from embassay.diagnostics.localization.view import METRICS, NAME, LocalizationView
from embassay.diagnostics.metrics.metric import Meaning
from embassay.diagnostics.metrics.scoreboard import item_example
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.folds import contiguous_folds

CITATION = """@inproceedings{white2015,
  author = {White, Lyndon and Togneri, Roberto and Liu, Wei and Bennamoun, Mohammed},
  title = {How Well Sentence Embeddings Capture Meaning},
  booktitle = {Proceedings of the 20th Australasian Document Computing Symposium},
  year = {2015},
  doi = {10.1145/2838931.2838932}
}"""
VERSION = 3
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("groups of one meaning", "sentences")
LIGHT = 3_000_000
"""Matrix entries × groups: smaller tasks are solved faster than they are sent to another process."""
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
        Which metrics are compared pair by pair: ``headline`` (accuracy) or ``all`` (also the nearest centroid and
        MAP@R).

    Raises
    ------
    SpecError
        For a fold that does not exist.
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
        """The only option that changes item scores, as text for their origin; the others change the summary."""
        if self.folds == "paper":
            return ""
        return f"folds={self.folds}"

    def check(self, corpus: Corpus[Grouped]) -> None:
        """Check that there are two groups or more, and that each is large enough for every fold.

        Raises
        ------
        InputError
            If not; the message says what to do.
        """
        sizes = Counter(sample.group for sample in corpus.samples)
        if len(sizes) < 2:
            raise InputError(
                f"corpus {corpus.name!r} has {counted(len(sizes), 'group')}: a sentence is placed in one "
                "of several; take a corpus, or with --limit more units, of two groups at least"
            )
        group, size = min(sizes.items(), key=lambda item: item[1])
        if size < FOLDS:
            raise InputError(
                f"corpus {corpus.name!r}: group {group!r} has {counted(size, 'sentence')}, and each of {FOLDS} "
                f"folds tests one of each group; leave out groups of fewer than {FOLDS}"
            )

    def score(self, corpus: Corpus[Grouped], vectors: Vectors, origin: Origin) -> ItemScores:
        """Name the group of each sentence, and see which group lies nearest to it."""
        return self.begin(corpus, vectors, origin, at_once).finish()

    def begin(self, corpus: Corpus[Grouped], vectors: Vectors, origin: Origin, submit: Submit) -> Pending[ItemScores]:
        """Start the classifiers of the folds, and see meanwhile which group lies nearest to each sentence."""
        search = vectors.need_search(NAME)
        samples = corpus.samples
        groups = [s.group for s in samples]
        labels = codes(groups)
        names = np.array(list(dict.fromkeys(groups)))
        rows = np.array([vectors.row["text", s.text] for s in samples], dtype=np.int64)
        matrix = vectors.matrix[rows]
        fold = self._folds(labels)
        # Training takes most of the time, so the classifiers are started first and the cosines computed meanwhile.
        classifiers = list[Future[tuple[NDArray[np.int64], bool]]]()
        for number in range(FOLDS):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            # An encoder that learns from texts learns from the fold's training texts only.
            learnt = matrix
            if vectors.learn:
                learnt = vectors.learn(np.unique(rows[train]))[rows]
            classifiers.append(_start_classifier(learnt, labels, train, test, submit))
        centroid_accuracy, margin = nearest_centroid(matrix, labels)
        values = {
            "centroid_accuracy": centroid_accuracy,
            "margin": margin,
            "map_at_r": precision_at_r(matrix, labels, search),
            "to_own": cosine_with(matrix, labels, labels),
            "fold": fold.astype(np.float64),
        }

        def finish() -> ItemScores:
            predicted = np.empty(len(labels), dtype=np.int64)
            unconverged = 0
            for number, classifier in enumerate(classifiers):
                predicted[fold == number], converged = classifier.result()
                unconverged += not converged
            values["accuracy"] = (predicted == labels).astype(np.float64)
            if unconverged:
                # Where an optimisation stopped says little about the vectors: by then it may place half as many right.
                values["accuracy"][:] = np.nan
            values["to_named"] = cosine_with(matrix, labels, predicted)
            return ItemScores(
                origin,
                similarity_function="linear_svm",
                item=np.array([s.id for s in samples]),
                unit=corpus.units,
                labels={"group": np.array(groups), "named": names[predicted]},
                values=values,
                scalars={"zeros": float(count_zero_vectors(matrix)), "unconverged": float(unconverged)},
            )

        return Pending(tuple(classifiers), finish)

    def _folds(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the (n,) fold that tests each sentence."""
        if self.folds == "paper":
            return contiguous_folds(labels, FOLDS)
        return stratified_folds(labels)

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: accuracy, companions, which differences are shown, shared errors."""
        figures = self.figures(scores)
        summary = figures.summarise(draws, on_request=self.compare == "all")
        return summary.result(
            series=(
                *agreement_series(figures.views, self.fold, draws),
                *published_series(figures.views[0], figures.requested, summary.headline),
            ),
            findings=findings(figures.requested, summary.rows),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[LocalizationView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(LocalizationView, scores, METRICS)

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which sentences the classifier places in their group; there are no subsets."""
        requested = self.figures(scores).requested
        correct = np.stack([view.values("accuracy") for view in requested])
        return Outcomes(np.full(correct.shape[1], ""), correct)

    def examples(
        self, corpus: Corpus[Grouped], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each sentence with its group, and the first sentence of the group that each encoder places it in."""
        views = self.figures(scores).views
        first_sentence = dict[str, str]()
        for sample in corpus.samples:
            first_sentence.setdefault(sample.group, sample.id)
        for index in items.tolist():
            sample = corpus.samples[index]
            texts = corpus.shown(sample.id)
            texts["right"] = texts.pop("others", "")
            outcomes = list[Example]()
            for view in views:
                placed = str(view.predicted[index])
                labels = {"placed": placed}
                if placed != sample.group:
                    reference = f"{first_sentence[placed]}#0"
                    labels["first"] = reference
                    texts[reference] = corpus.passage(reference)
                cosines = {"right": view.values("to_own")[index], "placed": view.values("to_named")[index]}
                margin = view.values("margin")[index]
                correct = view.values("accuracy")[index]
                outcomes.append(view.outcome(index, cosines, correct=correct, margin=margin, labels=labels))
            yield item_example(scores[0], index, texts, labels={"right": sample.group})
            yield from outcomes


def _start_classifier(
    matrix: Any,
    labels: NDArray[np.int64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    submit: Submit,
) -> Future[tuple[NDArray[np.int64], bool]]:
    """Start the classifier of one fold; a small one runs here, at once.

    The parameters and the result are those of :func:`~embassay.diagnostics.localization.scores.classify`.
    """
    entries = matrix.nnz if issparse(matrix) else matrix.size
    work = entries * int(labels.max(initial=0))
    iterations = most_iterations(entries)
    if work < LIGHT:
        return at_once(classify, matrix, labels, train, test, iterations)
    return submit(classify, matrix, labels, train, test, iterations)
