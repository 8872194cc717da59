"""Runs side by side: differences, flipped items, what does not match, and the files that are written."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import embassay as ea
from comparison.columns import column
from embassay.cli.app import exit_code_of
from embassay.comparison.differences import ColumnPair, differences
from embassay.comparison.runs import read_run
from embassay.comparison.views import sentence
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.result import between
from embassay.core.types import Draws

OLD, NEW = ["m=hashing,dim=512"], ["m=hashing,dim=8"]


def success(folder, label):
    (column,) = (one for one in read_run(folder).columns if one.is_headline and one.encoder == label)
    return column.value


def test_the_difference_is_that_of_the_stored_items(make_run):
    old, new = make_run("old", OLD), make_run("new", NEW)
    comparison = ea.compare([old, new])
    (difference,) = comparison.differences
    before, after = success(old, "m"), success(new, "m")
    assert difference.old == pytest.approx(before.mean())
    assert difference.new == pytest.approx(after.mean())
    assert difference.difference == pytest.approx((after - before).mean())
    assert len(difference.lost) == int((after < before).sum()) > 0
    assert len(difference.gained) == int((after > before).sum())
    assert difference.low < difference.difference < difference.high
    assert difference.outcome == "worse"
    assert difference.p <= 0.05


@pytest.mark.slow
def test_the_p_value_is_that_of_flipping_whole_units(make_run):
    """Compared with 20,000 flips of the unit sums, drawn here."""
    old, new = make_run("old", ["m=hashing,dim=128"]), make_run("new", ["m=hashing,dim=64"])
    (difference,) = ea.compare([old, new]).differences
    unit = next(one for one in read_run(new).columns if one.is_headline).unit
    sums = np.bincount(unit, weights=success(new, "m") - success(old, "m"))
    signs = np.random.default_rng(5).choice([-1, 1], size=(20_000, len(sums)))
    drawn = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9)
    assert difference.p == pytest.approx(drawn, abs=0.02)


def test_the_same_encoder_has_not_changed(make_run):
    comparison = ea.compare([make_run("old", OLD), make_run("new", OLD)])
    (difference,) = comparison.differences
    assert difference.outcome == "nothing changed"
    assert difference.p is None and difference.low is None
    assert difference.lost == difference.gained == {}


@pytest.mark.slow
def test_other_encoders_are_put_together(make_run):
    """Each is compared with the reference of the older run, as it is in one run with all of them."""
    one, two = make_run("one", ["a=hashing,dim=512"]), make_run("two", ["b=hashing,dim=64", "c=hashing,dim=16"])
    comparison = ea.compare([one, two])
    whole = ea.read(make_run("whole", ["a=hashing,dim=512", "b=hashing,dim=64", "c=hashing,dim=16"]))
    assert [difference.encoder for difference in comparison.differences] == ["a → b", "a → c"]
    for difference, label in zip(comparison.differences, "bc", strict=True):
        pair = between(whole.differences(whole.verdict("retrieval")), label, "a")
        assert difference.old == pytest.approx(success(one, "a").mean())
        assert difference.difference == pytest.approx(pair.difference)
        assert (len(difference.gained), len(difference.lost)) == (pair.won, pair.lost)


def test_a_renamed_encoder_is_paired_by_the_mapping(make_run):
    old, new = make_run("old", ["a=hashing,dim=512"]), make_run("new", ["b=hashing,dim=8"])
    comparison = ea.compare([old, new], {"a": "b"})
    (difference,) = comparison.differences
    assert difference.encoder == "a → b"
    assert difference.difference == pytest.approx((success(new, "b") - success(old, "a")).mean())
    with pytest.raises(UnknownNameError, match="label in --map 'x'"):
        ea.compare([old, new], {"x": "b"})
    with pytest.raises(SpecError, match="no run after old has 'a'"):
        ea.compare([old, new], {"a": "a"})


def test_only_common_items_are_compared_and_what_differs_is_said(make_run):
    old, new = make_run("old", OLD, questions=60), make_run("new", NEW, questions=80)
    comparison = ea.compare([old, new])
    (difference,) = comparison.differences
    assert difference.items == 60
    (note,) = [note for note in comparison.notes if "corpus differs" in note]
    assert "60 common items (left out: 0 of old, 20 of new)" in note
    assert len(re.findall(r"(old|new): [0-9a-f]{16}", note)) == 2


def test_dimension_and_spec_are_facts(make_run):
    facts = ea.compare([make_run("old", OLD), make_run("new", NEW)]).facts
    assert {"m: dim 512 → 8", "m: spec hashing,dim=512 → hashing,dim=8"} <= set(facts)


def test_flipped_items_have_their_texts_unless_they_are_not_wanted(make_run):
    runs = [make_run("old", OLD), make_run("new", NEW)]
    (difference,) = ea.compare(runs).differences
    assert all(difference.lost.values())
    one = dict(list(difference.lost.items())[:1])
    assert ", 1 was lost and 0 gained." in sentence(replace(difference, lost=one, gained={}))
    (difference,) = ea.compare(runs, texts=False).differences
    assert difference.lost and not any(difference.lost.values())
    silent = [make_run(f"{name}-silent", spec, texts=False) for name, spec in (("old", OLD), ("new", NEW))]
    (difference,) = ea.compare(silent).differences
    assert difference.lost and not any(difference.lost.values())


@pytest.mark.parametrize("suffix", [".md", ".json"])
def test_files(make_run, tmp_path, suffix, capsys):
    old, new = make_run("old", OLD), make_run("new", NEW)
    out = tmp_path / f"c{suffix}"
    assert exit_code_of(["compare", str(old), str(new), "-o", str(out)]) == 0
    text = out.read_text()
    if suffix == ".json":
        content = json.loads(text)
        assert content["differences"][0]["outcome"] == "worse"
    else:
        assert "m is worse" in text
    printed = capsys.readouterr()
    assert "m is worse" in printed.out
    assert f"comparison: {out}" in printed.err
    again = tmp_path / f"d{suffix}"
    assert exit_code_of(["compare", str(old), str(new), "-o", str(again)]) == 0
    assert again.read_bytes() == out.read_bytes()


def test_texts_of_a_corpus_cannot_break_out_of_the_files(make_run, tmp_path):
    old, new = make_run("old", OLD), make_run("new", NEW)
    for folder in (old, new):
        texts = json.loads((folder / "items.json").read_text())
        evil = dict.fromkeys(texts, "</script><b>x</b> | @someone `code`")
        (folder / "items.json").write_text(json.dumps(evil))
    from embassay.comparison.views import write_comparison

    write_comparison(ea.compare([old, new]), tmp_path / "c.md")
    markdown = (tmp_path / "c.md").read_text()
    assert "someone" in markdown
    assert "<b>" not in markdown and "@someone" not in markdown and "`code`" not in markdown


def test_the_interval_is_that_of_the_corrected_p():
    """Of seven pairs one has p = .03 alone; corrected for all seven it is no difference, and its interval says so."""
    losing, others = np.repeat([-1.0, 0.0], [6, 54]), np.repeat([1.0, -1.0, 0.0], [3, 3, 54])
    old = np.repeat([1.0, 0.0], [6, 54])

    def pair(name, gains, start):
        sides = (
            column(values, encoder=name, fingerprint=side) for side, values in (("o", start), ("n", start + gains))
        )
        return ColumnPair(*sides, name, "q", 0.02)

    alone = pair("losing", losing, old)
    family = [alone, *(pair(f"m{number}", others, np.repeat([0.0, 1.0], [3, 57])) for number in range(6))]
    (change,) = differences([alone], Draws(0, 500), {})
    assert change.p < 0.05 and change.high < 0
    change = differences(family, Draws(0, 500), {})[0]
    assert change.p > 0.05 and change.low < 0 <= change.high
