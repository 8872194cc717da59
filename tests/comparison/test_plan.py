"""How many items it takes: one formula with the run's own figures."""

import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

TWO = ["a=hashing,dim=512", "b=hashing,dim=64"]


def test_the_figures_are_those_that_the_run_states(make_run):
    run = make_run("run", [*TWO, "c=hashing,dim=32", "fused=hybrid:b+c"])
    verdict = ea.read(run).verdict("retrieval")
    pairs = ea.plan(run).pairs
    assert {(pair.comparison.a, pair.comparison.b) for pair in pairs} == {(one.a, one.b) for one in verdict.differences}
    for pair in pairs:
        now = pair.comparison
        stated = verdict.between(now.a, now.b)
        assert (now.family, now.difference, now.low, now.high) == (
            stated.family,
            stated.difference,
            stated.low,
            stated.high,
        )
        assert pair.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


@pytest.mark.slow
def test_every_diagnostic_has_a_plan_that_agrees_with_the_run(tmp_path):
    out = tmp_path / "run"
    assert carry_out(RunRequest(["hashing", "hashing64=hashing,dim=64"], (), (), out=out, quiet=True)) == 0
    result = ea.read(out)
    plan = ea.plan(out)
    assert {pair.comparison.diagnostic for pair in plan.pairs} == {v.diagnostic for v in result.verdicts if v.metric}
    for pair in plan.pairs:
        now = pair.comparison
        stated = result.verdict(now.diagnostic, now.corpus).between(now.a, now.b)
        assert pair.smallest_difference == pytest.approx(stated.smallest_difference, rel=1e-6)


def test_the_size_for_the_smallest_difference_is_the_present_one(make_run):
    run = make_run("run", TWO)
    pair = ea.plan(run).pairs[0]
    assert ea.plan(run, pair.smallest_difference).pairs[0].items_needed == pair.comparison.items
    assert ea.plan(run, pair.smallest_difference / 2).pairs[0].items_needed >= 2 * pair.comparison.items


def test_how_many_more_questions_a_gate_takes(make_run, capsys):
    run = make_run("run", TWO)
    (gate,) = ea.plan(run).gates
    assert (gate.corpus, gate.margin, gate.target, gate.more) == ("docs", 0.13, 0.05, 230)
    assert exit_code_of(["plan", str(run)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "About 230 more questions about these documents bring the margin from 13 down to 5 points." in printed
    assert [gate.more for gate in ea.plan(make_run("many", TWO, questions=400)).gates] == [1200]


def test_under_ten_units_there_is_no_plan(make_run, capsys):
    run = make_run("run", TWO, questions=8)
    plan = ea.plan(run, 0.05)
    assert plan.pairs
    assert all(pair.smallest_difference is None and pair.items_needed is None for pair in plan.pairs)
    assert exit_code_of(["plan", str(run)]) == 0
    assert "no plan, because these items are too few" in " ".join(capsys.readouterr().out.split())
