"""``embassay bless``: what it keeps, its bytes, its anchor, and what it refuses to replace."""

import json
import re

import pytest

import embassay as ea
from comparison.choice_runs import Answers, choices
from embassay.comparison.baseline import bless
from embassay.comparison.runs import read_run
from embassay.core.errors import InputError


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_baseline_is_checked_as_the_run_itself(choice_run, tmp_path):
    old = choice_run("old", [Answers(range(180))])
    folder = bless(old, tmp_path / "baseline")
    new = choice_run("new", [Answers(range(120))])
    blessed, whole = ea.check(new, folder), ea.check(new, old)
    assert blessed.changes == whole.changes


def test_a_baseline_has_the_candidates_and_no_texts(choice_run, tmp_path):
    folder = bless(choice_run("old", [Answers(range(180))]), tmp_path / "baseline")
    everything = b"".join(contents(folder).values())
    for part in (b"paraphrase 1", str(tmp_path).encode(), b"seconds", b"platform"):
        assert part not in everything
    run = read_run(folder)
    assert {column.encoder for column in run.columns} == {row.encoder for row in run.result.rows} == {"model"}
    assert sorted(path.name for path in folder.iterdir()) == ["result.json", "run.json", "values.npz"]


def test_the_same_run_gives_the_same_bytes_and_replaces_a_baseline(choice_run, tmp_path):
    first = bless(choice_run("one", [Answers(range(180))]), tmp_path / "first")
    second = bless(choice_run("two", [Answers(range(180))]), tmp_path / "second")
    assert contents(first) == contents(second)
    bless(choice_run("three", [Answers(range(90), name="other")]), first)
    assert read_run(first).candidates == ["other"]


def test_anything_but_a_baseline_is_not_replaced(choice_run, tmp_path):
    run = choice_run("old", [Answers(range(180))])
    before = contents(run)
    with pytest.raises(InputError, match="not a baseline"):
        bless(run, run)
    other = tmp_path / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("keep me")
    with pytest.raises(InputError, match="not a baseline"):
        bless(run, other)
    with pytest.raises(InputError, match="cannot be used as a folder"):
        bless(run, other / "notes.txt")
    assert contents(run) == before
    assert (other / "notes.txt").read_text() == "keep me"
    assert not list(tmp_path.glob(".embassay-*"))


def test_a_run_that_failed_in_part_is_no_baseline(choice_run, tmp_path):
    run = choice_run("old", [Answers(range(180)), Answers((), fails=True, name="broken")], code=3)
    with pytest.raises(InputError, match="failed in part"):
        bless(run, tmp_path / "baseline")


def test_the_first_baseline_stays_as_an_anchor_and_checks_compare_with_it(choice_run, tmp_path):
    first = choice_run("first", [Answers(range(180))])
    folder = bless(first, tmp_path / "baseline")
    assert not (folder / "anchor").exists()
    alone = contents(folder)
    second = choice_run("second", [Answers(range(170))])
    bless(second, folder)
    bless(choice_run("third", [Answers(range(160))]), folder)
    assert contents(folder / "anchor") == alone

    found = ea.check(choice_run("new", [Answers(range(150))]), folder)
    of_step, of_anchor = found.changes
    assert [change.name for change in found.changes] == ["accuracy", "accuracy (anchor)"]
    assert (len(of_step.lost), len(of_anchor.lost)) == (10, 30)
    # Ten of ten lost have p = 1/1024, at two tests twice that; 30 of 30 even at half the level.
    assert (of_step.p, of_anchor.p) == pytest.approx((2**-10, 2 * 2 * 2**-30), rel=1e-6)
    assert of_anchor.outcome == "regression"
    day = json.loads((first / "run.json").read_text())["time"][:10]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", day)
    (said,) = [sentence for sentence in found.sentences if "since" in sentence]
    assert said == (
        f"regression: model, accuracy on mine since the anchor of {day}: 90.0% → 75.0%, 30 answers lost, 0 gained of "
        "200 (p < 0.001)."
    )
    # A baseline that has the values of the anchor is not tested twice.
    bless(first, folder)
    assert [change.name for change in ea.check(second, folder).changes] == ["accuracy"]
    bless(second, folder, new_anchor=True)
    assert not (folder / "anchor").exists()


def test_an_anchor_that_does_not_fit_any_more_is_noted_and_not_tested(make_run, tmp_path):
    folder = bless(make_run("first", ["m=hashing,dim=512"], names=("docs",)), tmp_path / "baseline")
    bless(make_run("second", ["m=hashing,dim=256"], names=("more",)), folder)
    found = ea.check(make_run("new", ["m=hashing,dim=128"], names=("more",)), folder)
    assert {change.since for change in found.changes} == {""}
    assert "retrieval on docs: only the anchor has it on these documents" in found.notes


def test_the_margin_of_bless_stays_where_questions_are_left_out(choice_run, tmp_path):
    folder = bless(choice_run("old", [Answers(range(180))]), tmp_path / "baseline")
    new = choice_run("new", [Answers(range(180))], choices(range(100)))
    (change,) = ea.check(new, folder).changes
    assert (change.items, change.margin) == (100, 0.07)
