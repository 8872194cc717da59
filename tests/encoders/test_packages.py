"""LASER and the Universal Sentence Encoder through stand-ins of their packages."""

import numpy as np
import pytest

from embassay.core.errors import EncoderError, SourceError, SpecError
from embassay.run.resolve import load_encoder

LASER = """
import numpy as np

class LaserEncoderPipeline:
    def __init__(self, lang=None, model_dir=None, spm=True, laser=None):
        if lang == "nowhere":
            raise OSError("no network")
        self.shift = len(lang or "")

    def encode_sentences(self, sentences, normalize_embeddings=False):
        # Of LASER's length: coordinates of about 0.005.
        return 0.005 * np.array([[len(s), self.shift, 1.0] for s in sentences])
"""
USE = """
import pathlib

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
    (tmp_path / "laser_encoders-1.dist-info").mkdir()
    (tmp_path / "laser_encoders-1.dist-info" / "METADATA").write_text(
        "Name: laser_encoders\nVersion: 1", encoding="utf-8"
    )
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


@pytest.mark.parametrize("spec", ["laser:laser1", "laser:laser3", "laser:laser2,lang=eng_Latn"])
def test_laser_says_what_is_wrong(packages, spec):
    with pytest.raises(SpecError, match="write laser:laser2, or laser:laser3,lang="):
        load_encoder(spec)


def test_use(packages):
    encoder = load_encoder(f"use:{packages / 'saved'}")
    assert encoder.name == "saved"
    assert encoder.encode(["abc", ""]).tolist() == [[6, 1], [0, 1]]
    assert encoder.encode(["abc"]).dtype == np.float32
    fingerprint = encoder.fingerprint
    (packages / "saved" / "saved_model.pb").write_text("3", encoding="utf-8")
    assert load_encoder(f"use:{packages / 'saved'}").fingerprint != fingerprint
    with pytest.raises(SourceError, match="no such folder"):
        load_encoder("use:./nowhere-at-all")


def test_an_address_on_tfhub_is_given_to_the_package(packages):
    (packages / "tensorflow_hub.py").write_text("load = lambda place: lambda texts: [[len(place)] for _ in texts]")
    address = "https://tfhub.dev/google/universal-sentence-encoder/4"
    encoder = load_encoder(f"use:{address}")
    assert (encoder.card.spec, encoder.name) == (f"use:{address}", "google/universal-sentence-encoder/4")
    assert encoder.fingerprint == load_encoder(f"use:{address}").fingerprint
    assert encoder.encode(["a"]).tolist() == [[len(address)]]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("laser:laser3,lang=nowhere", "cannot be loaded: OSError: no network"),
        ("use:{saved}", "TypeError: 'object' object is not callable"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_the_encoders_failure(packages, spec, message):
    """Card and fingerprint do not load it."""
    (packages / "saved" / "saved_model.pb").write_text("1", encoding="utf-8")
    encoder = load_encoder(spec.format(saved=packages / "saved"))
    assert encoder.fingerprint
    with pytest.raises(EncoderError, match=message):
        encoder.encode(["a"])


@pytest.mark.parametrize(
    ("package", "spec", "line"),
    [
        ("laser_encoders", "laser:laser2", "pip install laser_encoders"),
        ("tensorflow_hub", "use:/", "pip install tensorflow tensorflow_hub"),
    ],
)
def test_a_missing_package_has_its_line(package, spec, line, monkeypatch):
    from importlib.util import find_spec

    monkeypatch.setattr("importlib.util.find_spec", lambda name, *a: None if name == package else find_spec(name, *a))
    with pytest.raises(SpecError, match=f"needs the package {package}: {line}"):
        load_encoder(spec)
