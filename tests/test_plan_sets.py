"""``-e @NAME``: the encoders of a set that can be had run, the others are named and left out."""

import pytest

import embassay as ea
from embassay import sets
from embassay.cli import main
from embassay.errors import UnknownNameError
from embassay.plan import prepare
from embassay.types import Runtime

SETS = {
    "mine": sets.EncoderSet(
        "mine",
        "Somebody (2020)",
        (
            sets.Member("Words", "bow"),
            sets.Member("Hashes", "hashing,dim=16", note="of no paper"),
            sets.Member("Far", "nobody/has-this-model", note="large"),
            sets.Member("File", "words:no-such-file.txt"),
            sets.Member("Lost", note="its authors kept it"),
        ),
    ),
    "other": sets.EncoderSet("other", "", (sets.Member("Words", "bow"), sets.Member("Random", "random,dim=8"))),
}


@pytest.fixture(autouse=True)
def _own_sets(monkeypatch):
    monkeypatch.setattr(sets, "_sets", lambda: SETS)


def planned(*encoders, **more):
    return prepare(list(encoders), ["opposites"], ["isotropy"], runtime=Runtime(), baselines=False, **more)


def test_those_that_can_be_had_are_there_and_the_others_are_named():
    pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")
    plan = planned("@mine", "random")
    assert [entry.label for entry in plan.entries] == ["Words", "Hashes", "random"]
    notes = "\n".join(plan.notes)
    assert "Hashes: of no paper" in notes
    assert "Far: left out of @mine: encoder 'nobody/has-this-model'" in notes
    assert "(large)" in notes
    assert "File: left out of @mine: no-such-file.txt" in notes
    assert "Lost: left out of @mine: its authors kept it" in notes


def test_what_two_sets_share_runs_once():
    assert [entry.label for entry in planned("@mine", "@other").entries] == ["Words", "Hashes", "Random"]


def test_a_label_that_a_set_has_too_is_refused():
    with pytest.raises(ea.InputError, match="two encoders have the label 'Words'"):
        planned("@mine", "Words=hashing")


def test_one_that_is_left_out_may_be_trusted():
    assert planned("@mine", trusted=["Far"]).entries
    with pytest.raises(UnknownNameError, match="label after --trust-remote-code 'Fa'; did you mean 'Far'"):
        planned("@mine", trusted=["Fa"])


def test_a_run_of_a_set_ends_well(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(
            ["run", "-e", "@other", "-c", "opposites", "-d", "isotropy", "--no-baselines", "-o", str(tmp_path / "run")]
        )
    assert ended.value.code == 0
    assert "Random" in capsys.readouterr().out


def test_the_sets_are_listed(capsys):
    with pytest.raises(SystemExit):
        main(["list", "sets"])
    said = " ".join(capsys.readouterr().out.split())
    assert "@mine Somebody (2020): 5 encoders Words: bow" in said
    assert "Lost: no spec (its authors kept it)" in said


def test_objects_are_encoders_of_a_run():
    class Model:
        model_name = "mine/model"

        def embed_documents(self, texts):
            return [[float(len(text)), 1.0, float(text.count("e"))] for text in texts]

        def embed_query(self, text):
            return self.embed_documents([text])[0]

    result = ea.assay([Model()], ["opposites"], ["isotropy"], baselines=False, resamples=10, cache=None)
    assert [record.name for record in result.encoders] == ["mine/model"]
    assert ea.encoder(Model(), name="mine").name == "mine"
    with pytest.raises(ea.InputError, match="write x=SPEC"):
        ea.encoder("bow", name="x")
