"""LASER and the Universal Sentence Encoder through stand-ins of their packages."""

import logging

import numpy as np
import pytest

from embassay.core.errors import EncoderError, InputError, SourceError, SpecError
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_encoder

LASER = """
import logging
import sys
import numpy as np

logging.basicConfig(stream=sys.stdout, level=logging.INFO)

class LaserEncoderPipeline:
    def __init__(self, lang=None, model_dir=None, spm=True, laser=None):
        if model_dir and "nowhere" in model_dir:
            raise OSError("no network")
        self.shift = len(lang or "")

    def encode_sentences(self, sentences, normalize_embeddings=False):
        # Of LASER's length: coordinates of about 0.005.
        return 0.005 * np.array([[len(s), self.shift, 1.0] for s in sentences])
"""
USE = """
import pathlib

def resolve(handle):
    if "none" in handle:
        raise ValueError("no such model")
    if "@" in handle:
        raise ValueError(f"nonnumeric port: '{handle.split(':')[2].split('/')[0]}' in {handle}")
    return str(pathlib.Path(__file__).parent / "saved")

def load(folder):
    scale = float((pathlib.Path(folder) / "saved_model.pb").read_text())
    if scale == 1:
        return object()
    return lambda texts: [[scale * len(text), 1.0] for text in texts]
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Stand-ins of both packages, before whatever is installed."""
    import sys

    (tmp_path / "laser_encoders.py").write_text(LASER, encoding="utf-8")
    (tmp_path / "tensorflow_hub.py").write_text(USE, encoding="utf-8")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_text("2", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("laser_encoders", "tensorflow_hub"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("laser_encoders", "tensorflow_hub"):
        sys.modules.pop(name, None)


def test_laser(packages):
    encoder = load_encoder("laser:laser2")
    assert np.allclose(encoder.encode(["ab", "c"]), np.array([[2, 0, 1], [1, 0, 1]]) * 0.005)
    other = load_encoder("laser:laser3,lang=wol_Latn")
    assert np.allclose(other.encode(["ab"])[0, 1], 0.005 * len("wol_Latn"))
    assert other.fingerprint != encoder.fingerprint == load_encoder("laser:laser2").fingerprint
    assert other.card.spec == "laser:laser3,lang=wol_Latn"


def test_the_files_of_a_folder_say_what_laser_is(packages, tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        (folder / "laser2.pt").write_bytes(b"weights")
        (folder / f"{folder.name}.log").write_bytes(folder.name.encode())
    same = [load_encoder(f"laser:laser2,folder={folder}") for folder in folders]
    assert same[0].fingerprint == same[1].fingerprint != load_encoder("laser:laser2").fingerprint
    (folders[1] / "laser2.spm").write_bytes(b"pieces")
    assert load_encoder(f"laser:laser2,folder={folders[1]}").fingerprint != same[0].fingerprint


def test_importing_a_package_leaves_the_logging_as_it_was(packages, monkeypatch):
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    before = root.level
    load_encoder("laser:laser2").encode(["a"])
    assert root.handlers == []
    assert root.level == before


def test_laser_that_cannot_be_loaded_is_the_encoders_failure(packages):
    """Card and fingerprint do not load it."""
    folder = packages / "nowhere"
    with pytest.raises(SpecError, match=r"option 'folder': .*nowhere has no weights of LASER \(\*\.pt\); leave"):
        load_encoder(f"laser:laser2,folder={folder}")
    folder.mkdir()
    (folder / "laser2.pt").write_bytes(b"weights")
    encoder = load_encoder(f"laser:laser2,folder={folder}")
    assert encoder.fingerprint
    assert encoder.card.spec.startswith("laser:laser2")
    with pytest.raises(EncoderError, match="cannot be loaded: OSError: no network"):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("laser:laser1", "write laser:laser2 or laser:laser3"),
        ("laser:laser3", "set lang="),
        ("laser:laser2,lang=eng_Latn", "leave lang out"),
    ],
)
def test_laser_says_what_is_wrong(packages, spec, said):
    with pytest.raises(SpecError, match=said):
        load_encoder(spec)


def test_use_by_address_and_by_folder(packages):
    by_address = load_encoder("use:https://tfhub.dev/google/universal-sentence-encoder/4")
    by_folder = load_encoder(f"use:{packages / 'saved'}")
    assert by_address.name == "universal-sentence-encoder/4"
    assert by_address.encode(["abc", ""]).tolist() == [[6, 1], [0, 1]]
    assert by_address.encode(["abc"]).dtype == np.float32
    assert by_address.fingerprint == by_folder.fingerprint
    (packages / "saved" / "saved_model.pb").write_text("3", encoding="utf-8")
    assert load_encoder(f"use:{packages / 'saved'}").fingerprint != by_folder.fingerprint


def test_use_says_what_is_wrong(packages):
    with pytest.raises(SourceError, match="no such folder"):
        load_encoder("use:./nowhere-at-all")
    with pytest.raises(EncoderError, match="none cannot be loaded: ValueError: no such model"):
        _ = load_encoder("use:https://tfhub.dev/none").fingerprint


def test_what_is_secret_in_an_address_is_shown_nowhere(packages):
    address = "use:https://me:hidden-1@host/model/4?token=hidden-2"
    plan = prepare(RunRequest([address], ["opposites"], ["isotropy"], baselines=False))
    (entry,) = plan.entries
    assert entry.label == "https://host/model/4"
    assert entry.encoder.name == "model/4"
    assert entry.encoder.card.spec == "use:https://host/model/4"
    with pytest.raises(EncoderError) as failed:
        entry.encoder.encode(["a"])
    assert "https://host/model/4 cannot be loaded: ValueError: nonnumeric port: '…@host'" in str(failed.value)
    with pytest.raises(InputError) as refused:
        load_encoder(f"{address},dim=3")
    for said in (repr(plan), str(failed.value), str(refused.value)):
        assert "hidden" not in said


def test_a_model_that_takes_no_texts_is_said(packages):
    (packages / "saved" / "saved_model.pb").write_text("1", encoding="utf-8")
    with pytest.raises(EncoderError, match="saved cannot be called with texts: it was saved for TensorFlow 1"):
        load_encoder(f"use:{packages / 'saved'}").encode(["a"])


@pytest.mark.parametrize(
    ("package", "spec", "line"),
    [
        ("laser_encoders", "laser:laser2", "pip install laser_encoders"),
        (
            "tensorflow_hub",
            "use:https://tfhub.dev/google/universal-sentence-encoder/4",
            "pip install tensorflow tensorflow_hub",
        ),
    ],
)
def test_a_missing_package_has_its_line(package, spec, line, monkeypatch):
    from importlib.util import find_spec

    monkeypatch.setattr("importlib.util.find_spec", lambda name, *a: None if name == package else find_spec(name, *a))
    with pytest.raises(SpecError, match=f"needs the package {package}: {line}"):
        load_encoder(spec)


def test_a_package_that_does_not_import_is_the_encoders_failure(packages):
    (packages / "laser_encoders.py").write_text("raise ImportError('no fairseq')", encoding="utf-8")
    with pytest.raises(EncoderError, match="laser_encoders cannot be imported: ImportError: no fairseq"):
        load_encoder("laser:laser2").encode(["a"])
