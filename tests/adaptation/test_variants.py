"""The trainings of an adaptation: which, with what options, and when their folders are refused."""

import json

import pytest

from embassay.core.errors import OutputError
from embassay.training.adapt import AdaptRequest, planned_stages
from embassay.training.options import AdaptOptions, FinetuneOptions, SentenceRecipe
from embassay.training.stage import check_folder

MADE_FROM = {"base": "aaaa", "corpora": [["mine", "bbbb"]], "by": "question", "test": 0.2, "seed": 0}


def stages_of(out, overwrite=False, **options):
    return planned_stages(AdaptRequest("base", (), out, AdaptOptions(**options), overwrite=overwrite), MADE_FROM)


def finish(stage):
    stage.open()
    stage.finish(lambda new: (new / "model.safetensors").write_text("x"), {})


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["pretrained", "finetuned", "pretrained+finetuned"]),
        ({"pretrain": True, "finetune": True}, ["pretrained", "finetuned", "pretrained+finetuned"]),
        ({"pretrain": True}, ["pretrained"]),
        ({"finetune": True}, ["finetuned"]),
    ],
)
def test_the_variants_that_are_asked_for(given, names, tmp_path):
    assert list(stages_of(tmp_path, **given)) == names


def test_the_third_goes_on_from_the_pre_trained_one_with_the_options_of_fine_tuning(tmp_path):
    options = {"rate": 1e-4, "seed": 3, "warmup": 0.3}
    first, second, third = stages_of(tmp_path, **options, window=20).values()
    assert third.recipe == second.recipe
    assert first.identity["base"] == second.identity["base"] == "aaaa" != third.identity["base"]
    assert {**second.identity, "base": third.identity["base"]} == third.identity
    assert first.recipe == SentenceRecipe(rate=1e-4, seed=3, warmup=0.3)
    assert second.recipe == FinetuneOptions(rate=1e-4, seed=3, warmup=0.3, window=20)
    assert (first.recipe.epochs, second.recipe.epochs) == (1, 2)
    # What the pre-trained model is made with makes the third another one.
    (*_, other) = stages_of(tmp_path, **{**options, "warmup": 0.2}, window=20).values()
    assert other.identity["base"] != third.identity["base"]


def test_what_is_finished_is_taken_up_on_any_device_and_what_was_begun_is_not(tmp_path):
    first, second, _ = stages_of(tmp_path).values()
    finish(first)
    second.open()
    again = stages_of(tmp_path, device="cpu")
    assert [stage.is_finished() for stage in again.values()] == [True, False, False]
    assert [stage.is_finished() for stage in stages_of(tmp_path, overwrite=True).values()] == [False] * 3


def test_another_adaptation_is_refused_by_name(tmp_path):
    check_folder(tmp_path / "a", {}, MADE_FROM, overwrite=False)
    check_folder(tmp_path / "a", MADE_FROM, MADE_FROM, overwrite=False)
    other = {**MADE_FROM, "base": "cccc", "seed": 1}
    with pytest.raises(OutputError, match=r"\(different: base, seed\)"):
        check_folder(tmp_path / "a", other, MADE_FROM, overwrite=False)
    check_folder(tmp_path / "a", other, MADE_FROM, overwrite=True)


def test_a_variant_of_other_settings_is_refused(tmp_path):
    finish(stages_of(tmp_path)["finetuned"])
    with pytest.raises(OutputError, match=r"finetuned: contains a training .* \(different: batch, negatives\)"):
        stages_of(tmp_path, negatives=9, batch=8)["finetuned"].is_finished()
    mining = {"window": 9, "margin": 0.1, "warmup": 0.2}
    with pytest.raises(OutputError, match=r"\(different: margin, warmup, window\)"):
        stages_of(tmp_path, **mining)["finetuned"].is_finished()


def test_the_record_of_a_model_says_what_it_was_made_from(tmp_path):
    stage = stages_of(tmp_path)["pretrained"]
    finish(stage)
    record = json.loads((stage.folder / "training.json").read_text())
    assert record.items() >= {"kind": "pretraining", **MADE_FROM}.items()
    assert record["settings"]["rate"] == 3e-5
