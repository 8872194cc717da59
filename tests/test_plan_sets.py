"""``-e @NAME``: the encoders of a set that can be had run, the others are named and left out."""

import pytest

import embassay as ea
from embassay.core.errors import UnknownNameError
from embassay.run import presets as sets_module
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

SETS = {
    "mine": sets_module.EncoderSet(
        "mine",
        "Somebody (2020)",
        (
            sets_module.Member("Words", "bow"),
            sets_module.Member("Hashes", "hashing,dim=16", note="of no paper"),
            sets_module.Member("Far", "nobody/has-this-model", note="large"),
            sets_module.Member("File", "words:no-such-file.txt"),
            sets_module.Member("Lost", note="its authors kept it"),
        ),
    ),
    "other": sets_module.EncoderSet(
        "other", "", (sets_module.Member("Words", "bow"), sets_module.Member("Random", "random,dim=8"))
    ),
}


@pytest.fixture(autouse=True)
def _own_sets(monkeypatch):
    monkeypatch.setattr(sets_module, "sets", lambda: SETS)


def planned(*encoders, **more):
    return prepare(RunRequest(list(encoders), ["opposites"], ["isotropy"], baselines=False, **more))


def test_those_that_can_be_had_are_there_and_the_others_are_named():
    pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")
    plan = planned("@mine", "random")
    assert [entry.label for entry in plan.entries] == ["random", "Words", "Hashes"]
    notes = "\n".join(plan.notes)
    assert "Hashes: of no paper" in notes
    assert "Far: left out of @mine: encoder 'nobody/has-this-model'" in notes
    assert "(large)" in notes
    assert "File: left out of @mine: no-such-file.txt" in notes
    assert "Lost: left out of @mine: its authors kept it" in notes


def test_what_two_sets_share_runs_once():
    assert [entry.label for entry in planned("@mine", "@other").entries] == ["Words", "Hashes", "Random"]


def test_a_label_that_a_set_has_too_leaves_out_the_member():
    plan = planned("@mine", "Words=hashing")
    assert [entry.encoder.card.spec for entry in plan.entries if entry.label == "Words"] == ["hashing"]
    assert "Words: left out of @mine: the run already has this label" in plan.notes


def test_one_that_is_left_out_may_be_trusted():
    assert planned("@mine", trust_remote_code=["Far"]).entries
    with pytest.raises(UnknownNameError, match="label after --trust-remote-code 'Fa'; did you mean 'Far'"):
        planned("@mine", trust_remote_code=["Fa"])


@pytest.mark.parametrize("given", [("glove=words:./w.txt", "@shared"), ("@shared", "glove=words:./w.txt")])
def test_one_model_under_one_label_runs_once_whatever_it_is_called(given, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.txt").write_text("shop 1 2\nrain 3 4\n")
    monkeypatch.setitem(
        SETS, "shared", sets_module.EncoderSet("shared", "", (sets_module.Member("glove", f"words:{tmp_path}/w.txt"),))
    )
    plan = planned(*given)
    assert [(entry.label, entry.encoder.card.spec) for entry in plan.entries] == [("glove", "words:./w.txt")]
    assert plan.remarks == ("glove: left out of @shared: the run already has this label",)


def test_a_set_of_which_nothing_is_left_says_why(monkeypatch):
    members = (sets_module.Member("Lost", note="its authors kept it"),)
    monkeypatch.setitem(SETS, "gone", sets_module.EncoderSet("gone", "", members))
    with pytest.raises(ea.InputError, match=r"no encoder to assay \(Lost: left out of @gone: its authors kept it"):
        planned("@gone")
