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


def test_the_advice_of_a_run_is_that_of_its_plan(make_run):
    run = make_run("run", TWO)
    advised = [one for one in ea.read(run).comparisons if one.target is not None]
    assert advised
    for one in advised:
        (pair,) = [
            pair for pair in ea.plan(run, one.target).pairs if (pair.comparison.a, pair.comparison.b) == (one.a, one.b)
        ]
        assert pair.comparison.items_needed == one.items_needed


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


def test_more_power_takes_more_items(make_run):
    run = make_run("run", TWO)
    usual, strict = ea.plan(run, 0.05).pairs[0], ea.plan(run, 0.05, power=0.95).pairs[0]
    assert strict.comparison.items_needed > usual.comparison.items_needed
    assert strict.comparison.smallest_difference > usual.comparison.smallest_difference


def test_the_curve_is_the_formula_at_larger_sizes(make_run):
    (pair, *_) = ea.plan(make_run("run", TWO)).pairs
    assert [point.items for point in pair.curve] == [pair.comparison.items * growth for growth in (1, 2, 4, 8)]
    assert pair.curve[0].smallest_difference == pair.comparison.smallest_difference
    differences = [point.smallest_difference for point in pair.curve]
    assert differences == sorted(differences, reverse=True)


def test_under_ten_units_there_is_no_plan(make_run, capsys):
    run = make_run("run", TWO, questions=8)
    plan = ea.plan(run, 0.05)
    assert plan.pairs
    assert all(
        pair.comparison.smallest_difference is None and pair.comparison.items_needed is None for pair in plan.pairs
    )
    assert exit_code_of(["plan", str(run)]) == 0
    assert "no plan, because these items are too few" in " ".join(capsys.readouterr().out.split())


def test_a_frame(make_run):
    frame = ea.plan(make_run("run", TWO), 0.05).table()
    assert frame["family"].to_list()[0] in ("main", "lexical", "models")
    assert frame["items_needed"].min() > 0


def test_the_command(make_run, capsys):
    run = make_run("run", TWO)
    assert exit_code_of(["plan", str(run), "--difference", "0.02"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "A true difference of 2.0 points between a and b needs about" in printed
    assert "Power 80%" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--difference", "3"], "difference must be above 0 and below 1, is 3; 3 points are 0.03"),
        (["--difference", "0"], "difference must be above 0"),
        (["--power", "1"], "power must be above 0 and below 1"),
    ],
)
def test_bad_input_is_one_message(make_run, capsys, arguments, message):
    run = make_run("run", TWO)
    assert exit_code_of(["plan", str(run), *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert len(said.splitlines()) == 1
