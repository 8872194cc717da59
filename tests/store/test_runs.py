"""Run folders: resumed, refused, never half-written, never somebody else's."""

from dataclasses import replace

import numpy as np
import pytest

from embassay._version import __version__
from embassay.core.errors import OutputError
from embassay.core.types import ItemScores, Origin
from embassay.run.runs.folder import RunFolder

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


@pytest.mark.parametrize(
    "change", [{"encoder_fingerprint": "other"}, {"corpus_fingerprint": "other"}, {"options": "x"}, {"corpus": "d"}]
)
def test_scores_of_something_else_are_not_taken(folder, change):
    folder.save(scores())
    assert folder.load(replace(ORIGIN, **change)) is None


def test_damaged_scores_are_made_anew(folder):
    folder.save(scores())
    (file,) = (folder.path / "scores").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert folder.load(ORIGIN) is None


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
