"""Which errors encoders share, the published figures beside the measured ones, examples, and findings in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.data import MSRP
from embassay.diagnostics.localization.rows import NAME, View
from embassay.diagnostics.published import published, table
from embassay.result import Estimate, Example, Series
from embassay.types import Draws

SHOWN = 12
"""How many of the sentences that all encoders misplace are shown with their texts."""
OPINOSIS = (521, 89)
"""Sentences and groups of the released Opinosis groups, which are known by these numbers."""
SAME = {"bow,tokens=treebank": "BOW", "bow,tokens=treebank,pca=300": "PCA BOW"}
"""Encoders that are one of the paper's, by their specs."""
SIZES = {"sentences in a group": "count", "groups": "count", "sentences": "count"}
BESIDE = {"model": "text", "accuracy": "percent", "figure": "text"}
AGAIN = {
    "encoder": "text",
    "published as": "text",
    "published": "percent",
    "measured": "percent",
    "measured − published": "points",
}


def agreement(views: Sequence[View], inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count how often each two encoders name the same wrong group.

    White et al. (2015, section 5.2) approximate P(m₁(x) = m₂(x) | both wrong) on the sentences of one fold.

    Parameters
    ----------
    inside
        (n,) the sentences that are looked at.

    Returns
    -------
    numerator, denominator
        (k, k) each: the sentences that both misplace in the same group, and those that both misplace. On the diagonal
        both are the encoder's errors.
    """
    wrong = np.stack([v.wrong & inside for v in views])
    named = np.stack([v.scores.labels["named"] for v in views])
    pairs = [[a & b for b in wrong] for a in wrong]
    same = [
        [both & (x == y) for both, y in zip(line, named, strict=True)] for line, x in zip(pairs, named, strict=True)
    ]
    numerator, denominator = (np.array(table).sum(axis=2).astype(np.int64) for table in (same, pairs))
    return numerator, denominator


def series_of(
    views: Sequence[View], own: Sequence[View], level: Mapping[str, Estimate], fold: int, draws: Draws
) -> Iterator[Series]:
    """Yield the agreement of errors, on one fold and on all, and the published figures.

    Parameters
    ----------
    own
        The encoders asked for.
    level
        The accuracy of each encoder.
    """
    corpus = views[0].scores.origin.corpus
    tested = views[0].fold == fold
    whole = np.ones(len(tested), dtype=bool)
    yield _agreement(views, tested, "agreement", f"fold {fold}", draws)
    yield _agreement(views, whole, "agreement_pooled", "all folds", draws)
    paper = published("localization")
    yield Series(NAME, corpus, "published", "table", paper)
    yield table(NAME, corpus, "group_sizes", SIZES, _sizes(views[0]))
    if column := _released(views[0]):
        measured = {v.encoder: value for v in own if (value := level[v.encoder].value) is not None}
        known = {name: values[paper["columns"].index(column) - 1] for name, *values in paper["rows"]}
        source = f"{paper['source']}, {column}"
        yield table(NAME, corpus, "published_beside", BESIDE, _beside(known, measured), source)
        specs = {v.encoder: SAME.get(v.scores.origin.spec, "") for v in own}
        again = [[e, n, known[n], measured[e], measured[e] - known[n]] for e, n in specs.items() if n in known]
        if again:
            yield table(NAME, corpus, "published_and_measured", AGAIN, again, source)


def _agreement(views: Sequence[View], inside: NDArray[np.bool_], name: str, what: str, draws: Draws) -> Series:
    numerator, denominator = agreement(views, inside)
    data = {
        "names": [v.encoder for v in views],
        "numerator": numerator.tolist(),
        "denominator": denominator.tolist(),
        "diagonal": "errors",
        "note": f"On {int(inside.sum()):,} sentences ({what}).",
        "signatures": [v.part("accuracy").signature(draws, "agreement", inside=what) for v in views],
    }
    return Series(NAME, views[0].scores.origin.corpus, name, "matrix", data)


def _released(view: View) -> str:
    """Return which of the paper's corpora this is: MSRP by its content, Opinosis by its numbers; else nothing."""
    if view.corpus_key == MSRP:
        return "MSRP"
    return "Opinosis" if (len(view.fold), view.groups) == OPINOSIS else ""


def _sizes(view: View) -> list[list[int]]:
    """Count the groups of each size and their sentences, smallest first (White et al. 2015, figures 2 and 3)."""
    groups_of_size = Counter(Counter(view.scores.labels["group"].tolist()).values())
    return [[size, groups, size * groups] for size, groups in sorted(groups_of_size.items())]


def _beside(published: Mapping[str, float], measured: Mapping[str, float]) -> list[list[Any]]:
    rows: list[list[Any]] = [[name, value, "published"] for name, value in published.items()]
    rows += [[name, value, "measured here"] for name, value in measured.items()]
    return sorted(rows, key=lambda line: (-line[1], line[0]))


def examples(views: Sequence[View]) -> Iterator[Example]:
    """Show sentences that every encoder misplaces, one of each unit, and the group that each placed them in."""
    one = views[0].scores
    first = dict(zip(reversed(one.labels["group"].tolist()), reversed(one.item.tolist()), strict=True))
    taken: set[int] = set()
    for index in np.flatnonzero(np.all([v.wrong for v in views], axis=0)).tolist():
        if (unit := int(one.unit[index])) in taken or len(taken) == SHOWN:
            continue
        taken.add(unit)
        for view in views:
            cosine = {"others": view.values("to_own")[index], "named": view.values("to_named")[index]}
            yield Example(
                NAME,
                one.origin.corpus,
                view.encoder,
                str(one.item[index]),
                "misplaced by all",
                {"named": f"{first[str(view.scores.labels['named'][index])]}#0"},
                {name: float(value) for name, value in cosine.items() if not np.isnan(value)},
            )


def findings(views: Sequence[View], level: Mapping[str, Estimate]) -> Iterator[str]:
    """Say how well each encoder places sentences, with and without a classifier, and which errors two share."""
    for view in views:
        accuracy, centroid = level[view.encoder].value, view.values("centroid_accuracy")
        if accuracy is None:
            continue
        alone = "" if np.isnan(centroid).all() else f", {np.nanmean(centroid):.1%} by the nearest centroid alone"
        yield (
            f"{view.encoder}: the classifier places {accuracy:.1%} of the sentences in their group{alone}; "
            f"a guess among {view.groups:,} groups has {1 / view.groups:.1%}"
        )
        zeros, lost = (int(view.scores.scalars[name]) for name in ("zeros", "unconverged"))
        if zeros:
            sentences = f"{zeros:,} sentence{'s have' if zeros > 1 else ' has'} a zero vector"
            yield f"{view.encoder}: {sentences}, which the classifier places blindly and cosines leave out"
        if lost:
            yield f"{view.encoder}: in {lost} of the folds the classifier stopped before it had converged"
    yield from _shared(views)


def _shared(views: Sequence[View]) -> Iterator[str]:
    """Say of the two encoders with the most errors in common how often they make the same one."""
    same, both = agreement(views, np.ones(len(views[0].fold), dtype=bool))
    pairs = list(combinations(range(len(views)), 2))
    a, b = max(pairs, key=lambda pair: both[pair], default=(0, 0))
    if pairs and both[a, b]:
        yield (
            f"{views[a].encoder} and {views[b].encoder} both misplace {both[a, b]:,} sentence"
            f"{'s' * int(both[a, b] > 1)}, {same[a, b]:,} of them in the same wrong group"
        )
