"""Finished runs and the items that they have in common."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.comparison.runs import common_tasks, read_run
from embassay.core.errors import SourceError
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


def only(task, run):
    return next(iter(task.scores[run].values()))


def test_a_run_has_its_scores_and_items(run_of):
    run = read_run(run_of("one"))
    (task,) = run.tasks.values()
    assert run.name == "one"
    assert list(task.scores) == ["hashing", "tfidf", "bm25", "random"]
    assert task.scores["tfidf"].origin.baseline and not task.scores["hashing"].origin.baseline
    assert task.items["q2"].texts["question"] == "How do I send a parcel back"


def test_the_same_corpus_has_all_items_in_common(run_of):
    runs = [read_run(run_of("old")), read_run(run_of("new", encoders=["hashing,dim=64"]))]
    # The content of both files is the same.
    (task,) = common_tasks(runs).tasks
    assert task.count == 6
    assert task.notes == ()


def test_items_are_matched_by_content_and_not_by_id_or_place(run_of):
    edited = [("x9", *LINES[4][1:]), ("q1", "When does it open on Monday", "hours"), *LINES[1:4]]
    runs = [read_run(run_of("old")), read_run(run_of("new", lines=edited))]
    common = common_tasks(runs)
    (task,) = common.tasks
    assert [item.texts["question"] for item in task.items] == [question for _, question, _ in LINES[1:5]]
    old, new = only(task, "old"), only(task, "new")
    np.testing.assert_array_equal(old.values["rank"], new.values["rank"])
    np.testing.assert_array_equal(old.unit, new.unit)
    assert task.left_out == {"old": 2, "new": 1}
    (note,) = common.notes
    assert "compared on 4 common items (left out: 2 of old, 1 of new)" in note
    assert all(run.tasks["retrieval", "docs"].fingerprint in note for run in runs)


def test_another_right_document_makes_another_item(run_of):
    relabelled = [(*LINES[0][:2], "payment"), *LINES[1:]]
    runs = [read_run(run_of("old")), read_run(run_of("new", lines=relabelled))]
    (task,) = common_tasks(runs).tasks
    assert task.count == 5


def test_units_that_one_run_joins_are_joined(run_of):
    # The unit of a question is its right document; that of q1 and q6 is the same in both runs.
    runs = [read_run(run_of("old")), read_run(run_of("new", lines=LINES[::-1][:5]))]
    (task,) = common_tasks(runs).tasks
    units = dict(zip([item.id for item in task.items], only(task, "new").unit.tolist(), strict=True))
    assert units["q2"] == units["q3"] != units["q4"]
    assert units["q4"] == units["q5"] != units["q6"]


def test_nothing_in_common_is_an_error_that_names_both_sides(run_of, tmp_path):
    old = run_of("old", lines=LINES[:3])
    new = run_of("new", lines=LINES[3:])
    with pytest.raises(SourceError, match=r"nothing in common: old has retrieval on docs; new has retrieval on docs"):
        common_tasks([read_run(old), read_run(new)])


def test_missing_scores_are_one_message(run_of):
    folder = run_of("one")
    (file,) = (folder / "scores").glob("retrieval.docs.hashing.*")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(SourceError, match=r"the item scores of hashing \(retrieval on docs\) are missing or damaged"):
        read_run(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"corpus": 1}', '{"corpus":"a","fingerprint":"b","items":[{"id":1}]}'])
def test_a_damaged_list_of_items_is_one_message(run_of, content):
    folder = run_of("one")
    (file,) = (folder / "items").glob("*.json")
    file.write_text(content)
    with pytest.raises(SourceError, match="the list of items is damaged"):
        read_run(folder)


def test_what_is_no_finished_run_is_refused(run_of, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="not a finished run"):
        read_run(tmp_path / "empty")
    folder = run_of("other")
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "state": "running"}))
    with pytest.raises(SourceError, match="did not finish"):
        read_run(folder)
    del record["settings"]
    (folder / "run.json").write_text(json.dumps(record))
    with pytest.raises(SourceError, match=r"run\.json is missing or damaged"):
        read_run(folder)


def test_without_texts_no_text_is_stored(run_of):
    folder = run_of("one", texts=False)
    (file,) = (folder / "items").glob("*.json")
    assert "parcel" not in file.read_text()
    assert read_run(folder).tasks["retrieval", "docs"].items["q2"].hash


def test_the_result_can_be_computed_again_from_the_scores(run_of):
    folder = run_of("one")
    run = read_run(folder)
    (task,) = common_tasks([run, read_run(folder, "again")]).tasks
    from embassay.core.types import Draws

    again = task.method.summarise(list(task.scores["one"].values()), Draws(0, 50))
    stored = {(r.encoder, r.metric, r.subset, r.condition): r.value for r in ea.read(folder).rows}
    for row in again.rows:
        value = stored[row.encoder, row.metric, row.subset, row.condition]
        assert row.value == (None if value is None else pytest.approx(value, rel=1e-9))
