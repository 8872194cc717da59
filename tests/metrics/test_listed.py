"""What is declared of each metric is listed, and each declaration is complete."""

from __future__ import annotations

import pytest

from embassay.cli.app import exit_code_of
from embassay.core.metric_key import MetricKey
from embassay.core.plugins import DIAGNOSTICS
from embassay.diagnostics.metrics.metric import declared, declared_metrics, headline_metric

OURS = sorted(DIAGNOSTICS.own_names())
RANKING = {"answers", "negated_antonyms", "minimal_pairs", "composition", "localization", "retrieval", "similarity"}


@pytest.mark.parametrize("name", OURS)
def test_each_metric_says_what_it_means_and_where_its_values_lie(name):
    metrics = declared_metrics(name)
    assert metrics
    for metric in metrics:
        assert metric.meaning, metric
        low, high = metric.range
        assert low is None or high is None or low < high
        if metric.kind == "share":
            # A share less that by chance may be negative.
            assert metric.range in ((0, 1), (-1, 1))


@pytest.mark.parametrize("name", OURS)
def test_one_headline_at_most_and_it_has_a_margin(name):
    headlines = [metric for metric in declared_metrics(name) if metric.headline]
    assert len(headlines) == (name in RANKING)
    for metric in headlines:
        assert metric == headline_metric(name)
        assert metric.margin is not None and metric.margin > 0
        # What is read by chance depends on the length of the documents.
        assert metric.chance is not None or name == "answers"


def test_the_first_declaration_that_describes_a_row_counts():
    assert declared(MetricKey("accuracy", "all", diagnostic="negated_antonyms")).headline
    assert not declared(MetricKey("accuracy", "adjective:bad–good", diagnostic="negated_antonyms")).headline
    assert declared(MetricKey("Success@7", "all", diagnostic="retrieval")).better == "higher"


def test_the_list_has_each_metric(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert exit_code_of(["list", "metrics"]) == 0
    printed = capsys.readouterr().out
    for name in OURS:
        for metric in declared_metrics(name):
            assert f"{name}/{metric.name}" in printed
