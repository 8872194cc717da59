"""Finished runs and the items that they have in common."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from comparison.columns import column
from embassay.comparison.runs import read_run
from embassay.core.columns import paired
from embassay.core.errors import InputError, SourceError
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

LINES = [
    ("q1", "When does the shop open", "hours"),
    ("q2", "How do I send a parcel back", "returns"),
    ("q3", "Who pays for the way back", "returns"),
    ("q4", "Which cards do you take", "payment"),
    ("q5", "Can I pay by bank transfer", "payment"),
    ("q6", "Is the shop open on Sunday", "hours"),
]
TEXTS = {"hours": "The shop is open from nine to six, not on Sunday.", "returns": "Send a parcel back. We pay for it."}
TEXTS["payment"] = "We take all cards and bank transfers."


@pytest.fixture
def run_of(tmp_path, finished):
    """Return a function that runs encoders on questions about three documents, and returns the folder of the run."""
    root, runs = finished

    def make(name, lines=LINES, encoders=("hashing",), **options):
        key = repr((lines, encoders, options))
        if key not in runs:
            folder = root / str(len(runs))
            (folder / "docs").mkdir(parents=True)
            for document, text in TEXTS.items():
                (folder / "docs" / f"{document}.txt").write_text(text)
            questions = folder / "questions.csv"
            questions.write_text("id,question,document\n" + "".join(f"{i},{q},{d}\n" for i, q, d in lines))
            options = {"out": folder / "run", "quiet": True, "resamples": 50, **options}
            source = f"docs={folder / 'docs'},questions={questions}"
            assert carry_out(RunRequest(list(encoders), [source], ["retrieval,k=1"], **options)) == 0
            runs[key] = folder / "run"
        # A test may change the files of its run.
        return Path(shutil.copytree(runs[key], tmp_path / name))

    return make


def headline(folder):
    return next(one for one in read_run(folder).columns if one.is_headline and one.is_candidate)


def questions_of(folder, column):
    texts = read_run(folder).texts
    return [texts[content] for content in column.content.tolist()]


def test_a_run_has_its_item_values_and_texts(run_of):
    run = read_run(run_of("one"))
    assert run.name == "one"
    assert [column.encoder for column in run.columns if column.is_headline] == ["hashing", "tfidf", "bm25", "random"]
    assert run.candidates == ["hashing"]
    assert "How do I send a parcel back" in run.texts.values()


def test_items_are_matched_by_content_and_not_by_id_or_place(run_of):
    edited = [("x9", *LINES[4][1:]), ("q1", "When does it open on Monday", "hours"), *LINES[1:4]]
    old, new = run_of("old"), run_of("new", lines=edited)
    before, after, _ = paired(headline(old), headline(new))
    assert questions_of(old, before) == questions_of(new, after) == [question for _, question, _ in LINES[1:5]]
    np.testing.assert_array_equal(before.unit, after.unit)
    np.testing.assert_array_equal(before.value, after.value)
    *_, (note,) = paired(headline(old), headline(new))
    assert "compared on 4 common items (left out: 2 of old, 1 of new)" in note
    assert headline(old).corpus_fingerprint in note and headline(new).corpus_fingerprint in note


def test_another_right_document_makes_another_item(run_of):
    relabelled = [(*LINES[0][:2], "payment"), *LINES[1:]]
    before, *_ = paired(headline(run_of("old")), headline(run_of("new", lines=relabelled)))
    assert len(before.item) == 5


def test_units_that_one_run_joins_are_joined(run_of):
    # The unit of a question is its right document; that of q1 and q6 is the same in both runs.
    before, *_ = paired(headline(run_of("old")), headline(run_of("new", lines=LINES[::-1][:5])))
    units = dict(zip(before.item.tolist(), before.unit.tolist(), strict=True))
    assert units["q2"] == units["q3"] != units["q4"]
    assert units["q4"] == units["q5"] != units["q6"]


def test_an_item_that_only_one_run_has_joins_units():
    split = column([1, 1, 0], unit=np.array([0, 1, 2]), corpus_fingerprint="other")
    joined = column([1, 1, 0, 0], unit=np.array([5, 5, 7, 5]))
    for old, new in ((split, joined), (joined, split)):
        assert [len(np.unique(one.unit)) for one in paired(old, new)[:2]] == [2, 2]


def test_an_item_that_repeats_is_matched_by_its_number():
    old = column([1, 0, 1], content=np.array(["a", "a", "b"]))
    new = column([0, 1], content=np.array(["b", "a"]), corpus_fingerprint="other")
    before, after, _ = paired(old, new)
    assert (before.value.tolist(), after.value.tolist()) == ([1, 1], [1, 0])
    assert before.item.tolist() == ["i0", "i2"]


def test_nothing_in_common_is_refused(run_of):
    old, new = run_of("old", lines=LINES[:3]), run_of("new", lines=LINES[3:])
    with pytest.raises(InputError, match="the corpora have no item in common"):
        paired(headline(old), headline(new))
    with pytest.raises(SourceError, match=r"nothing in common: old has retrieval on docs; new has retrieval on docs"):
        ea.compare([old, new])


def test_what_cannot_be_compared_is_refused():
    for what, message in (("version", r"version changed \(old: 1, new: 2\)"), ("options", r"options changed \(old: ")):
        with pytest.raises(InputError, match=message):
            paired(column([1]), column([1], **{what: "2"}))
    with pytest.raises(InputError, match="does not score the items of a corpus one by one"):
        paired(column([1], content=np.array([""])), column([1], corpus_fingerprint="other"))


def test_what_is_no_finished_run_is_refused(run_of, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="not a run folder"):
        read_run(tmp_path / "empty")
    folder = run_of("other")
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "state": "running"}))
    with pytest.raises(SourceError, match="did not finish"):
        read_run(folder)


@pytest.mark.parametrize(
    ("kind", "of_shares"),
    [("share", True), ("mean over folds", True), ("mean", False), ("correlation", False)],
)
def test_the_kind_of_a_metric_says_whether_its_values_are_shares(kind, of_shares):
    assert column([0.0, 1.0], kind=kind).of_shares == of_shares
