"""Options in the names of declared metrics, and what a table shows of a declaration."""

from embassay.core.layout import Column
from embassay.core.metric_key import MetricKey
from embassay.core.result import Result, Verdict
from embassay.diagnostics.metrics.metric import Metric, with_options
from embassay.run.execute import headline_columns


def declared(name, subset="all", **more):
    return Metric(name, subset, **{"kind": "share", "better": "higher", **more})


def test_options_stand_in_names_and_subsets():
    metrics = with_options([declared("Success@{k}"), declared("coe", "psi{psi}"), declared("RR")], k=3, psi=10)
    assert [(metric.name, metric.subset) for metric in metrics] == [
        ("Success@3", "all"),
        ("coe", "psi10"),
        ("RR", "all"),
    ]


def test_of_two_metrics_of_one_name_the_first_is_taken():
    headline = {"headline": True, "margin": 0.02, "of": lambda view: view.right}
    metrics = [declared("Success@{k}", **headline), declared("Success@1"), declared("Success@1", condition="whiten")]
    assert [(metric.headline, metric.condition) for metric in with_options(metrics, k=1)] == [
        (True, ""),
        (False, "whiten"),
    ]
    assert len(with_options(metrics, k=5)) == 3


def test_the_heading_of_a_verdict_follows_from_the_declaration_and_has_the_values_of_its_options():
    verdicts = (
        Verdict(MetricKey("Success@3", diagnostic="retrieval", corpus="c"), 10, 10),
        Verdict(MetricKey("spearman", diagnostic="similarity", corpus="c"), 10, 10),
        Verdict(MetricKey("", diagnostic="isotropy", corpus="c"), 10, 10),
        Verdict(MetricKey("score", diagnostic="of_another_package", corpus="c"), 10, 10),
    )
    columns = headline_columns(Result(0, 0, verdicts=verdicts))
    assert set(columns) == {"retrieval", "similarity", "of_another_package"}, "isotropy ranks nothing"
    of_success = columns["retrieval"]
    assert (of_success.heading, of_success.format) == ("Success@3", "percent")
    assert of_success.says == "a right {document} is in its top 3 for {of_100}"
    (of_first,) = headline_columns(
        Result(0, 0, verdicts=(Verdict(MetricKey("Success@1", diagnostic="retrieval", corpus="c"), 10, 10),))
    ).values()
    assert of_first.says == "a right {document} is in its top 1 for {of_100}"
    assert (columns["similarity"].heading, columns["similarity"].level) == ("Spearman", "0")
    assert columns["of_another_package"] == Column("score", "score")
