"""The folder of a training: what it refuses, what it takes up again, what it leaves."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import OutputError, SourceError
from embassay.core.store.canonical import write_with
from embassay.training.options import UraeOptions
from embassay.training.stage import Stage, Trained, save_arrays
from embassay.training.text import read_sentences

RECIPE = UraeOptions(dim=3, rate=0.1)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("One sentence.\nAnother one.\n", encoding="utf-8")
    return read_sentences(path)


@pytest.fixture
def folder(tmp_path, text):
    """Name the folder with another recipe, another kind or other libraries."""

    def name(kind="words", overwrite=False, libraries=("numpy",), sentences=text, **changes):
        recipe = replace(RECIPE, **changes)
        return Stage(tmp_path / "model", kind, recipe, {"text": sentences.sha256}, libraries, overwrite)

    return name


def finish(folder):
    assert folder.open() is False
    folder.finish(lambda new: save_arrays(new, {"vectors": np.arange(3, dtype=np.float32)}), {"words": 1})


def names(folder):
    return sorted(path.name for path in folder.folder.iterdir())


def test_sentences_are_lines_without_blank_ones(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffFirst. \r\n\r\n  Second\u2028 line.\n\n".encode())
    found = read_sentences(path)
    assert found.sentences == ("First.", "Second\u2028 line.")
    assert found.lines == (1, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"good\nbad \xff\n", "line 2: not UTF-8"),
        (b" \n\n", "contains no sentence"),
        (b"", "contains no sentence"),
        (None, "no such file"),
    ],
)
def test_what_is_no_text_is_refused_with_its_line(content, message, tmp_path):
    path = tmp_path / "text.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        read_sentences(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    with pytest.raises(SourceError, match="cannot be read: Is a directory"):
        read_sentences(tmp_path)


def test_a_checkpoint_is_taken_up_by_the_same_training_only(folder):
    first = folder()
    first.open()
    assert first.resume() == (0, {})
    first.keep(2, {"a": np.ones(2)})
    again = folder(overwrite=True)
    assert again.open() is False
    done, arrays = again.resume()
    assert done == 2
    assert arrays["a"].tolist() == [1, 1]
    other = folder(libraries=("numpy", "scipy"))
    other.open()
    assert other.resume() == (0, {})


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", None])
def test_a_damaged_checkpoint_starts_again(damage, folder):
    folder().open()
    folder().keep(2, {"a": np.ones(500)})
    path = folder().work / "checkpoint.npz"
    path.write_bytes(path.read_bytes()[:-400] if damage is None else damage)
    assert folder().resume() == (0, {})


def test_a_finished_model_is_recognised(folder):
    finish(folder())
    assert names(folder()) == ["vectors.npy", "words.json"]
    assert not folder().work.exists()
    record = json.loads((folder().folder / "words.json").read_bytes())
    assert record["settings"] == asdict(RECIPE)
    assert record["files"] == ["vectors.npy"]
    assert record["words"] == 1
    assert folder().open() is True
    assert folder(libraries=("numpy", "scipy")).open() is True


def test_another_model_is_refused_and_named(folder, tmp_path):
    finish(folder())
    with pytest.raises(OutputError, match=r"other settings \(different: rate\).*--overwrite"):
        folder(rate=0.2).open()
    with pytest.raises(OutputError, match=r"\(different: kind\)"):
        folder(kind="urae").open()
    other = tmp_path / "other.txt"
    other.write_text("Other.")
    with pytest.raises(OutputError, match=r"\(different: text\)"):
        folder(sentences=read_sentences(other)).open()
    assert folder().open() is True


def test_an_unfinished_training_of_other_settings_is_refused_too(folder):
    folder().open()
    with pytest.raises(OutputError, match=r"model\.training: contains a training .* \(different: dim\)"):
        folder(dim=4).open()


def test_overwriting_replaces_the_old_model_when_the_new_one_is_complete(folder):
    finish(folder())
    other = folder(kind="urae", overwrite=True)
    assert other.open() is False
    assert names(other) == ["vectors.npy", "words.json"]
    other.finish(lambda new: save_arrays(new, {"fold": np.ones(1)}), {})
    assert names(other) == ["fold.npy", "urae.json"]


def test_a_link_to_a_model_stays_and_its_model_is_replaced(folder, tmp_path):
    finish(folder())
    (tmp_path / "model").rename(tmp_path / "target")
    (tmp_path / "model").symlink_to("target")
    other = folder(kind="urae", overwrite=True)
    other.open()
    other.finish(lambda new: save_arrays(new, {"fold": np.ones(1)}), {})
    assert names(other) == ["fold.npy", "urae.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "target", "text.txt"]
    assert (tmp_path / "model").is_symlink()


def test_a_kill_while_the_old_model_is_removed_leaves_no_folder_that_is_refused(folder, monkeypatch):
    finish(folder())
    other = folder(kind="urae", overwrite=True)
    other.open()
    other.keep(1, {"fold": np.ones(1)})

    def killed(removed, ignore_errors=False):
        """Remove the record before the other files, as may be."""
        for path in removed.glob("*.json"):
            path.unlink()
            raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("embassay.training.stage.shutil.rmtree", killed)
        other.finish(lambda new: save_arrays(new, {"fold": np.ones(1)}), {})
    other.open()
    assert other.resume()[0] == 1
    other.finish(lambda new: save_arrays(new, {"fold": np.ones(1)}), {})
    assert names(other) == ["fold.npy", "urae.json"]
    assert not other.work.exists()


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_a_folder_that_cannot_be_replaced_is_refused_before_the_training(out, text, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(OutputError, match=r": is (the current folder|not empty).*; choose another folder with -o"):
        Stage(Path(out), "words", RECIPE, {"text": text.sha256}).open()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "text.txt"]


def test_a_mounted_volume_is_refused_before_the_training(folder, monkeypatch):
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "model")
    with pytest.raises(OutputError, match="model: is the current folder, contains it or is a mounted volume"):
        folder().open()
    assert not folder().work.exists()


@pytest.mark.parametrize(
    ("change", "different"),
    [({"text": 3}, "text"), ({"settings": {"dim": 3}}, "epochs, .*, trees")],
)
def test_a_damaged_record_is_another_model(change, different, folder):
    finish(folder())
    record = folder().folder / "words.json"
    record.write_text(json.dumps({**json.loads(record.read_bytes()), **change}))
    with pytest.raises(OutputError, match=rf"other settings \(different: {different}\).*--overwrite"):
        folder().open()
    assert folder(overwrite=True).open() is False


@pytest.mark.parametrize("place", ["model", "model.training"])
def test_a_folder_of_other_things_is_never_touched(folder, tmp_path, place):
    (tmp_path / place).mkdir()
    (tmp_path / place / "thesis.txt").write_text("dear to somebody")
    for overwrite in (False, True):
        with pytest.raises(OutputError, match=f"{place}: is not empty and was not written by"):
            folder(overwrite=overwrite).open()
    assert [path.name for path in (tmp_path / place).iterdir()] == ["thesis.txt"]


def test_a_users_own_file_beside_a_model_is_never_removed(folder, tmp_path):
    finish(folder())
    (tmp_path / "model" / "thesis.txt").write_text("dear to somebody")
    assert folder().open() is True
    with pytest.raises(OutputError, match=r"model: contains files that are not of the model \(thesis\.txt\); move"):
        folder(kind="urae", overwrite=True).open()
    assert names(folder()) == ["thesis.txt", "vectors.npy", "words.json"]


def test_a_file_in_the_folders_place_is_refused(folder):
    folder().folder.write_text("a file")
    with pytest.raises(OutputError, match="cannot be used as a folder: Not a directory"):
        folder().open()


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    (tmp_path / "whole").write_bytes(b"before")
    with pytest.raises(OutputError, match="cannot be written: No space left"):
        write_with(tmp_path / "whole", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]
    assert (tmp_path / "whole").read_bytes() == b"before"


def test_the_line_can_be_pasted_into_a_shell(tmp_path):
    assert Trained(tmp_path, "words:model").line == "embassay run -e words:model"
    assert Trained(tmp_path, "words:my model").line == "embassay run -e 'words:my model'"
