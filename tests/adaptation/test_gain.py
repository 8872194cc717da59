"""The verdict on an adaptation: which changes it names, in which order, and how they are summed up."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparison.columns import column
from embassay.core.metric_key import MetricKey
from embassay.core.result import EncoderRecord, Result
from embassay.core.types import Draws
from embassay.diagnostics.metrics.metric import headline_metric, meaning_of, ranking_diagnostics
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.training.verdict import changes, verdict


class Planted:
    """The answers of base and variants on some corpora."""

    def __init__(self, **fingerprints):
        self.draws, self.fingerprints = Draws(0, 400), fingerprints
        self.comparisons, self.columns, self.names = [], [], ["base"]

    def put(self, values, corpus="mine"):
        """Add the (n,) answers of each encoder on a corpus."""
        names = list(values)
        self.names += [name for name in names if name not in self.names]
        unit = np.arange(len(values[names[0]]))
        key = MetricKey("Success@5", "all", "", "", "retrieval", corpus)
        for name, one in values.items():
            fingerprint = self.fingerprints.get(name, name)
            more = {"unit": unit, "of_shares": True, "ends": (0, 1), "margin": 0.02}
            self.columns.append(column(one, key=key, encoder=name, fingerprint=fingerprint, **more))
        roles = Roles(tuple(names), "base", all_pairs=True)
        rows = compare_means(key, values, Labels.of(unit), roles, self.draws, "retrieval", corpus, of_shares=True)
        self.comparisons += [replace(row, similarity_function="similarity") for row in rows]
        return self

    def answers(self, wins, losses, items, corpus="mine", variant="finetuned"):
        """Add answers of base and one variant: so many that only the variant has right, or only the base."""
        base, new = np.ones(items), np.ones(items)
        base[:wins] = 0
        new[wins : wins + losses] = 0
        return self.put({"base": base, variant: new}, corpus)

    @property
    def result(self):
        """The result of the run."""
        encoders = tuple(
            EncoderRecord(name, name=name, fingerprint=self.fingerprints.get(name, name), dim=8, baseline=False)
            for name in self.names
        )
        return Result(0, self.draws.resamples, encoders, comparisons=tuple(self.comparisons))

    def verdict(self, **evaluations):
        """The sentences on each variant; ``mine`` is the corpus of the domain."""
        return verdict(self.result, self.columns, ["mine"], evaluations or {"finetuned": []})


def test_the_domain_comes_first_then_the_rest_and_all_are_summed_up():
    planted = Planted().answers(20, 20, 3000, "xquad").answers(25, 80, 900, "edits").answers(2, 1, 38, "handbook")
    lines = planted.answers(80, 25, 900).verdict()["finetuned"]
    assert re.fullmatch(
        r"finetuned is better: .* on mine went from 91\.1% to 97\.2%, \+6\.1 points \[\+[34]\.\d, \+[78]\.\d\], "
        r"p <0\.001\. Of 900 items, 25 were lost and 80 gained\.",
        lines[0],
    )
    assert [" on xquad went " in lines[1], " on edits went " in lines[2], " on handbook went " in lines[3]] == [
        True
    ] * 3
    assert lines[4:] == [
        "finetuned, in short: better on mine, not worse on xquad, worse on edits, inconclusive on handbook"
    ]


def test_the_same_model_with_the_same_answers_needs_no_test():
    unchanged = Planted(base="f", finetuned="f").answers(0, 0, 8).verdict()["finetuned"]
    assert unchanged == [
        "finetuned: nothing changed on mine: all 8 items have the same scores.",
        "finetuned, in short: nothing changed on mine",
    ]
    assert Planted().answers(0, 0, 40).verdict()["finetuned"][0].startswith("finetuned: no difference is shown")


def test_too_few_units_and_nothing_defined_have_no_interval():
    few = Planted().answers(wins=4, losses=0, items=8)
    (change,) = changes(few.result, few.columns, "finetuned")
    assert (change.outcome, change.low, change.p) == ("inconclusive", None, None)
    (line, short) = few.verdict()["finetuned"]
    assert line.startswith("finetuned: no difference is shown: ")
    assert short == "finetuned, in short: inconclusive on mine"
    nothing = Planted().put({"base": np.full(40, np.nan), "finetuned": np.ones(40)})
    assert "is defined before and after" in nothing.verdict()["finetuned"][0]


def test_both_trainings_are_compared_with_fine_tuning_alone():
    rng = np.random.default_rng(1)
    base = rng.integers(2, size=400) * 1.0
    values = {"base": base, "finetuned": base, "pretrained+finetuned": np.ones(400)}
    lines = Planted().put(values).verdict(**{"finetuned": [], "pretrained+finetuned": []})["pretrained+finetuned"]
    assert lines[-1].startswith("finetuned → pretrained+finetuned is better: ")
    assert lines[-2] == "pretrained+finetuned, in short: better on mine"


def test_a_training_that_never_beat_its_start_is_named():
    planted = Planted().answers(80, 25, 900)
    assert "never beat" in " ".join(planted.verdict(finetuned=[[0, 0.5], [4, 0.4], [8, 0.5]])["finetuned"])
    assert "never beat" not in " ".join(planted.verdict(finetuned=[[0, 0.5], [4, 0.6]])["finetuned"])


def test_a_change_is_seen_from_the_variant_whoever_stands_first():
    planted = Planted().answers(wins=80, losses=25, items=900)
    (c,) = planted.result.comparisons
    assert (c.a, c.b) == ("base", "finetuned")
    turned = replace(c, a=c.b, b=c.a, difference=-c.difference, low=-c.high, high=-c.low)
    other = replace(planted.result, comparisons=(turned,))
    assert verdict(other, planted.columns, ["mine"], {"finetuned": []}) == planted.verdict()


def test_metrics_that_are_no_headline_are_left_out():
    planted = Planted().answers(wins=80, losses=25, items=900)
    others = [replace(c, metric="R@5") for c in planted.comparisons]
    others += [replace(c, condition="whiten") for c in planted.comparisons]
    others += [replace(c, a="finetuned", b="other") for c in planted.comparisons]
    assert changes(replace(planted.result, comparisons=tuple(others)), planted.columns, "finetuned") == []


def test_the_figures_are_those_of_a_plain_paired_mean():
    drawn = np.random.default_rng(3)
    base, tuned = (drawn.random(400) < share for share in (0.5, 0.7))
    planted = Planted().put({"base": base * 1.0, "finetuned": tuned * 1.0})
    (change,) = changes(planted.result, planted.columns, "finetuned")
    assert change.difference == pytest.approx(np.mean(tuned.astype(float) - base))
    assert change.low < change.difference < change.high
    assert change.outcome == "better"
    error = math.sqrt(np.var(tuned.astype(float) - base, ddof=1) / 400)
    assert (change.high - change.low) / 2 == pytest.approx(1.96 * error, rel=0.15)


def test_each_outcome_stands_in_the_documentation_and_each_margin():
    page = (Path(__file__).parents[2] / "docs" / "adapt.md").read_text(encoding="utf-8")
    table = page.split("## What the verdict means")[1]
    for phrase in ("worse", "better", "not worse", "inconclusive", "nothing changed"):
        assert f"| *{phrase}*" in table
    for name in ranking_diagnostics().values():
        meaning, headline = meaning_of(name), headline_metric(name)
        margin = headline.margin
        size = f"{100 * margin:g} points" if headline.is_share else f"{margin:g}"
        assert re.search(rf"\| {meaning.title} \| `{name}` \| .* \| {size} \|", table)
