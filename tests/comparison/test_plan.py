"""How many items it takes: one formula with the run's own figures."""

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.result import between
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

TWO = ["a=hashing,dim=512", "b=hashing,dim=64"]


def test_the_figures_are_those_that_the_run_states(make_run):
    run = make_run("run", [*TWO, "c=hashing,dim=32", "fused=hybrid:b+c"])
    result = ea.read(run)
    stated_pairs = result.differences(result.verdict("retrieval"))
    pairs = ea.plan(run).pairs
    assert {(pair.comparison.a, pair.comparison.b) for pair in pairs} == {(one.a, one.b) for one in stated_pairs}
    for pair in pairs:
        now = pair.comparison
        stated = between(stated_pairs, now.a, now.b)
        assert (now.family, now.difference, now.low, now.high) == (
            stated.family,
            stated.difference,
            stated.low,
            stated.high,
        )
        assert pair.comparison.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


@pytest.mark.slow
def test_every_diagnostic_has_a_plan_that_agrees_with_the_run(tmp_path):
    out = tmp_path / "run"
    assert carry_out(RunRequest(["hashing", "hashing64=hashing,dim=64"], (), (), out=out, quiet=True)) == 0
    result = ea.read(out)
    plan = ea.plan(out)
    assert {pair.comparison.diagnostic for pair in plan.pairs} == {v.diagnostic for v in result.verdicts if v.metric}
    for pair in plan.pairs:
        now = pair.comparison
        pairs = result.differences(result.verdict(now.diagnostic, now.corpus))
        stated = between(pairs, now.a, now.b)
        assert pair.comparison.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


def test_the_size_for_the_smallest_difference_is_the_present_one(make_run):
    run = make_run("run", TWO)
    pair = ea.plan(run).pairs[0]
    smallest, items = pair.comparison.smallest_difference, pair.comparison.items
    assert ea.plan(run, smallest).pairs[0].comparison.items_needed == items
    assert ea.plan(run, smallest / 2).pairs[0].comparison.items_needed >= 2 * items


def test_under_ten_units_there_is_no_plan(make_run, capsys):
    run = make_run("run", TWO, questions=8)
    plan = ea.plan(run, 0.05)
    assert plan.pairs
    assert all(
        pair.comparison.smallest_difference is None and pair.comparison.items_needed is None for pair in plan.pairs
    )
    assert exit_code_of(["plan", str(run)]) == 0
    assert "no plan, because these items are too few" in " ".join(capsys.readouterr().out.split())
