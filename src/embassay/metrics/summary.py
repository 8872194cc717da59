"""Rows and comparisons of a result, made from estimates and differences."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.result import Comparison, Estimate, Row
from embassay.stats.families import PairedDifference
from embassay.stats.noninferiority import Headline
from embassay.stats.shares import PooledShare
from embassay.types import Draws, ItemScores


def row(
    scores: ItemScores,
    draws: Draws,
    metric: str,
    subset: str,
    estimate: Estimate,
    condition: str = "",
    similarity_function: str = "",
    interval: str = "confidence",
    **more: str,
) -> Row:
    """Make a row of an estimate.

    Parameters
    ----------
    similarity_function
        The scores' own similarity function by default.
    interval
        What low and high are: ``confidence`` or ``exams``. A row without them gets ``none``.
    more
        What else the figure depends on, for its signature.
    """
    if estimate.low is None:
        interval = "none"
    return Row(
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder=scores.origin.encoder,
        subset=subset,
        similarity_function=similarity_function or scores.similarity_function,
        condition=condition,
        metric=metric,
        **vars(estimate),
        signature=scores.signature(draws, similarity_function, **more),
        interval=interval,
    )


def share_row(
    scores: ItemScores,
    draws: Draws,
    metric: str,
    subset: str,
    share: PooledShare,
    pool: str,
    condition: str = "",
    similarity_function: str = "",
    **more: str,
) -> Row:
    """Make the row of a share. If its limits depend on the other encoders, its signature contains the pool.

    Parameters
    ----------
    pool
        The encoder's entry in :func:`pools_of`.
    """
    if share.pooled:
        more["pool"] = pool
    return row(scores, draws, metric, subset, share.estimate, condition, similarity_function, **more)


def estimates_of(rows: Sequence[Row], headline: Headline) -> dict[str, Estimate]:
    """Return the estimates that the rows of a headline were made from, by encoder."""
    estimates = dict[str, Estimate]()
    for row in rows:
        is_headline = (row.metric, row.subset, row.condition) == (
            headline.metric,
            headline.subset,
            headline.condition,
        )
        if is_headline and headline.similarity_function in ("", row.similarity_function):
            estimates[row.encoder] = Estimate(
                row.value, row.low, row.high, row.items, row.units, row.undefined, row.reason
            )
    return estimates


def comparisons(
    scores: ItemScores,
    metric: str,
    subset: str,
    differences: Sequence[PairedDifference],
    condition: str = "",
    similarity_function: str = "",
) -> tuple[Comparison, ...]:
    """Make the comparisons of one metric, family by family.

    Parameters
    ----------
    scores
        Those of any encoder: they name diagnostic, corpus and similarity function.
    """
    return tuple(
        Comparison(
            diagnostic=scores.origin.diagnostic,
            corpus=scores.origin.corpus,
            subset=subset,
            similarity_function=similarity_function or scores.similarity_function,
            condition=condition,
            metric=metric,
            a=pair.a,
            b=pair.b,
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p=pair.p,
            p_holm=pair.p_adjusted,
            pairs_in_family=pair.tests,
            items=pair.items,
            units=pair.units,
            family=pair.family,
            p_method=pair.p_method,
            p_error=pair.p_error,
        )
        for pair in differences
    )
