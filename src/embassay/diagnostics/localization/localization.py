"""Does what means the same lie together? Name the group of each sentence from its vector.

White, Togneri, Liu & Bennamoun (2015), "How Well Sentence Embeddings Capture Meaning", ADCS. Sentences come in
paraphrase groups. A linear support vector machine is trained on two thirds of every group and names the group of the
rest: ``accuracy``, the mean over three folds. Two companions need no classifier: ``centroid_accuracy`` and
``map_at_r``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.claims import LIMIT, Template
from embassay.core.cores import cores
from embassay.core.errors import InputError
from embassay.core.formatting import counted
from embassay.core.layout import Drawings, Matrix, SeriesTable
from embassay.core.result import Estimate, Finding, Series
from embassay.core.samples.shapes import Grouped
from embassay.core.types import MAX_LISTED, Corpus
from embassay.core.vectors import Vectors
from embassay.diagnostics.findings import than_chance
from embassay.diagnostics.localization.scores import (
    FOLDS,
    centroid_cosines,
    classify,
    most_iterations,
    nearest_centroid,
    precision_at_r,
)
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.published import table
from embassay.stats.folds import contiguous_folds
from embassay.stats.geometry.closeness import paired_dot
from embassay.stats.resample import too_few
from embassay.stats.units import Bools, Floats, Ints

CITATION = """@inproceedings{white2015,
  author = {White, Lyndon and Togneri, Roberto and Liu, Wei and Bennamoun, Mohammed},
  title = {How Well Sentence Embeddings Capture Meaning},
  booktitle = {Proceedings of the 20th Australasian Document Computing Symposium},
  year = {2015},
  doi = {10.1145/2838931.2838932}
}"""
NAME = "localization"
VERSION = 3
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("groups of one meaning", "sentences")
LIGHT = 3_000_000
"""Matrix entries × groups: smaller tasks are solved faster than they are sent to another process."""
SIZES = {"sentences in a group": "count", "groups": "count", "sentences": "count"}
CHANCES = than_chance(
    "{encoder}: the classifier places {value} of the sentences in their group{centroid}; a guess among {groups:,} "
    "groups has {chance:.1%}.",
    "Separable?",
    above="Groups are separable",
    both="Groups are not shown to be separable",
    below="Groups are not shown to be separable",
    consequence="That its vectors sort texts by topic or find duplicates is not shown.",
)
NOT_SEPARABLE = replace(CHANCES["below"], when="the interval contains chance, or lies below it", claim="not shown")
CHANCES |= {"both": NOT_SEPARABLE, "below": NOT_SEPARABLE, "": replace(CHANCES[""], severity="medium")}
WITHOUT_VECTOR = Template(
    "{encoder}: {sentences} a zero vector, which the classifier places blindly and cosines leave out.",
    "there are such sentences",
    LIMIT,
    title="Sentences without a vector",
    severity="medium",
)
NOT_CONVERGED = Template(
    "{encoder} has no accuracy and is not ranked: in {folds} of the folds the classifier stopped before it had "
    "converged.",
    "it stopped in one fold or more",
    LIMIT,
    title="The classifier did not converge",
    severity="medium",
    consequence="Its nearest centroid and MAP@R need no classifier. Vectors of unit length converge sooner.",
)


class LocalizationView(ItemView):
    """One encoder's n sentences, each in one group and tested in one fold."""

    @cached_property
    def fold(self) -> Ints:
        """(n,) the fold that tests each sentence."""
        return self.scores.values["fold"].astype(np.int64)

    @property
    def group(self) -> NDArray[np.str_]:
        """(n,) the group of each sentence."""
        return self.scores.labels["group"]

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(np.unique(self.group))

    @property
    def predicted(self) -> NDArray[np.str_]:
        """(n,) the name of the group that the classifier places each sentence in."""
        return self.scores.labels["named"]

    @property
    def unconverged(self) -> int:
        """The number of folds in which the classifier stopped early; then the accuracy is undefined."""
        return int(self.scores.scalars["unconverged"])

    @property
    def right(self) -> Floats:
        """(n,) 1 where the classifier places a sentence in its own group, else 0."""
        return self.scores.values["accuracy"]

    def shown(self, index: int) -> Shown:
        """Return the group of a sentence by the classifier, and the cosines with this group and its own."""
        values = self.scores.values
        cosines = {"right": values["to_own"][index], "placed": values["to_named"][index]}
        placed = self.predicted[index]
        labels = {"placed": str(placed)}
        if placed != self.group[index]:
            # The reference to the first sentence of that group.
            labels["first"] = f"{self.scores.item[self.group == placed][0]}#0"
        return cosines, labels


def _by_fold(view: LocalizationView) -> Iterator[tuple[str, Bools]]:
    """Yield the name of each fold, and (n,) which sentences it tests."""
    for number in np.unique(view.fold).tolist():
        yield f"fold{number}", view.fold == number


def _by_group(view: LocalizationView) -> dict[str, Estimate]:
    """Return the accuracy in each group; a group is one unit, so it has no interval."""
    # A group has no undefined sentence: either all are classified or none.
    if view.unconverged:
        return {}
    estimates = {}
    for name in dict.fromkeys(view.group.tolist()):
        right = view.right[view.group == name]
        estimates[f"group:{name}"] = Estimate(float(right.mean()), None, None, len(right), 1, 0, too_few(1))
    return estimates


def _unconverged(view: LocalizationView, estimate: Estimate) -> str | None:
    """Return why the classifier's accuracy is undefined where its training stopped early."""
    return "the classifier did not converge" if view.unconverged else None


METRICS = (
    Metric(
        "accuracy",
        of=lambda view: view.right,
        # The paper's accuracy is the mean over folds. These differ in size, so it is not that over sentences.
        kind="mean over folds",
        better="higher",
        headline=True,
        margin=0.02,
        chance=lambda view: 1 / view.groups,
        says="the classifier places {value} of the sentences in their group",
        reason=_unconverged,
        meaning="share of sentences that the classifier places in their own group, mean over three folds",
    ),
    Metric(
        "centroid_accuracy",
        of=lambda view: view.scores.values["centroid_accuracy"],
        kind="share",
        better="higher",
        compared="on request",
        similarity_function="cosine",
        term="Nearest centroid",
        explanation=("A sentence is assigned to the group whose mean vector is nearest. No classifier is trained."),
        meaning="share of sentences nearer to the centroid of their own group than to any other",
    ),
    Metric(
        "map_at_r",
        of=lambda view: view.scores.values["map_at_r"],
        kind="mean",
        better="higher",
        low=0,
        high=1,
        compared="on request",
        similarity_function="cosine",
        term="MAP@R",
        explanation=(
            "Whether the nearest neighbours of a sentence belong to the sentence's group. 1 means that all of them do."
        ),
        meaning="mean average precision at R of a sentence's own group among its nearest sentences",
        source="Musgrave, Belongie & Lim (2020)",
    ),
    Metric(
        "accuracy",
        "fold*",
        of=lambda view: view.right,
        subsets=_by_fold,
        kind="share",
        better="higher",
        reason=_unconverged,
        meaning="accuracy on the sentences of one fold",
    ),
    Metric(
        "accuracy",
        "group:*",
        of=_by_group,
        kind="computed",
        better="higher",
        low=0,
        high=1,
        format="percent",
        meaning="accuracy on the sentences of one group",
    ),
)
DRAWINGS = Drawings(
    "White, Togneri, Liu & Bennamoun (2015), How Well Sentence Embeddings Capture Meaning, ADCS",
    (
        Matrix(
            "Which encoders make the same errors, on one fold",
            "agreement",
            note="Of the sentences that both encoders assign to a wrong group, how many they assign to the same one. "
            "On the diagonal: all errors of the encoder. The paper's figures 4 and 5.",
        ),
    ),
    (
        SeriesTable(
            "Published accuracies and yours",
            "published",
            note="A model of the same kind that is trained on other text is another model.",
        ),
        SeriesTable("Groups by size", "group_sizes", "The paper's figures 2 and 3."),
    ),
    "The accuracy's intervals and differences are conditional on the trained classifiers.",
)


def agreement(views: Sequence[LocalizationView], inside: Bools) -> tuple[Ints, Ints]:
    """Count how often each two encoders name the same wrong group.

    White et al. (2015, section 5.2) approximate P(m₁(x) = m₂(x) | both wrong) on the sentences of one fold.

    Parameters
    ----------
    inside
        (n,) the sentences that count.

    Returns
    -------
    numerator, denominator
        (k, k) each: the sentences that both misplace in the same group, and those that both misplace. On the diagonal
        both are the encoder's errors.
    """
    wrong = np.stack([(view.right == 0) & inside for view in views])
    predicted = np.stack([view.predicted for view in views])
    # (k, k, n) each.
    both_wrong = wrong[:, None] & wrong
    in_same_group = both_wrong & (predicted[:, None] == predicted)
    return in_same_group.sum(axis=2), both_wrong.sum(axis=2)


class Localization(ItemMethod):
    """The diagnostic; ``compare=all`` also compares the nearest centroid and MAP@R."""

    shape = "groups"
    view = LocalizationView
    metrics = METRICS
    chances = CHANCES
    published = "localization"
    similarity_function = "linear_svm"

    def check(self, corpus: Corpus[Grouped]) -> None:
        """Check that there are two groups or more, and that each is large enough for every fold.

        Raises
        ------
        InputError
            If not; the message says what to do.
        """
        sizes = Counter(sample.group for sample in corpus.samples)
        smallest = min(sizes, key=lambda group: sizes[group], default="")
        if sizes[smallest] < FOLDS or len(sizes) < 2:
            raise InputError(
                f"corpus {corpus.name!r} has {counted(len(sizes), 'group')}, and group {smallest!r} has "
                f"{counted(sizes[smallest], 'sentence')}: a sentence is placed in one of two groups at least, and each "
                f"of {FOLDS} folds tests one of each group; leave out groups of fewer than {FOLDS}, or with --limit "
                "take more units"
            )

    def values(self, corpus: Corpus[Grouped], vectors: Vectors) -> Stored:
        """Name the group of each sentence, and see which group lies nearest to it."""
        from joblib import Parallel, delayed

        groups = np.array([s.group for s in corpus.samples])
        names = np.array(list(dict.fromkeys(groups.tolist())))
        code_of = {name: code for code, name in enumerate(names.tolist())}
        labels = np.array([code_of[group] for group in groups.tolist()], dtype=np.int64)
        rows = np.array([vectors.row["text", s.text] for s in corpus.samples], dtype=np.int64)
        matrix = vectors.matrix[rows]
        fold = contiguous_folds(labels, FOLDS)
        folds = []
        for number in range(FOLDS):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            # An encoder that learns from texts learns from the fold's training texts only.
            learnt = vectors.learn(np.unique(rows[train]))[rows] if vectors.learn else matrix
            entries = learnt.nnz if issparse(learnt) else learnt.size
            folds.append(delayed(classify)(learnt, labels, train, test, most_iterations(entries)))
        # Processes, not threads: all threads of a process share one random generator of liblinear.
        processes = 1 if entries * len(names) < LIGHT else cores()
        classified = Parallel(processes, max_nbytes=None)(folds)
        predicted = np.empty(len(labels), dtype=np.int64)
        for number, (groups_of_fold, _) in enumerate(classified):
            predicted[fold == number] = groups_of_fold
        unconverged = sum(not converged for _, converged in classified)
        # Where an optimisation stopped says little about the vectors: by then it may place half as many right.
        accuracy = np.full(len(labels), np.nan) if unconverged else (predicted == labels).astype(np.float64)
        cosines = centroid_cosines(matrix, labels)
        centroid_accuracy, margin = nearest_centroid(cosines, labels)
        items = np.arange(len(labels))
        return {
            "accuracy": accuracy,
            "centroid_accuracy": centroid_accuracy,
            "margin": margin,
            "map_at_r": precision_at_r(matrix, labels, vectors.search),
            "to_own": cosines[items, labels],
            "to_named": cosines[items, predicted],
            "fold": fold.astype(np.float64),
            "group": groups,
            "named": names[predicted],
            "zeros": float((paired_dot(matrix, matrix) == 0).sum()),
            "unconverged": float(unconverged),
        }

    def texts(
        self, corpus: Corpus[Grouped], index: int, outcomes: Sequence[Mapping[str, str]]
    ) -> tuple[dict[str, str], Mapping[str, str]]:
        """Return a sentence, the others of its group, and the first sentence of each group that it is placed in."""
        sample = corpus.samples[index]
        others = [other.text for other in corpus.samples if other.group == sample.group and other.id != sample.id]
        texts = {**sample.fields(), "right": " / ".join(others[:MAX_LISTED])}
        sentences = {f"{one.id}#0": one.text for one in corpus.samples}
        for outcome in outcomes:
            if reference := outcome.get("first"):
                texts[reference] = sentences[reference]
        return texts, {"right": sample.group}

    def series(self, figures: Figures[LocalizationView], summary: MetricSummary) -> Iterator[Series]:
        """Yield the agreement of errors on one fold, as in the paper, and how many groups have which size."""
        converged = [view for view in figures.views if not view.unconverged]
        corpus = figures.views[0].corpus
        if converged:
            inside = figures.views[0].fold == 0
            numerator, denominator = agreement(converged, inside)
            data = {
                "names": [view.encoder for view in converged],
                "numerator": numerator.tolist(),
                "denominator": denominator.tolist(),
                "diagonal": "errors",
                "note": f"On {int(inside.sum()):,} sentences (fold 0).",
            }
            yield Series(NAME, corpus, "agreement", "matrix", data)
        groups_of_size = Counter(Counter(figures.views[0].group.tolist()).values())
        sizes = [[size, groups, size * groups] for size, groups in sorted(groups_of_size.items())]
        yield table(NAME, corpus, "group_sizes", SIZES, sizes)

    def findings(self, figures: Figures[LocalizationView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how well each encoder places sentences, and what limits its figures."""
        for view in figures.requested:
            accuracy, name, origin = summary.headline[view.encoder], view.encoder, view.scores.origin
            centroid = summary.row_of[name, "centroid_accuracy", "all", ""].value
            by_centroid = "" if centroid is None else f", {centroid:.1%} by the nearest centroid alone"
            if accuracy.value is not None:
                yield self.than_chance(view, METRICS[0], accuracy, groups=view.groups, centroid=by_centroid)
            if zeros := int(view.scores.scalars["zeros"]):
                sentences = counted(zeros, "sentence has", "sentences have")
                yield WITHOUT_VECTOR.finding(origin, encoder=name, sentences=sentences)
            if view.unconverged:
                yield NOT_CONVERGED.finding(origin, encoder=name, folds=view.unconverged)


create = Localization
