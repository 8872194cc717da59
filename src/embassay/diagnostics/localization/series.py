"""Errors that encoders share, published figures beside the measured ones, examples, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import COUNT, INTERVAL, LIMIT, Template
from embassay.core.data import MSRP, MSRP_GROUPED
from embassay.core.formatting import counted
from embassay.core.result import Finding, Row, Series
from embassay.core.types import Draws
from embassay.diagnostics.findings import PublishedShare, against_chance, beside_paper, written
from embassay.diagnostics.localization.view import CLASSIFIER, NAME, LocalizationView
from embassay.diagnostics.published import published, published_name, table

OPINOSIS = (521, 89)
"""Sentences and groups of the released Opinosis groups, which identify that corpus."""
SAME = {"bow,tokens=treebank": "BOW", "bow,tokens=treebank,pca=300": "PCA BOW"}
"""The names of the paper for encoders of the same specs."""
SIZES = {"sentences in a group": "count", "groups": "count", "sentences": "count"}
BESIDE = {"model": "text", "accuracy": "percent", "figure": "text"}

SEPARABLE = Template(
    "{encoder}: the classifier places {accuracy} of the sentences in their group{centroid}; a guess among {groups:,} "
    "groups has {chance:.1%}.",
    "the interval lies above chance",
    INTERVAL,
    title="Groups are separable",
    question="Separable?",
)
NOT_SEPARABLE = replace(
    SEPARABLE,
    when="the interval contains chance, or lies below it",
    claim="not shown",
    title="Groups are not shown to be separable",
    severity="high",
    consequence="That its vectors sort texts by topic or find duplicates is not shown.",
)
NO_INTERVAL = replace(
    SEPARABLE,
    when="there are too few units for an interval",
    procedure=COUNT,
    claim="count",
    title="Too few units to tell",
    severity="medium",
)
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
SHARED_ERRORS = Template(
    "{a} and {b} both misplace {sentences}, {same:,} of them in the same wrong group.",
    "of all pairs these two have the most errors in common",
    COUNT,
    title="Errors in common",
)


def agreement(
    views: Sequence[LocalizationView], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    encoders = len(views)
    numerator = np.zeros((encoders, encoders), dtype=np.int64)
    denominator = np.zeros((encoders, encoders), dtype=np.int64)
    for row, first in enumerate(views):
        for column, second in enumerate(views):
            both_wrong = first.wrong & second.wrong & inside
            same_error = both_wrong & (first.predicted == second.predicted)
            denominator[row, column] = np.count_nonzero(both_wrong)
            numerator[row, column] = np.count_nonzero(same_error)
    return numerator, denominator


def agreement_series(views: Sequence[LocalizationView], fold: int, draws: Draws) -> Iterator[Series]:
    """Yield the agreement of errors on one fold, as in the paper, and on all, of the encoders with an accuracy."""
    views = [view for view in views if not view.unconverged]
    if not views:
        return
    parts = {
        "agreement": (views[0].fold == fold, f"fold {fold}"),
        "agreement_pooled": (np.ones(len(views[0].fold), dtype=bool), "all folds"),
    }
    for name, (inside, label) in parts.items():
        numerator, denominator = agreement(views, inside)
        data = {
            "names": [view.encoder for view in views],
            "numerator": numerator.tolist(),
            "denominator": denominator.tolist(),
            "diagonal": "errors",
            "note": f"On {int(inside.sum()):,} sentences ({label}).",
            "signatures": [view.scores.part(*CLASSIFIER).signature(draws, "agreement", inside=label) for view in views],
        }
        yield Series(NAME, views[0].corpus, name, "matrix", data)


def published_series(
    one: LocalizationView, requested: Sequence[LocalizationView], accuracy: Mapping[str, Row]
) -> Iterator[Series]:
    """Yield the sizes of the groups, and on the paper's corpora published beside measured figures.

    Parameters
    ----------
    one
        Any encoder: it has the groups.
    requested
        The encoders without baselines.
    accuracy
        By encoder.
    """
    yield table(NAME, one.corpus, "group_sizes", SIZES, _group_sizes(one))
    column = _corpus_of_paper(one)
    if not column:
        return
    source = f"{published('localization')['source']}, {column}"
    lines = [(name, value, "published") for name, value in published_accuracies(column).items()]
    for view in requested:
        measured = accuracy[view.encoder].value
        if measured is not None:
            lines.append((view.encoder, measured, "measured here"))
    lines.sort(key=lambda line: (-line[1], line[0]))
    yield table(NAME, one.corpus, "published_beside", BESIDE, lines, source)


def published_accuracies(corpus: str) -> dict[str, float]:
    """Return the paper's accuracy of each model on one of its corpora, ``MSRP`` or ``Opinosis``, as fractions."""
    paper = published("localization")
    place = paper["columns"].index(corpus)
    return {line[0]: line[place] for line in paper["rows"]}


def _corpus_of_paper(view: LocalizationView) -> str:
    """Return which of the paper's corpora this is: MSRP by its content, Opinosis by its size; otherwise nothing."""
    if view.scores.origin.corpus_fingerprint in (MSRP, MSRP_GROUPED):
        return "MSRP"
    if (len(view.fold), view.groups) == OPINOSIS:
        return "Opinosis"
    return ""


def _model_of_paper(view: LocalizationView) -> str:
    """Return the paper's name of a model, or the name in its spec if the paper does not have the model."""
    return SAME.get(view.spec) or published_name(view.scores.origin)


def _group_sizes(view: LocalizationView) -> list[list[int]]:
    """Count the groups of each size and their sentences, smallest first (White et al. 2015, figures 2 and 3)."""
    size_of_group = Counter(view.scores.labels["group"].tolist())
    groups_of_size = Counter(size_of_group.values())
    return [[size, groups, size * groups] for size, groups in sorted(groups_of_size.items())]


def findings(views: Sequence[LocalizationView], rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield how well each encoder places sentences, which published figures differ, and which errors two share."""
    for view in views:
        row_of = {(r.metric, r.subset): r for r in rows if r.encoder == view.encoder}
        accuracy, centroid = row_of["accuracy", "all"], row_of.get(("centroid_accuracy", "all"))
        if accuracy.value is not None:
            yield _placement(view, accuracy, centroid)
        yield from _reservations(view)
    yield from _beside_published(views, rows)
    yield from _shared_errors(views)


def _placement(view: LocalizationView, accuracy: Row, centroid: Row | None) -> Finding:
    """Return how many sentences an encoder's classifier places in their group, beside a guess."""
    without_classifier = ""
    if centroid is not None and centroid.value is not None:
        without_classifier = f", {centroid.value:.1%} by the nearest centroid alone"
    template = {"above": SEPARABLE, "": NO_INTERVAL}.get(against_chance(accuracy, view.chance), NOT_SEPARABLE)
    return template.finding(
        accuracy,
        encoder=view.encoder,
        accuracy=written(accuracy),
        centroid=without_classifier,
        groups=view.groups,
        chance=view.chance,
    )


def _reservations(view: LocalizationView) -> Iterator[Finding]:
    """Yield what limits an encoder's figures: sentences without a vector, folds in which the classifier gave up."""
    zeros = int(view.scores.scalars["zeros"])
    if zeros:
        sentences = counted(zeros, "sentence has", "sentences have")
        yield WITHOUT_VECTOR.finding(view.scores.origin, encoder=view.encoder, sentences=sentences)
    if view.unconverged:
        yield NOT_CONVERGED.finding(view.scores.origin, encoder=view.encoder, folds=view.unconverged)


def _beside_published(views: Sequence[LocalizationView], rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield the published accuracies of models of the paper on a corpus of the paper, beside those measured here."""
    column = _corpus_of_paper(views[0])
    if not column:
        return
    published_accuracy = published_accuracies(column)
    row_of = {row.encoder: row for row in rows if (row.metric, row.subset) == ("accuracy", "all")}
    shares = []
    for view in views:
        row, model = row_of[view.encoder], _model_of_paper(view)
        if row.value is not None and model in published_accuracy:
            shares.append(PublishedShare(row, f"{100 * published_accuracy[model]:.2f}", model))
    yield from beside_paper(views[0].scores.origin, shares, column, "White et al. (2015)")


def _shared_errors(views: Sequence[LocalizationView]) -> Iterator[Finding]:
    """Yield how often the two encoders with the most errors in common make the same one."""
    every_sentence = np.ones(len(views[0].fold), dtype=bool)
    same_group, both_wrong = agreement(views, every_sentence)
    pairs = list(combinations(range(len(views)), 2))
    if not pairs:
        return
    a, b = max(pairs, key=lambda pair: both_wrong[pair])
    number, same = both_wrong[a, b], same_group[a, b]
    if number:
        sentences = counted(int(number), "sentence")
        pair = {"a": views[a].encoder, "b": views[b].encoder}
        yield SHARED_ERRORS.finding(views[a].scores.origin, **pair, sentences=sentences, same=same)
