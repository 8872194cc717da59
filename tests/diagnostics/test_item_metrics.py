"""The metrics that can be tested for a loss are those of the result, item by item."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.columns import read_columns, write_columns
from embassay.core.errors import SourceError, SpecError
from embassay.core.metric_key import MetricKey
from embassay.diagnostics.metrics.metric import declared, headline_metric
from embassay.run.items import columns_of
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
    columns = list(columns_of([task]))
    assert len({column.key for column in columns}) == len(columns) > 1
    for column in columns:
        usual = column.key.similarity_function or task.scores[0].similarity_function
        (row,) = (
            row
            for row in result.rows
            if row.encoder and column.key.covers(row.key) and row.similarity_function == usual
        )
        value = float(np.nanmean(column.value))
        if column.correlation:
            value = correlation(column.against, column.value, column.correlation)
        if len(column.fold):
            value = np.mean([np.nanmean(column.value[column.fold == fold]) for fold in np.unique(column.fold)])
        assert value == pytest.approx(row.value, abs=1e-9), column.key
        assert len(column.value) == len(column.unit) == len(column.item) == len(column.content) == len(column.text)


@pytest.mark.parametrize("name", NAMES)
def test_the_headline_is_one_of_them_and_declares_its_margin(tasks, name):
    task, _ = tasks[name]
    headline = next(iter(task.diagnostic.figures(task.scores).headline().values()))
    column, *others = columns_of([task])
    assert column.is_headline and not any(other.is_headline for other in others)
    assert headline.margin == column.margin == headline_metric(name).margin > 0
    np.testing.assert_array_equal(headline.value, column.value)
    np.testing.assert_array_equal(headline.unit, column.unit)


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_read_as_they_were_written(tasks, name, tmp_path):
    task, _ = tasks[name]
    columns = list(columns_of([task]))
    write_columns(tmp_path, columns)
    for column, again in zip(columns, read_columns(tmp_path), strict=True):
        for field, value in vars(column).items():
            np.testing.assert_array_equal(value, getattr(again, field))
    (tmp_path / "values.npz").write_bytes(b"PK")
    with pytest.raises(SourceError, match="item values are missing or damaged"):
        read_columns(tmp_path)


@pytest.mark.parametrize(
    ("diagnostic", "metric", "subset", "condition", "direction"),
    [
        ("negated_antonyms", "chosen", "antonym", "", "lower"),
        ("negated_antonyms", "chosen", "paraphrase", "", "higher"),
        ("minimal_pairs", "similarity", "negation_main", "", "neither"),
        ("minimal_pairs", "cosine", "negation_main", "", "neither"),
        ("minimal_pairs", "contrast", "synonym-antonym", "", "higher"),
        ("minimal_pairs", "contrast", "synonym-typo", "", "neither"),
        ("composition", "share", "c1:TT", "excess:eps0", "higher"),
        ("composition", "share", "c1:TT", "null:eps0", "neither"),
        ("composition", "share", "c1:FF", "eps0", "lower"),
        ("composition", "share", "c3:TT", "right:grid", "higher"),
        ("retrieval", "loss_limit", "recommended_on_average", "", "lower"),
        ("retrieval", "tau", "recommended", "", "neither"),
        ("retrieval", "Success@10", "all", "whiten", "higher"),
        ("isotropy", "mean_cosine", "texts", "", "neither"),
    ],
)
def test_directions(diagnostic, metric, subset, condition, direction):
    assert declared(MetricKey(metric, subset, condition=condition, diagnostic=diagnostic)).better == direction


def test_what_is_not_declared_has_no_direction():
    with pytest.raises(SpecError, match=r"'isotropy' does not say whether higher or lower values of width\[texts\]"):
        declared(MetricKey("width", "texts", diagnostic="isotropy"))
