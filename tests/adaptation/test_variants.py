"""The folder of an adaptation: what it takes up, what it refuses, what goes with --overwrite."""

import json

import pytest

from embassay.core.errors import OutputError, SpecError
from embassay.training.adaptation.folder import AdaptationFolder
from embassay.training.adaptation.options import AdaptOptions
from embassay.training.adaptation.variants import planned_stages
from embassay.training.settings import FINETUNE, PRETRAIN

ASKED = {"base": "aaaa", "corpora": [["mine", "bbbb"]], "split": {"by": "question", "test": 0.2}, "seed": 0}


def stages_of(**options):
    return planned_stages(AdaptOptions(**options))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["pretrained", "finetuned", "pretrained+finetuned"]),
        ({"pretrain": True, "finetune": True}, ["pretrained", "finetuned", "pretrained+finetuned"]),
        ({"pretrain": True}, ["pretrained"]),
        ({"finetune": True}, ["finetuned"]),
    ],
)
def test_the_variants_that_are_asked_for(given, names):
    assert [stage.variant for stage in stages_of(**given)] == names


def test_the_third_goes_on_from_the_pre_trained_one_with_the_settings_of_fine_tuning():
    first, second, third = stages_of(rate=1e-4, seed=3, loss="triplet", objective="tsdae")
    assert (first.start, second.start, third.start) == ("base", "base", "pretrained")
    assert third.settings == second.settings
    mining = {"loss": "triplet", "per_question": 2, "window": 50, "margin": 0.05}
    assert {**second.identity, "start": "pretrained"} == third.identity
    assert second.identity.items() >= mining.items()
    assert first.identity.items() >= {"kind": "pretrain", "objective": "tsdae"}.items()
    assert not first.identity.keys() & mining.keys()
    assert (first.settings.rate, first.settings.seed, first.settings.epochs) == (1e-4, 3, PRETRAIN.epochs)
    assert (second.settings.rate, second.settings.batch) == (1e-4, FINETUNE.batch)


def test_a_wrong_setting_is_named():
    with pytest.raises(SpecError, match="epochs"):
        stages_of(epochs=0)


def test_what_is_finished_is_taken_up_and_what_was_begun_is_not(tmp_path):
    stages = stages_of()
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    assert [folder.finished(stage) for stage in stages] == [None] * 3
    folder.finish(stages[0], {"steps": 7})
    again = AdaptationFolder(tmp_path / "a")
    again.open(ASKED)
    assert again.finished(stages[0]) == {"steps": 7}
    assert again.finished(stages[1]) is None


def test_the_device_makes_no_other_variant(tmp_path):
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    folder.finish(stages_of()[0], {"steps": 7})
    assert folder.finished(stages_of(device="cpu")[0]) == {"steps": 7}


def test_another_adaptation_is_refused_by_name_and_replaced_when_asked(tmp_path):
    stages = stages_of()
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    folder.finish(stages[0], {})
    model = folder.place(stages[0])
    for made in (model, tmp_path / "a" / "pretrained.training", tmp_path / "a" / "mine"):
        made.mkdir()
        (made / "file").write_text("x")
    other = {**ASKED, "base": "cccc", "seed": 1}
    with pytest.raises(OutputError, match=r"contains another adaptation \(different: base, seed\)"):
        folder.check(other, stages)
    assert (model / "file").exists()
    folder.open(other, overwrite=True)
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["adaptation.json", "mine"]
    assert folder.finished(stages[0]) is None


def test_files_of_ones_own_beside_a_model_are_never_removed(tmp_path):
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    model = folder.place(stages_of()[1])
    model.mkdir()
    (model / "model.safetensors").write_text("x")
    (model / "training.json").write_text('{"asked": {}, "files": ["model.safetensors"]}')
    folder.check({**ASKED, "seed": 1}, stages_of(), overwrite=True)
    (model / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"finetuned: contains files that are not of the model \(notes.txt\); move"):
        folder.check({**ASKED, "seed": 1}, stages_of(), overwrite=True)
    (tmp_path / "a" / "run").mkdir()
    (tmp_path / "a" / "run" / "notes.txt").write_text("mine")
    (model / "notes.txt").unlink()
    folder.open({**ASKED, "seed": 1}, overwrite=True)
    assert not model.exists()
    assert (tmp_path / "a" / "run" / "notes.txt").exists()


def test_a_variant_of_other_settings_is_refused(tmp_path):
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    stages = stages_of()
    folder.finish(stages[1], {})
    with pytest.raises(OutputError, match=r"variant 'finetuned' with other settings \(different: batch, loss\)"):
        folder.check(ASKED, stages_of(loss="triplet", batch=8))
    mining = {"window": 9, "margin": 0.1, "accumulate": 2, "warmup": 0.2, "patience": 4}
    with pytest.raises(OutputError, match=r"\(different: accumulate, margin, patience, warmup, window\)"):
        folder.check(ASKED, stages_of(**mining))
    folder.check(ASKED, stages_of(pretrain=True, objective="simcse"))  # none of that is there yet


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.txt").write_text("x")
    for overwrite in (False, True):
        with pytest.raises(OutputError, match="is not empty and was not written by embassay adapt"):
            AdaptationFolder(tmp_path / "a").check(ASKED, (), overwrite)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be used as a folder"):
        AdaptationFolder(tmp_path / "file").check(ASKED, ())
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["thesis.txt"]


def test_a_place_that_cannot_be_written_to_is_refused_and_nothing_is_left(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written to; choose another folder with -o"):
        AdaptationFolder(tmp_path / "file" / "a").check(ASKED, ())
    AdaptationFolder(tmp_path / "deep" / "a").check(ASKED, ())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_damaged_record_is_no_adaptation(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "adaptation.json").write_text("{")
    with pytest.raises(OutputError, match="is not empty and was not written by embassay adapt"):
        AdaptationFolder(tmp_path / "a").check(ASKED, ())


def test_the_record_reads_back(tmp_path):
    folder = AdaptationFolder(tmp_path / "a")
    folder.open(ASKED)
    assert json.loads((tmp_path / "a" / "adaptation.json").read_text())["asked"] == ASKED
