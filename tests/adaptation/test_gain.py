"""The verdict on an adaptation: each condition planted in item scores, each sentence as people read it."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparison.columns import column
from embassay.comparison.differences import Change
from embassay.core.metric_key import MetricKey
from embassay.core.result import EncoderRecord, Result, Row
from embassay.core.types import Draws
from embassay.diagnostics.metrics.metric import headline_metric, meaning_of, ranking_diagnostics
from embassay.reports.findings.templates import CAVEAT
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.training.verdict import PHRASES, changes, sentence, verdict

SHARES = {"retrieval": ("Success@5", "all", ""), "negated_antonyms": ("accuracy", "all", "")}
MEANS = {"minimal_pairs": ("contrast", "synonym-negation_main", "")}
MARGINS = {"minimal_pairs": 0.01}


class Planted:
    """The item scores of base and variants on some corpora.

    Parameters
    ----------
    fingerprints
        Of the encoders; each its own by default.
    """

    def __init__(self, resamples=400, **fingerprints):
        self.draws = Draws(0, resamples)
        self.fingerprints = fingerprints
        self.comparisons, self.columns, self.names = [], [], ["base"]

    def put(self, values, unit=None, diagnostic="retrieval", corpus="mine", tests=1):
        """Add the (n,) item values of each encoder on a corpus; p is corrected for so many equal tests."""
        names = list(values)
        self.names += [name for name in names if name not in self.names]
        unit = np.arange(len(values[names[0]])) if unit is None else unit
        labels = Labels.of(unit)
        metric, subset, condition = {**SHARES, **MEANS}[diagnostic]
        key = (diagnostic, corpus)
        of_shares = diagnostic in SHARES
        metric_key = MetricKey(metric, subset, "", condition, diagnostic, corpus)
        more = {"unit": unit, "of_shares": of_shares, "ends": (0, 1) if of_shares else (None, None)}
        for name, one in values.items():
            fingerprint, margin = self.fingerprints.get(name, name), MARGINS.get(diagnostic, 0.02)
            self.columns.append(
                column(one, key=metric_key, encoder=name, fingerprint=fingerprint, margin=margin, **more)
            )
        roles = Roles(tuple(names), "base" if "base" in names else None, all_pairs=True)
        for d in compare_means(metric_key, values, labels, roles, self.draws, *key, of_shares=of_shares):
            p = None if d.p_holm is None else min(1.0, tests * d.p_holm)
            self.comparisons.append(replace(d, p_holm=p, similarity_function="similarity"))
        return self

    def answers(self, wins, losses, items, per_unit=1, variant="finetuned", **more):
        """Add answers of base and one variant: so many that only the variant has right, or only the base."""
        base, new = np.ones(items), np.ones(items)
        base[:wins] = 0
        new[wins : wins + losses] = 0
        # What differs is spread over the units.
        order = np.random.default_rng(0).permutation(items)
        return self.put({"base": base[order], variant: new[order]}, np.arange(items) // per_unit, **more)

    @property
    def result(self):
        """The result of the run."""
        encoders = tuple(
            EncoderRecord(name, name, self.fingerprints.get(name, name), "", 8, 8, {}, False) for name in self.names
        )
        return Result(0, self.draws.resamples, encoders, comparisons=tuple(self.comparisons))


def said(planted, own=("mine",), **more):
    return verdict(planted.result, planted.columns, own, more.get("evaluations", {})).lines


def contrasts(shift, spread=0.02, items=116):
    """Item contrasts of base and variant whose mean differs by exactly ``shift``."""
    rng = np.random.default_rng(4)
    base, noise = 0.1 + 0.05 * rng.standard_normal(items), spread * rng.standard_normal(items)
    return {"base": base, "finetuned": base + shift + noise - noise.mean()}


# --- each outcome planted --------------------------------------------------------------------------------


def test_a_significant_gain_is_better():
    lines = said(Planted().answers(wins=80, losses=25, items=900, per_unit=3))
    assert re.fullmatch(
        r"finetuned on your questions: better, \+6\.1 points \[[3-4]\.\d, [7-8]\.\d\] "
        r"\(Success@5, 900 test questions in 300 units, p <0\.001\)",
        lines[0],
    )
    assert lines[1:] == ("finetuned, in short: better on your questions", CAVEAT.sentence(seed=0))


def test_a_significant_loss_beyond_the_margin_is_worse():
    lines = said(Planted().answers(wins=25, losses=80, items=900, variant="pretrained"))
    assert re.fullmatch(
        r"pretrained on your questions: worse, −6\.1 points \[−[78]\.\d, −[34]\.\d\] "
        r"\(Success@5, 900 test questions, p <0\.001\)",
        lines[0],
    )
    assert lines[1] == "pretrained, in short: worse on your questions"


def test_no_loss_is_claimed_only_where_a_loss_of_the_margin_is_ruled_out():
    lines = said(Planted().answers(wins=20, losses=20, items=3000, corpus="xquad"))
    assert re.fullmatch(
        r"finetuned on xquad \(retrieval\): not worse at a margin of 2 points, 0\.0 points \[−0\.\d, 0\.\d\] "
        r"\(Success@5, 3,000 questions, p 0\.\d\d\)",
        lines[0],
    )
    assert lines[1] == "finetuned, in short: elsewhere not worse on xquad (retrieval)"


def test_a_significant_loss_within_the_margin_is_worse_all_the_same():
    lines = said(Planted().answers(wins=10, losses=50, items=10_000, corpus="xquad"))
    assert re.match(r"finetuned on xquad \(retrieval\): worse, −0\.4 points \[−0\.[5-6], −0\.[1-3]\] ", lines[0])


@pytest.mark.parametrize(("wins", "losses"), [(12, 20), (40, 38), (18, 18)])
def test_what_the_data_cannot_show_is_inconclusive(wins, losses):
    (line, short, _) = said(Planted().answers(wins, losses, items=400))
    assert line.startswith("finetuned on your questions: inconclusive, ")
    assert line.endswith("; a loss of 2 points is not ruled out")
    assert short == "finetuned, in short: inconclusive on your questions"


def test_few_units_are_said():
    few = said(Planted().answers(wins=1, losses=1, items=66, per_unit=3, corpus="handbook"))[0]
    assert few.startswith("finetuned on handbook (retrieval): inconclusive, 0.0 points [")
    assert "66 questions in 22 units, few units, p " in few


def test_a_loss_of_some_points_is_never_called_none():
    # 0.1 said "no loss that these tests can show" of a true loss of 3 points in most runs.
    rng = np.random.default_rng(8)
    outcomes = []
    for _ in range(100):
        unit = np.repeat(np.arange(100), 3)
        gaps = rng.choice([-1, 0, 1], size=300, p=[0.08, 0.87, 0.05])
        planted = Planted(resamples=20).put(
            {"base": np.where(gaps < 0, 1.0, 0.0), "finetuned": np.where(gaps > 0, 1.0, 0.0)}, unit, corpus="general"
        )
        (change,) = changes(planted.result, planted.columns)
        outcomes.append(change.outcome)
    assert outcomes.count("not worse") <= 5
    assert outcomes.count("inconclusive") > 50


def test_the_same_model_with_the_same_answers_needs_no_test():
    unchanged = Planted(base="f", finetuned="f").answers(0, 0, 40, corpus="handbook")
    # Nothing lost of 40: 1 − 0.05^(1/40).
    assert said(unchanged)[0] == (
        "finetuned on handbook (retrieval): nothing changed (Success@5, same model and same value on every item); this "
        "many items rule out a loss of 7.2 points"
    )
    assert said(unchanged)[1].endswith("elsewhere nothing changed on handbook (retrieval)")
    other = said(Planted().answers(0, 0, 40, corpus="handbook"))[0]
    assert other.startswith("finetuned on handbook (retrieval): inconclusive, 0.0 points [")
    # Also under ten units.
    assert "nothing changed" in said(Planted(base="f", finetuned="f").answers(0, 0, 8))[0]


def test_too_few_units_and_nothing_defined_are_no_verdict():
    assert said(Planted().answers(wins=20, losses=1, items=80, per_unit=10))[0] == (
        "finetuned on your questions: nothing can be said (Success@5: fewer than 10 independent units)"
    )
    nothing = Planted().put({"base": np.full(40, np.nan), "finetuned": np.ones(40)})
    line, short, _ = said(nothing)
    assert line == "finetuned on your questions: nothing can be said (Success@5: undefined)"
    assert short == "finetuned, in short: nothing can be said on your questions"


def test_a_contrast_is_judged_by_its_own_margin_and_told_in_its_own_units():
    def of_edits(shift, **more):
        given = Planted().put(contrasts(shift, **more), diagnostic="minimal_pairs", corpus="edits")
        return said(given)[0]

    worse = of_edits(-0.045)
    assert worse.startswith("finetuned on edits (negation contrast): worse, −0.045 [−0.04")
    assert worse.endswith("(contrast, 116 originals, p <0.001)")
    unsure = of_edits(0.0, spread=0.1)
    assert re.search(r"inconclusive, 0\.000 .*; a loss of 0\.01 is not ruled out$", unsure)
    assert ": not worse at a margin of 0.01, 0.000 [" in of_edits(0.0)


def test_a_small_gain_is_better_and_called_small():
    planted = Planted().put(contrasts(0.002, spread=0.006), diagnostic="minimal_pairs", corpus="edits")
    line = said(planted)[0]
    assert line.startswith("finetuned on edits (negation contrast): better, +0.002 [0.001, 0.003]")
    assert line.endswith("; the gain is below the margin of 0.01")


def test_p_is_the_corrected_one():
    once = Planted().answers(wins=12, losses=3, items=900)
    assert said(once)[0].startswith("finetuned on your questions: better")
    corrected = Planted().answers(wins=12, losses=3, items=900, tests=3)
    assert said(corrected)[0].startswith("finetuned on your questions: not worse")


# --- the verdict as a whole ------------------------------------------------------------------------------


def test_a_change_is_told_from_the_variant_s_side_whoever_stands_first():
    planted = Planted().answers(wins=80, losses=25, items=900)
    (c,) = planted.result.comparisons
    assert (c.a, c.b) == ("base", "finetuned")
    turned = replace(c, a=c.b, b=c.a, difference=-c.difference, low=-c.high, high=-c.low)
    other = replace(planted.result, comparisons=(turned,))
    assert verdict(other, planted.columns, ["mine"], {}).lines == said(planted)


def test_the_domain_comes_first_then_the_rest_and_both_are_summed_up():
    planted = Planted()
    planted.put(contrasts(-0.12), diagnostic="minimal_pairs", corpus="edits")
    planted.answers(wins=20, losses=20, items=3000, corpus="xquad")
    planted.answers(wins=2, losses=1, items=38, corpus="handbook")
    planted.answers(wins=80, losses=25, items=900)
    lines = said(planted)
    assert [line.split(",")[0].split(" at ")[0] for line in lines[:4]] == [
        "finetuned on your questions: better",
        "finetuned on edits (negation contrast): worse",
        "finetuned on xquad (retrieval): not worse",
        "finetuned on handbook (retrieval): inconclusive",
    ]
    assert lines[4] == (
        "finetuned, in short: better on your questions; elsewhere worse on edits (negation contrast), not worse on "
        "xquad (retrieval), inconclusive on handbook (retrieval)"
    )


def test_several_corpora_are_named_each():
    planted = Planted().answers(80, 25, 900, corpus="one").answers(25, 80, 900, corpus="two")
    planted.answers(9, 1, 80, corpus="three", per_unit=10)
    lines = said(planted, own=("one", "two", "three"))
    assert lines[0].startswith("finetuned on your questions (one): better, +6.1 points [")
    assert lines[1].startswith("finetuned on your questions (two): worse, −6.1 points [")
    assert lines[3] == "finetuned, in short: worse on two, better on one, nothing can be said on three"
    alike = Planted().answers(80, 25, 900, corpus="one").answers(80, 25, 900, corpus="two")
    assert said(alike, own=("one", "two"))[2] == "finetuned, in short: better on your questions"


def test_what_pre_training_adds_to_fine_tuning_is_said():
    rng = np.random.default_rng(5)
    base, tuned, both = ((rng.random(900) < share) * 1.0 for share in (0.5, 0.8, 0.8))
    planted = Planted().put({"base": base, "finetuned": tuned, "pretrained+finetuned": both})
    assert said(planted)[-2].startswith("pretrained+finetuned against finetuned on your questions: inconclusive, ")


def test_a_training_that_made_nothing_better_is_told_by_the_verdict():
    planted = Planted().answers(wins=20, losses=20, items=400)
    looks = {"finetuned": [[0, 0.633], [5, 0.6], [10, 0.567]]}
    assert said(planted, evaluations=looks)[1] == (
        "finetuned: training never beat its starting model on the dev questions (Success@5 0.633 before, 0.600 at "
        "best); the weights of the best step are kept anyway"
    )
    for better in ({"finetuned": [[0, 0.6], [5, 0.633]]}, {"finetuned": [[0, 0.6]]}, {"finetuned": []}, {}):
        assert said(planted, evaluations=better) == said(planted)


def test_the_shift_is_said_where_it_is_there():
    planted = Planted().answers(wins=80, losses=25, items=900)
    place = {"diagnostic": "shift", "corpus": "mine vs handbook", "subset": "documents", "similarity_function": "l2"}
    of = {"items": 90, "units": 90, "undefined": 0, "reason": None, "signature": ""}
    before = Row(**place, encoder="base", condition="relative", metric="distance", value=0.7, low=0.6, high=0.8, **of)
    after = replace(before, encoder="finetuned", value=0.81)
    others = (replace(after, condition=""), replace(after, subset="queries", value=None, reason="no vector"))
    result = replace(planted.result, rows=(*planted.result.rows, before, after, *others))
    first, shift, *rest = verdict(result, planted.columns, ["mine"], {}).lines
    assert shift == (
        "finetuned: your documents lie 0.81 mean pair distances from the nearest general ones (mine vs handbook), "
        "0.70 before"
    )
    assert [first, *rest] == list(said(planted))


def test_metrics_that_are_no_headline_are_left_out():
    planted = Planted().answers(wins=80, losses=25, items=900)
    others = [replace(c, metric="R@5") for c in planted.comparisons]
    others += [replace(c, condition="whiten") for c in planted.comparisons]
    others += [replace(c, a="finetuned", b="other") for c in planted.comparisons]
    result = replace(planted.result, comparisons=tuple(others))
    assert changes(result, planted.columns) == []
    assert verdict(result, planted.columns, ["mine"], {}).lines == (CAVEAT.sentence(seed=0),)


def test_the_figures_are_those_of_a_plain_paired_mean():
    drawn = np.random.default_rng(3)
    base, tuned = (drawn.random(400) < share for share in (0.5, 0.7))
    planted = Planted(500).put({"base": base * 1.0, "finetuned": tuned * 1.0})
    (change,) = changes(planted.result, planted.columns)
    assert change.difference == pytest.approx(np.mean(tuned.astype(float) - base))
    assert change.low < change.difference < change.high
    assert change.outcome == "better"
    error = math.sqrt(np.var(tuned.astype(float) - base, ddof=1) / 400)
    assert (change.high - change.low) / 2 == pytest.approx(1.96 * error, rel=0.15)


def test_a_change_against_another_variant_names_it():
    figures = {"difference": 0.1, "low": 0.05, "high": 0.2, "p": 0.01, "items": 500, "units": 400, "margin": 0.02}
    change = Change("b", "similarity", "pairs", "spearman", "number", outcome="better", **figures)
    assert sentence(change, other="a") == (
        "b against a on pairs (correlation with human scores): better, +0.100 [0.050, 0.200] (spearman, 500 pairs in "
        "400 units, p 0.010)"
    )
    assert sentence(replace(change, p=None)).endswith(
        "nothing can be said (spearman: one unit has too large a share of the items for a test)"
    )


def test_each_outcome_stands_in_the_documentation_and_each_margin():
    page = (Path(__file__).parents[2] / "docs" / "adapt.md").read_text(encoding="utf-8")
    table = page.split("## What the verdict means")[1]
    for phrase in PHRASES:
        assert f"| *{phrase}*" in table
    for name in ranking_diagnostics().values():
        meaning, headline = meaning_of(name), headline_metric(name)
        margin = headline.margin
        size = f"{100 * margin:g} points" if headline.is_share else f"{margin:g}"
        assert re.search(rf"\| {meaning.title} \| `{name}` \| .* \| {size} \|", table)
