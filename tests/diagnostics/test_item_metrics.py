"""The metrics that can be tested for a loss are those of the result, item by item."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.diagnostics.base import DeclaresMetrics
from embassay.diagnostics.metrics.metric import headline_metric, metric_of
from embassay.stats.correlate import correlation

RUNS = {
    "retrieval": ("handbook", "retrieval,transforms=all"),
    "negated_antonyms": ("opposites", "negated_antonyms"),
    "minimal_pairs": ("edits", "minimal_pairs"),
    "localization": ("paraphrases", "localization"),
}


@pytest.fixture(scope="module")
def tasks():
    """By name of the diagnostic: its scored task, and its rows by key."""
    by_name = {}
    for name, (corpus, diagnostic) in RUNS.items():
        result = ea.assay(["hashing,dim=32"], [corpus], [diagnostic], resamples=20, baselines=False, cache=None)
        by_name[name] = (result.items.tasks[0], result)
    operators = ("overlap", "difference", "union")
    samples = [
        ea.Composition(f"s{n}", operators[n % 3], f"red {n} ball", f"blue {n} box", f"{n} ball box", f"u{n // 3}")
        for n in range(90)
    ]
    pairs = [ea.Pair(f"p{n}", f"one two {n}", f"one {n * 7 % 11} two", float(n % 5), str(n)) for n in range(60)]
    made = {
        "composition": ea.Corpus("sets", "composition", tuple(samples)),
        "similarity": ea.Corpus("sts", "pairs", tuple(pairs)),
    }
    for name, corpus in made.items():
        result = ea.assay(["hashing,dim=32"], [corpus], [name], resamples=20, baselines=False, cache=None)
        by_name[name] = (result.items.tasks[0], result)
    return by_name


NAMES = [*RUNS, "composition", "similarity"]


@pytest.mark.parametrize("name", NAMES)
def test_the_mean_over_items_is_the_value_of_the_row(tasks, name):
    task, result = tasks[name]
    rows = {(r.metric, r.subset, r.similarity_function, r.condition): r for r in result.rows if r.encoder}
    assert isinstance(task.diagnostic, DeclaresMetrics)
    metrics = list(task.diagnostic.figures(task.scores).item_metrics())
    assert len({metric.key for metric in metrics}) == len(metrics) > 1
    for metric in metrics:
        key = (
            metric.metric,
            metric.subset,
            metric.similarity_function or task.scores[0].similarity_function,
            metric.condition,
        )
        (values,) = metric.values.values()
        value = float(np.nanmean(values))
        if metric.correlated is not None:
            c = metric.correlated
            value = correlation(c.x, next(iter(c.ys.values())), c.kind)
        # The accuracy of localization is a mean over folds in rows, and one over sentences here.
        tolerance = 0.02 if key[:2] == ("accuracy", "all") and name == "localization" else 1e-9
        assert value == pytest.approx(rows[key].value, abs=tolerance), key
        places = range(len(task.scores[0].item)) if metric.places is None else metric.places
        assert len(values) == len(metric.unit) == len(places)
        assert metric.margin is None


@pytest.mark.parametrize("name", NAMES)
def test_the_headline_is_one_of_them_and_declares_its_margin(tasks, name):
    task, _ = tasks[name]
    assert isinstance(task.diagnostic, DeclaresMetrics)
    headline = task.diagnostic.figures(task.scores).headline()
    assert headline.margin == headline_metric(name).margin > 0
    (same,) = [one for one in task.diagnostic.figures(task.scores).item_metrics() if one.key == headline.key]
    for values, again in zip(headline.values.values(), same.values.values(), strict=True):
        np.testing.assert_array_equal(values, again)
    np.testing.assert_array_equal(headline.unit, same.unit)


@pytest.mark.parametrize(
    ("diagnostic", "metric", "subset", "condition", "direction"),
    [
        ("negated_antonyms", "chosen", "antonym", "", "lower"),
        ("negated_antonyms", "chosen", "paraphrase", "", "higher"),
        ("minimal_pairs", "similarity", "negation_main", "", "neither"),
        ("minimal_pairs", "cosine", "negation_main", "", "neither"),
        ("minimal_pairs", "contrast", "synonym-antonym", "raw", "higher"),
        ("minimal_pairs", "contrast", "synonym-typo", "", "neither"),
        ("composition", "share", "c1:TT", "excess:eps0", "higher"),
        ("composition", "share", "c1:TT", "null:eps0", "neither"),
        ("composition", "share", "c1:FF", "eps0", "lower"),
        ("composition", "share", "c3:TT", "right:grid", "higher"),
        ("composition", "margin_sd", "c1:1", "", "neither"),
        ("retrieval", "loss_limit", "recommended_on_average", "", "lower"),
        ("retrieval", "tau", "recommended", "", "neither"),
        ("retrieval", "Success@10", "all", "whiten", "higher"),
        ("isotropy", "mean_cosine", "texts", "", "neither"),
    ],
)
def test_directions(diagnostic, metric, subset, condition, direction):
    assert metric_of(diagnostic, metric, subset, condition).better == direction


def test_what_is_not_declared_has_no_direction():
    with pytest.raises(SpecError, match=r"'isotropy' does not say whether higher or lower values of width\[texts\]"):
        metric_of("isotropy", "width", "texts")
