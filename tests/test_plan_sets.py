"""``-e @NAME``: the encoders of a set that can be had run, the others are named and left out."""

import json

import pytest

import embassay as ea
from embassay.cli.app import main
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


def test_those_left_out_are_named_before_a_run_too(capsys):
    for command in (["look"], ["run", "--dry-run"]):
        with pytest.raises(SystemExit):
            main([*command, "-e", "@mine", "-c", "opposites"])
        said = capsys.readouterr().out
        assert said.count("Lost: left out of @mine: its authors kept it") == 1
        assert said.count("File: left out of @mine: no-such-file.txt") == 1


def test_those_left_out_are_warned_of_in_python():
    with pytest.warns(UserWarning) as told:
        ea.assay(["@mine"], ["opposites"], ["isotropy"], baselines=False, resamples=5, cache=None)
    said = [str(warning.message) for warning in told]
    assert "Lost: left out of @mine: its authors kept it" in said
    assert {warning.filename for warning in told} == {__file__}


def test_those_left_out_are_in_the_record_and_the_report(tmp_path, monkeypatch):
    members = (sets_module.Member("Words", "bow"), sets_module.Member("<b>Lost</b>", note="its authors kept it"))
    monkeypatch.setitem(SETS, "evil", sets_module.EncoderSet("evil", "", members))
    arguments = ["-e", "@evil", "-c", "opposites", "-d", "isotropy", "--no-baselines", "-o", str(tmp_path / "run")]
    with pytest.raises(SystemExit):
        main(["run", *arguments])
    note = "<b>Lost</b>: left out of @evil: its authors kept it"
    assert note in json.loads((tmp_path / "run" / "run.json").read_text())["notes"]
    first = (tmp_path / "run" / "report.html").read_text()
    assert first.count("&lt;b&gt;Lost&lt;/b&gt;: left out of @evil") == 1
    assert "<b>Lost" not in first
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path / "run"), "-o", str(tmp_path / "again.html")])
    assert (tmp_path / "again.html").read_text() == first


def test_a_set_of_which_nothing_is_left_says_why(monkeypatch):
    members = (sets_module.Member("Lost", note="its authors kept it"),)
    monkeypatch.setitem(SETS, "gone", sets_module.EncoderSet("gone", "", members))
    with pytest.raises(ea.InputError, match=r"no encoder to assay \(Lost: left out of @gone: its authors kept it"):
        planned("@gone")


def test_a_folder_of_other_encoders_names_those_that_left(tmp_path, capsys, monkeypatch):
    def ran(*members):
        monkeypatch.setitem(SETS, "grown", sets_module.EncoderSet("grown", "", members))
        with pytest.raises(SystemExit):
            main(["run", "-e", "@grown", "-c", "opposites", "-d", "isotropy", "--no-baselines", "-o", str(tmp_path)])
        return capsys.readouterr().err

    ran(sets_module.Member("Words", "bow"), sets_module.Member("Lost", note="not yet"))
    assert "(encoder Words)" in ran(sets_module.Member("Lost", "hashing"))


def test_one_wanted_encoder_is_no_set():
    pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")
    for name in ("@mine", "@nope"):
        with pytest.raises(ea.InputError, match=f"encoder '{name}': a set contains several encoders; name one of them"):
            ea.encoder(name)


def test_a_run_of_a_set_ends_well(tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(
            ["run", "-e", "@other", "-c", "opposites", "-d", "isotropy", "--no-baselines", "-o", str(tmp_path / "run")]
        )
    assert ended.value.code == 0
    assert [encoder.name for encoder in ea.read(tmp_path / "run").encoders] == ["Words", "Random"]


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

    result = ea.assay(Model(), ["opposites"], ["isotropy"], baselines=False, resamples=10, cache=None)
    assert [record.name for record in result.encoders] == ["mine/model"]
    assert ea.encoder(Model(), name="mine").name == "mine"
    with pytest.raises(ea.InputError, match="write NAME=SPEC"):
        ea.encoder("bow", name="x")


class Lengths:
    def encode(self, texts):
        return [[float(len(text)), 1.0] for text in texts]


def test_an_object_stands_alone_even_if_it_can_be_iterated():
    class Iterated(Lengths):
        def __iter__(self):
            return iter(["no encoder"])

    assert [entry.label for entry in prepared_of(Iterated()).entries] == ["Iterated"]
    assert [entry.label for entry in prepared_of(spec for spec in ("bow", "hashing")).entries] == ["bow", "hashing"]
    with pytest.raises(ea.InputError, match="int is not an encoder"):
        prepared_of(3)


def test_two_objects_of_one_class_are_told_how_to_name_one():
    with pytest.raises(ea.InputError, match=r"two encoders have the label 'Lengths'; rename one: ea\.encoder\(obj"):
        planned(Lengths(), Lengths())


def prepared_of(encoders):
    return prepare(RunRequest(encoders, ["opposites"], ["isotropy"], baselines=False))
