"""``embassay doctor`` says what is installed and what is missing, without the names of users."""

from pathlib import Path

import pytest

from embassay.cli import doctor
from embassay.cli.app import exit_code_of


@pytest.fixture
def printed(capsys, monkeypatch, tmp_path):
    def run():
        assert exit_code_of(["doctor"]) == 0
        return capsys.readouterr().out

    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    return run


def test_it_fits_on_a_screen_and_names_the_versions_that_are_installed(printed):
    out = printed()
    assert len(out.splitlines()) <= 30
    for package in ("numpy", "scipy", "torch", "onnxruntime"):
        assert f"{package} {doctor.version(package)}" in out
    assert "cache: 0 " in out


def test_a_package_that_is_not_installed_is_missing(printed, monkeypatch):
    requirements = [
        "numpy>=2.1",
        "no-such-package>=1; extra == 'ann'",
        "numpy>=2.1; extra == 'ann'",
        "scipy[x]; a < 'b'",
    ]
    monkeypatch.setattr(doctor, "requires", lambda name: requirements)
    numbers = {name: doctor.version(name) for name in ("numpy", "scipy")}
    assert f"no-such-package missing, numpy {numbers['numpy']}, scipy {numbers['scipy']}\n" in printed()


def test_no_name_of_a_user_is_printed(printed, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/amelie"))
    monkeypatch.setenv("HF_HOME", "/home/amelie/models")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    out = printed()
    assert "amelie" not in out
    assert "sk-secret" not in out
    assert "HF_HOME        ~/models" in out
