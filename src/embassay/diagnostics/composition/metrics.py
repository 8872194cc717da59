"""The metrics of the composition diagnostic, those that encoders are compared on first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.core.types import ItemScores
from embassay.diagnostics.composition.criteria import NEAR_A, OperatorView, criterion_of, excess
from embassay.diagnostics.composition.ratings import RATING_METRICS
from embassay.diagnostics.metrics.metric import Direction, Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.stats.units import Floats, Ints

HEADLINE = MetricKey("share", "c1:TT", "cosine", "excess:eps0")
ABOVE_NULL = {
    HEADLINE: "C1 (overlap nearer to both than they are)",
    MetricKey("share", "c3:TT", "cosine", "excess:eps0"): "C3 (difference nearer to A)",
    MetricKey("share", "c4:vsB", "cosine", "excess:eps0"): "C4 (A − B nearer to it than to B)",
    MetricKey("share", "c4:vsA", "cosine", "excess:eps0"): "C4 against A (A − B nearer to it than to A)",
    MetricKey("share", "c2:between", "angle", "excess"): "C2 (overlap between them)",
    MetricKey("share", NEAR_A, "angle", "excess"): "C5 (difference near A)",
    MetricKey("share", "c6:middle", "angle", "excess"): "C6 (union in the middle)",
}
"""The excesses over the null that encoders are compared on, by ``compare=all``, with the words for each claim."""
BLOCK_OF_CRITERION = {
    "c1": "overlap",
    "c2": "overlap",
    "c3": "difference",
    "c4": "difference",
    "c5": "difference",
    "c6": "union",
}


def blocks_of(scores: ItemScores) -> dict[str, Ints]:
    """Return the (m,) items of each block of samples: of each operator, and ``right`` for the mirrored differences.

    A mirrored difference is what B says and A does not; it is reported apart from the differences of the paper.
    """
    operator, mirrored = scores.labels["operator"], scores.labels["side"] == "right"
    masks = {name: (operator == name) & ~mirrored for name in ("overlap", "difference", "union")}
    masks["right"] = mirrored
    return {name: np.flatnonzero(mask) for name, mask in masks.items() if mask.any()}


def _above_null(key: MetricKey, claim: str) -> Metric:
    """Return the share of a block's samples that satisfy a criterion, less its null."""
    block = BLOCK_OF_CRITERION[criterion_of(key)]
    is_headline = key == HEADLINE

    def places(view: View) -> Ints | None:
        return blocks_of(view.scores).get(block)

    def of(view: View) -> Floats | None:
        items = places(view)
        if items is None:
            return None
        return excess(OperatorView(view.scores, block, items), key)

    return Metric(
        key.metric,
        key.subset,
        key.condition,
        kind="share",
        better="higher",
        meaning=f"share of samples that satisfy {claim}, minus that with targets of other units",
        of=of,
        places=places,
        headline=is_headline,
        heading="C1 − wrong target" if is_headline else "",
        level="a wrong target",
        compared="on request",
        margin=0.02 if is_headline else None,
        chance=0.0,
        low=-1.0,
        format="points",
        undefined_is_wrong=False,
        similarity_function=key.similarity_function,
    )


def _share(subset: str, better: Direction, meaning: str) -> Iterator[Metric]:
    """Yield a share, whatever its tolerance and similarity function, and before it how far it is above its null."""
    share = partial(Metric, "share", subset, kind="computed", better=better, high=1.0)
    yield share("*excess*", low=-1.0, format="points", meaning=f"{meaning}, minus that with targets of other units")
    yield share("*", low=0.0, format="percent", meaning=meaning)


_neither = partial(Metric, condition="*", kind="computed", better="neither")
_share_of_one = partial(_neither, low=0.0, high=1.0, format="percent")
# What the other targets give describes the corpus and chance.
_null = partial(
    _neither, condition="*null*", meaning="the same with targets of other units: what the corpus alone gives"
)
METRICS = (
    *(_above_null(key, claim) for key, claim in ABOVE_NULL.items()),
    _null(
        "share",
        "*",
        format="percent",
        term="Null",
        explanation=(
            "The same share, computed with targets from other units. A share that does not exceed its null shows "
            "nothing about composition."
        ),
    ),
    _null("*", "*"),
    *_share("*:TT", "higher", "share of samples that satisfy both conditions of C1 or C3"),
    *_share("*:FF", "lower", "share of samples that satisfy neither condition of C1 or C3"),
    *_share("*:TF", "neither", "share of samples that satisfy the first condition of C1 or C3 only"),
    *_share("*:FT", "neither", "share of samples that satisfy the second condition of C1 or C3 only"),
    # The cases of C6 depend on the lengths of the vectors.
    _share_of_one("share", "c6:comparable", meaning="share of unions whose A and B are equally long"),
    _share_of_one("share", "c6:longer_*", meaning="share of unions with a longer A, or a longer B"),
    *_share("*", "higher", "share of samples that satisfy C2, C4, C5 or C6"),
    Metric(
        "margin",
        "*",
        "*",
        kind="computed",
        better="higher",
        compared="within one encoder",
        meaning="mean margin of a condition of C1, C3 or C4, in units of the similarity function; met from 0 on",
    ),
    _neither(
        "margin_sd", "*", low=0.0, compared="within one encoder", meaning="standard deviation of a margin over samples"
    ),
    _neither(
        "raw", "*", compared="within one encoder", meaning="mean closeness of a pair of A, B, the target and A − B"
    ),
    _neither("position", "*", meaning="mean position of the target's projection: 0 at A, 1 at B"),
    _neither("position_sd", "*", low=0.0, meaning="standard deviation of the position over samples"),
    _share_of_one("in_plane", "*", meaning="how much of the target lies in the plane of A and B"),
    *RATING_METRICS,
)
