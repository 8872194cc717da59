"""Settings and data for all tests: no network, a cache of their own, real data where it lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long a case takes says nothing here: machines are busy.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Keep the user's cache out of every test."""
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="session")
def data():
    """The folder of real data, named by EMBASSAY_DATA."""
    folder = os.environ.get("EMBASSAY_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EMBASSAY_DATA names no folder with the public data")
    return Path(folder)


@pytest.fixture(scope="session")
def semantoneg_file(data):
    """SemAntoNeg v1.0 as released."""
    return data / "semantoneg" / "SemAntoNeg_v1.0.json"


@pytest.fixture
def choice_file(tmp_path):
    """Write JSON lines of choice entries and return the path."""
    import json

    def write(*rows, name="mine.json", raw=()):
        path = tmp_path / name
        lines = [json.dumps(row) for row in rows]
        path.write_text("\n".join([*lines, *raw]) + "\n", encoding="utf-8")
        return path

    return write
