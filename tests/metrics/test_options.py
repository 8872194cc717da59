"""Options in the names of declared metrics."""

from embassay.diagnostics.metrics.metric import Metric, with_options


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
