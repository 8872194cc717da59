"""Run folders: resumed, refused, never half-written, never somebody else's."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from embassay._version import __version__
from embassay.core.errors import OutputError
from embassay.core.types import ItemScores, Origin
from embassay.run.runs.folder import RunFolder, read_record

SETTINGS = {"encoders": {}, "corpora": {}, "diagnostics": {}, "seed": 0, "resamples": 9, "reference": ""}
ORIGIN = Origin("negated_antonyms", "", "c", "cf", "a/b c", "ef", "st:a")


def scores(origin=ORIGIN, **more):
    return ItemScores(
        origin,
        "cosine",
        item=np.array(["0", "1"]),
        unit=np.array([0, 1]),
        labels={"subset": np.array(["é:x–y", ""])},
        values={"cosine": np.array([[0.1, np.nan, 1.0], [0.25, 0.5, 0.75]])},
        scalars={"dim": 3.0},
        **more,
    )


@pytest.fixture
def folder(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.open(SETTINGS)
    return run


def test_scores_come_back_exactly(folder):
    folder.save(scores())
    found = folder.load(ORIGIN)
    assert found.digest == scores().digest
    assert found.similarity_function == "cosine"
    assert found.scalars == {"dim": 3.0}
    assert found.labels["subset"].tolist() == ["é:x–y", ""]
    assert found.unit_labels.shape == (0, 2)


def test_labels_of_units_and_what_an_encoder_is_derived_from_come_back(folder):
    origin = replace(ORIGIN, step="index", parts=("a/b",))
    stored = scores(origin, unit_labels=np.array([[0, 0], [0, 1], [1, 1]]))
    folder.save(stored)
    found = folder.load(origin)
    assert found.origin == origin
    assert found.unit_labels.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert found.digest == stored.digest != scores(origin).digest
    # The same label as another step is something else.
    assert folder.load(replace(origin, step="int8")) is None


@pytest.mark.parametrize("pairs", [np.array([[0, 0], [0, 1]]), np.array([0, 1]), np.zeros((2, 3), dtype=np.int64)])
def test_a_unit_without_a_label_is_refused(pairs):
    with pytest.raises(ValueError, match="'unit_labels' must be pairs of a unit and a label"):
        scores(unit_labels=pairs)


@pytest.mark.parametrize(
    "change", [{"encoder_fingerprint": "other"}, {"corpus_fingerprint": "other"}, {"options": "x"}, {"corpus": "d"}]
)
def test_scores_of_something_else_are_not_taken(folder, change):
    folder.save(scores())
    assert folder.load(replace(ORIGIN, **change)) is None


def test_scores_of_an_encoder_that_was_a_baseline_are_taken(folder):
    folder.save(scores())
    assert folder.load(replace(ORIGIN, baseline=True)).origin.baseline


def test_damaged_scores_are_made_anew(folder):
    folder.save(scores())
    (file,) = (folder.path / "scores").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert folder.load(ORIGIN) is None


def test_scores_hold_no_pickle(folder):
    folder.save(scores())
    (file,) = (folder.path / "scores").iterdir()
    with np.load(file, allow_pickle=False) as kept:
        assert all(kept[name].dtype != object for name in kept.files)


def test_the_same_settings_go_on_and_others_are_refused(folder):
    RunFolder(folder.path).open(SETTINGS)
    with pytest.raises(
        OutputError, match=r"different settings \(seed\); choose another folder with -o, or --overwrite"
    ):
        RunFolder(folder.path).open(SETTINGS | {"seed": 1})


def test_overwriting_removes_what_is_ours_and_nothing_else(folder):
    folder.save(scores())
    (folder.path / "notes.txt").write_text("mine")
    RunFolder(folder.path).open(SETTINGS | {"seed": 1}, overwrite=True)
    assert (folder.path / "notes.txt").read_text() == "mine"
    assert folder.load(ORIGIN) is None


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["report.html", "result.json", "scores"])
def test_a_file_of_our_names_is_not_ours_without_a_record(tmp_path, name, overwrite):
    (tmp_path / name).write_text("mine")
    (tmp_path / "run.json").write_text('{"a": 1}')
    with pytest.raises(OutputError, match="is not empty and not an Embassay run"):
        RunFolder(tmp_path).open(SETTINGS, overwrite)
    assert (tmp_path / name).read_text() == "mine"


def test_a_failed_encoder_that_was_mended_goes_on(tmp_path):
    def settings(fingerprint, seed=0):
        encoders = {"a": ("bow", "", "f1"), "b": ("python:m:f", "", fingerprint)}
        return SETTINGS | {"encoders": encoders, "seed": seed}

    run = RunFolder(tmp_path / "run")
    run.open(settings("broken"))
    run.write_record({**run.record(), "failures": [{"encoder": "b", "diagnostic": ""}], "embassay": __version__})
    with pytest.raises(OutputError, match=r"different settings \(seed\)"):
        RunFolder(run.path).open(settings("mended", seed=1))
    RunFolder(run.path).open(settings("mended"))
    assert run.record()["settings"]["encoders"]["b"][2] == "mended"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_is_not_a_run_is_never_used(tmp_path, overwrite):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match="is not empty and not an Embassay run"):
        RunFolder(tmp_path).open(SETTINGS, overwrite)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(OutputError, match="cannot be used as a folder"):
        RunFolder(tmp_path / "run").open(SETTINGS)


def test_a_place_that_cannot_be_written():
    with pytest.raises(OutputError, match="cannot be written"):
        RunFolder(Path("/proc/run")).open(SETTINGS)


@pytest.mark.parametrize("content", ["", "{"])
def test_a_folder_whose_record_is_lost_is_refused(folder, content):
    (folder.path / "run.json").write_text(content)
    with pytest.raises(OutputError, match="not an Embassay run; choose another folder with -o"):
        RunFolder(folder.path).open(SETTINGS)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"\x93NUMPY"])
def test_score_files_of_no_use_are_made_anew(folder, content):
    folder.save(scores())
    (file,) = (folder.path / "scores").iterdir()
    file.write_bytes(content)
    assert folder.load(ORIGIN) is None


def test_scores_under_another_name_are_not_counted_twice(folder):
    folder.save(scores())
    (file,) = (folder.path / "scores").iterdir()
    file.with_name("copy.npz").write_bytes(file.read_bytes())
    assert len(list(folder.stored())) == 1


def test_labels_of_any_kind_make_a_file_name(folder):
    origin = replace(ORIGIN, encoder="模" * 60, corpus="../../x")
    folder.save(scores(origin))
    assert folder.load(origin).digest == scores().digest
    assert {p.name for p in folder.path.iterdir()} == {"run.json", "scores"}


def test_files_keep_to_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        RunFolder(tmp_path / "private").open(SETTINGS)
    finally:
        os.umask(before)
    assert (tmp_path / "private" / "run.json").stat().st_mode & 0o777 == 0o600


def test_the_record_says_that_it_is_running(folder):
    assert json.loads((folder.path / "run.json").read_text())["state"] == "running"


def test_a_damaged_record_counts_as_none(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"seconds": null, "state": "done"}')
    assert read_record(path) == {}
