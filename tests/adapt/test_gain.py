"""The verdict on an adaptation: signs, intervals and words, worked by hand."""

import math

import numpy as np
import pytest

from embassay.adapt.gain import CAVEAT, Change, changes, p_value, signed, told, verdict
from embassay.result import Comparison, Result
from embassay.stats.compare import compare
from embassay.types import Draws

FAMILY = {"pairs_in_family": 3, "measure": "similarity"}


def comparison(a, b, difference, low, high, p, diagnostic="retrieval", corpus="mine", **given):
    known = {"quantity": "Success@5", "subset": "all", "condition": "", "items": 897, "units": 300, **FAMILY}
    return Comparison(
        diagnostic, corpus, a=a, b=b, difference=difference, low=low, high=high, p=p, p_holm=p, **{**known, **given}
    )


def result(*found, seed=0):
    return Result(seed, 1000, comparisons=found)


def test_a_gain_is_told_from_the_variant_s_side_whoever_stands_first():
    one = result(comparison("base", "finetuned", -0.061, -0.082, -0.039, 0.0006))
    other = result(comparison("finetuned", "base", 0.061, 0.039, 0.082, 0.0006))
    for found in (one, other):
        assert verdict(found, ["mine"])[0] == (
            "finetuned: +6.1 points [3.9, 8.2] on your questions (Success@5, 897 test questions in 300 units, p <0.001)"
        )


def test_a_loss_is_named():
    found = result(comparison("base", "pretrained", 0.04, 0.021, 0.06, 0.012))
    assert verdict(found, ["mine"]) == (
        "pretrained: a loss, −4.0 points [−6.0, −2.1] on your questions (Success@5, 897 test questions in 300 units, "
        "p 0.012)",
        "pretrained, in short: worse on your questions",
        CAVEAT.format(seed=0),
    )


@pytest.mark.parametrize(("low", "high", "p"), [(-0.03, 0.01, 0.4), (-0.03, -0.001, 0.07), (-0.03, 0.001, 0.04)])
def test_what_the_data_cannot_show_is_said_so(low, high, p):
    found = result(comparison("base", "finetuned", -0.012, low, high, p, items=150, units=150))
    line = verdict(found, ["mine"])[0]
    assert line.startswith("finetuned: no difference that 150 test questions can show on your questions: +1.2 points [")
    assert "not shown to be better or worse" in verdict(found, ["mine"])[1]


def test_no_interval_and_no_value_are_no_verdict():
    bare = result(comparison("base", "finetuned", -0.2, None, None, 0.01, units=8))
    assert verdict(bare, ["mine"])[0] == (
        "finetuned: nothing can be said on your questions (Success@5: fewer than 10 independent units)"
    )
    undefined = result(comparison("base", "finetuned", None, None, None, None))
    assert "undefined" in verdict(undefined, ["mine"])[0]
    assert verdict(undefined, ["mine"])[1] == "finetuned, in short: nothing can be said on your questions"


def test_units_are_named_where_they_are_not_the_questions_and_few_are_marked():
    found = result(
        comparison("base", "finetuned", -0.061, -0.082, -0.039, 0.0006, units=12),
        comparison("base", "finetuned", -0.012, -0.03, 0.01, 0.4, corpus="handbook", items=38, units=22),
        comparison("base", "finetuned", -0.061, -0.082, -0.039, 0.0006, corpus="notes", items=25, units=25),
    )
    assert verdict(found, ["mine"])[:3] == (
        "finetuned: +6.1 points [3.9, 8.2] on your questions (Success@5, 897 test questions in 12 units, few units, "
        "p <0.001)",
        "finetuned: retrieval, no difference that 38 questions in 22 units can show on handbook: +1.2 points "
        "[−1.0, 3.0] (Success@5, few units, p 0.40)",
        "finetuned: retrieval, +6.1 points [3.9, 8.2] on notes (Success@5, 25 questions, few units, p <0.001)",
    )


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("gain", "unknown", "better on a; nothing can be said on b"),
        ("none", "unknown", "not shown to be better or worse on a; nothing can be said on b"),
        ("unknown", "unknown", "nothing can be said on your questions"),
        ("gain", "gain", "better on your questions"),
    ],
)
def test_a_corpus_that_nothing_can_be_said_on_is_named(first, second, told):
    ends = {"gain": (-0.05, -0.07, -0.03, 0.001), "none": (-0.01, -0.03, 0.01, 0.5), "unknown": (-0.2, None, None, 0.4)}
    found = result(
        comparison("base", "finetuned", *ends[first], corpus="a"),
        comparison("base", "finetuned", *ends[second], corpus="b"),
    )
    assert verdict(found, ["a", "b"])[2] == f"finetuned, in short: {told}"


def test_a_training_that_made_nothing_better_is_told_by_the_verdict():
    found = result(comparison("base", "finetuned", -0.01, -0.03, 0.01, 0.5))
    looks = {"finetuned": [[0, 0.633], [5, 0.6], [10, 0.567]]}
    assert verdict(found, ["mine"], looks)[1] == (
        "finetuned: no step of the training was better on the dev questions than the model that it began with "
        "(Success@5 0.633 before, 0.600 at best); the best step is kept all the same"
    )
    for better in ({"finetuned": [[0, 0.6], [5, 0.633]]}, {"finetuned": [[0, 0.6]]}, {"finetuned": []}, {}):
        assert verdict(found, ["mine"], better) == verdict(found, ["mine"])


def test_general_corpora_come_after_and_losses_there_are_summed_up():
    contrast = {"diagnostic": "minimal_pairs", "quantity": "contrast", "subset": "synonym-negation_main"}
    contrast |= {"items": 116, "units": 116}
    found = result(
        comparison("base", "finetuned", 0.12, 0.1, 0.14, 0.001, corpus="edits", **contrast),
        comparison("base", "finetuned", 0.012, -0.003, 0.026, 0.3, corpus="handbook", items=120, units=120),
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001),
    )
    lines = verdict(found, ["mine"])
    assert [line.split(":")[0] for line in lines[:4]] == ["finetuned"] * 3 + ["finetuned, in short"]
    assert lines[0].startswith("finetuned: +5.0 points")
    assert lines[1] == (
        "finetuned: negation contrast, a loss, −0.120 [−0.140, −0.100] on edits (contrast, 116 originals, p 0.001)"
    )
    assert lines[2] == (
        "finetuned: retrieval, no difference that 120 questions can show on handbook: −1.2 points [−2.6, 0.3] "
        "(Success@5, p 0.30)"
    )
    assert lines[3] == "finetuned, in short: better on your questions; worse elsewhere: negation contrast (edits)"


def test_no_loss_elsewhere_is_said_as_what_was_not_seen():
    found = result(
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001),
        comparison("base", "finetuned", 0.0, -0.01, 0.01, 1.0, corpus="handbook"),
    )
    assert verdict(found, ["mine"])[2].endswith("better on your questions; no loss elsewhere that these tests can show")


def test_a_difference_that_no_digit_shows_is_no_change():
    found = result(comparison("base", "finetuned", -0.0001, -0.0002, -0.0001, 0.001, units=897))
    assert verdict(found, ["mine"])[0] == (
        "finetuned: unchanged on your questions, to the digits that are printed: 0.0 points [0.0, 0.0] (Success@5, "
        "897 test questions, p 0.001)"
    )
    still = result(comparison("base", "finetuned", 0.0, 0.0, 0.0, 1.0, units=897))
    assert verdict(still, ["mine"])[0] == (
        "finetuned: unchanged on your questions: 0.0 points [0.0, 0.0] (Success@5, 897 test questions, p 1.00)"
    )
    assert "not shown to be better" in verdict(found, ["mine"])[1]


def test_what_pre_training_adds_to_fine_tuning_is_said():
    found = result(
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001),
        comparison("base", "pretrained+finetuned", -0.06, -0.08, -0.04, 0.001),
        comparison("finetuned", "pretrained+finetuned", -0.01, -0.03, 0.01, 0.5),
    )
    assert verdict(found, ["mine"])[-2].startswith(
        "pretrained+finetuned against finetuned: no difference that 897 test questions in 300 units can show"
    )


def test_several_corpora_are_named_each():
    found = result(
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001, corpus="one"),
        comparison("base", "finetuned", 0.05, 0.03, 0.07, 0.001, corpus="two"),
    )
    lines = verdict(found, ["one", "two"])
    assert "on your questions (one)" in lines[0]
    assert "a loss" in lines[1]
    assert "(two)" in lines[1]
    assert lines[2].endswith("better on some of your corpora and worse on others")


def test_the_shift_is_said_where_it_is_there():
    moved = {"diagnostic": "shift", "quantity": "distance", "subset": "documents", "condition": "relative"}
    found = result(
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001),
        comparison("base", "finetuned", -0.11, -0.13, -0.1, 0.001, corpus="mine vs handbook", **moved),
    )
    assert verdict(found, ["mine"])[1] == (
        "finetuned: your documents lie farther from general ones (mine vs handbook): +0.110 [0.100, 0.130] mean pair "
        "distances (p 0.001)"
    )


def test_quantities_that_nobody_watches_are_left_out():
    found = result(
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001, quantity="R@5"),
        comparison("base", "finetuned", -0.05, -0.07, -0.03, 0.001, condition="whiten"),
        comparison("finetuned", "other", -0.05, -0.07, -0.03, 0.001),
    )
    assert changes(found, ["mine"]) == ()
    assert verdict(found, ["mine"]) == (CAVEAT.format(seed=0),)


def test_the_figures_are_those_of_a_plain_paired_mean():
    drawn = np.random.default_rng(3)
    base, tuned = (drawn.random(400) < share for share in (0.5, 0.7))
    (d,) = compare({"base": base * 1.0, "finetuned": tuned * 1.0}, np.arange(400), Draws(0, 500), of_shares=True)
    found = Comparison("retrieval", "mine", "all", "", "", "Success@5", pairs_in_family=1, **figures(d))
    (change,) = changes(result(found), ["mine"])
    assert change.difference == pytest.approx(np.mean(tuned.astype(float) - base))
    assert change.low < change.difference < change.high
    assert change.verdict == "gain"
    error = math.sqrt(np.var(tuned.astype(float) - base, ddof=1) / 400)
    assert (change.high - change.low) / 2 == pytest.approx(1.96 * error, rel=0.15)


def figures(d):
    return {name: value for name, value in vars(d).items() if name != "error"}


def test_numbers_as_people_write_them():
    assert [signed(v, True) for v in (0.061, -0.0004, 0.0, -0.012)] == ["+6.1", "0.0", "0.0", "−1.2"]
    assert signed(0.1234, False) == "+0.123"
    assert [p_value(p) for p in (None, 0.0001, 0.0123, 0.5)] == ["–", "<0.001", "0.012", "0.50"]


def test_a_change_against_another_variant_names_it():
    change = Change("b", "a", "similarity", "pairs", "spearman", 0.1, 0.05, 0.2, 0.01, 500, 400, own=False)
    assert told(change) == (
        "b against a: similarity as people see it, +0.100 [0.050, 0.200] on pairs (spearman, 500 pairs in 400 units, "
        "p 0.010)"
    )
