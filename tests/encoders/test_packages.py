"""LASER and the Universal Sentence Encoder through stand-ins of their packages."""

import numpy as np
import pytest

from embassay.errors import EncoderError, SourceError, SpecError
from embassay.resolve import load_encoder

LASER = """
import numpy as np

class LaserEncoderPipeline:
    def __init__(self, lang=None, model_dir=None, spm=True, laser=None):
        if model_dir == "nowhere":
            raise OSError("no network")
        self.shift = len(lang or "")

    def encode_sentences(self, sentences, normalize_embeddings=False):
        return np.array([[len(s), self.shift, 1.0] for s in sentences])
"""
USE = """
import pathlib

def resolve(handle):
    if "none" in handle:
        raise ValueError("no such model")
    return str(pathlib.Path(__file__).parent / "saved")

def load(folder):
    scale = float((pathlib.Path(folder) / "saved_model.pb").read_text())
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
    assert encoder.encode(["ab", "c"]).tolist() == [[2, 0, 1], [1, 0, 1]]
    other = load_encoder("laser:laser3,lang=wol_Latn")
    assert other.encode(["ab"])[0, 1] == len("wol_Latn")
    assert other.fingerprint != encoder.fingerprint == load_encoder("laser:laser2").fingerprint
    assert other.card.spec == "laser:laser3,lang=wol_Latn"


def test_laser_that_cannot_be_loaded_is_the_encoders_failure(packages):
    with pytest.raises(EncoderError, match="cannot be loaded: OSError: no network"):
        load_encoder("laser:laser2,folder=nowhere").encode(["a"])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("laser:laser1", "write laser:laser2 or laser:laser3"),
        ("laser:laser3", "say lang="),
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
