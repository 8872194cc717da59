"""What a metric must declare, how a correlation is chosen, and what is never compared between encoders."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.core.types import Draws, ItemScores, Origin
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.metrics.verdict import item_values
from embassay.stats.correlate import correlation

ITEMS = 40
GOOD = {"kind": "share", "better": "higher", "of": lambda view: view.scores.values["x"]}
HEADLINE = {"headline": True, "margin": 0.02}
CORRELATION = {"kind": "correlation", "correlation": "spearman", "against": lambda view: view.scores.values["y"]}


@pytest.mark.parametrize(
    "declared",
    [
        {},
        HEADLINE,
        CORRELATION,
        {"kind": "mean over folds"},
        {"kind": "computed", "of": None, "better": "neither"},
        {"compared": "within one encoder", "kind": "mean", "low": -1, "high": None},
        {"low": -1.0, "format": "points"},
    ],
)
def test_what_can_be_computed_can_be_declared(declared):
    Metric("gap", **GOOD | declared)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"kind": "shares"}, "kind must be one of share, mean, mean over folds, correlation, computed; it is 'shares'"),
        ({"kind": ""}, "kind must be one of share"),
        ({"kind": ["share"]}, "it is ['share']"),
        ({"better": "up"}, "better must be one of higher, lower, neither; it is 'up'"),
        ({"better": "lowr"}, "it is 'lowr'"),
        ({"better": None}, "it is None"),
        ({"compared": "sometimes"}, "compared must be one of always, on request, never, within one encoder; it is"),
        ({"format": "%"}, "format must be one of percent, points, number"),
        (CORRELATION | {"correlation": ""}, "correlation must be one of pearson, spearman; it is ''"),
        (CORRELATION | {"correlation": "kendall"}, "correlation must be one of pearson, spearman; it is 'kendall'"),
        (CORRELATION | {"against": None}, "kind 'correlation' needs against=, and no other kind has it"),
        ({"against": GOOD["of"]}, "kind 'correlation' needs against=, and no other kind has it; the kind is 'share'"),
        ({"correlation": "spearman"}, "kind 'correlation' needs correlation=, and no other kind has it"),
        ({"low": 1.0, "high": 0.0}, "low must be below high, both finite; they are [1.0, 0.0]"),
        ({"low": 1.0}, "low must be below high"),
        ({"kind": "mean", "low": float("-inf")}, "both finite"),
        ({"kind": "mean", "high": float("nan")}, "both finite"),
        ({"compared": "on request", "of": None}, "what is compared needs of=, the values of items"),
        ({"compared": "always", "kind": "computed"}, "and another kind than 'computed'"),
        (HEADLINE | {"kind": "computed"}, "and another kind than 'computed'"),
        (HEADLINE | {"of": None}, "needs of="),
        (HEADLINE | {"better": "lower"}, "a headline must be a metric of which higher values are better"),
        (HEADLINE | {"better": "neither"}, "a headline must be a metric of which higher values are better"),
        (HEADLINE | {"compared": "within one encoder"}, "a headline must be"),
        ({"headline": True}, "with a margin above 0"),
        (HEADLINE | {"margin": 0.0}, "with a margin above 0"),
        (HEADLINE | {"margin": -0.02}, "with a margin above 0"),
        (HEADLINE | {"margin": float("nan")}, "with a margin above 0"),
        (HEADLINE | {"margin": float("inf")}, "with a margin above 0"),
    ],
)
def test_what_no_figure_can_come_of_is_refused_when_it_is_made(declared, says):
    with pytest.raises(SpecError) as caught:
        Metric("gap", **GOOD | declared)
    assert str(caught.value).startswith("metric 'gap': ")
    assert says in str(caught.value)


def scores_of(encoder, spread):
    rng = np.random.default_rng(0)
    y = np.arange(ITEMS, dtype=float)
    # Far from a line, so that both coefficients differ.
    x = np.exp(y / 5) + rng.normal(size=ITEMS) * spread
    item = np.array([f"i{n}" for n in range(ITEMS)])
    origin = Origin("mine", "", "c", "f", encoder, encoder)
    return ItemScores(origin, "cosine", item, np.arange(ITEMS), {}, {"x": x, "y": y})


@pytest.mark.parametrize("name", ["length_effect", "spearman_like", "pearson_like"])
@pytest.mark.parametrize("kind", ["spearman", "pearson"])
def test_the_field_and_not_the_name_says_which_correlation_it_is(name, kind):
    metrics = [Metric(name, **GOOD | CORRELATION | {"correlation": kind} | HEADLINE)]
    scores = [scores_of("a", 50.0), scores_of("b", 500.0)]
    figures = Figures.of(View, scores, metrics)
    row, _ = figures.rows(Draws(0, 20))
    x, y = scores[0].values["x"], scores[0].values["y"]
    assert row.value == pytest.approx(correlation(x, y, kind))
    assert correlation(x, y, "spearman") != pytest.approx(correlation(x, y, "pearson"), abs=0.01)
    gap = row.value - correlation(scores[1].values["x"], y, kind)
    (compared,) = figures.summarise(Draws(0, 99), on_request=True).comparisons
    assert compared.difference == pytest.approx(gap)
    # What the gate tests.
    assert {column.correlation for column in figures.columns({}, "")} == {kind}
    assert np.nanmean(item_values(figures.headline()["a"])) == pytest.approx(row.value)


def test_what_is_comparable_within_one_encoder_is_never_differenced():
    gap = GOOD | {"kind": "mean", "low": None}
    metrics = [
        Metric("score", **gap | {"compared": "within one encoder"}),
        Metric("rank", **gap | {"compared": "on request"}),
    ]
    figures = Figures.of(View, [scores_of("a", 1.0), scores_of("b", 2.0)], metrics)
    assert {row.metric for row in figures.rows(Draws(0, 20))} == {"score", "rank"}
    summary = figures.summarise(Draws(0, 99), on_request=True)
    assert {one.metric for one in summary.comparisons} == {"rank"}
    # What a check with --margin and a plan may test.
    assert {column.key.metric for column in figures.columns({}, "")} == {"rank"}


@pytest.mark.parametrize(
    ("diagnostic", "corpus", "never"),
    [
        ("negated_antonyms", "opposites", {"similarity"}),
        ("minimal_pairs", "edits", {"cosine", "baseline"}),
    ],
)
def test_similarities_of_two_encoders_are_not_compared(diagnostic, corpus, never):
    encoders = ["hashing,dim=32", "bow"]
    result = ea.assay(encoders, [corpus], [f"{diagnostic},compare=all"], resamples=20, baselines=False, cache=None)
    assert never <= {row.metric for row in result.rows}
    compared = {one.metric for one in result.comparisons}
    assert compared and not compared & never
