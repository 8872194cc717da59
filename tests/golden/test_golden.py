"""Nothing moves unnoticed: released corpora, help texts, lists, names and error messages are as in the golden files."""

from __future__ import annotations

import gzip
import json
import os

import pytest

from frozen.freeze import NEURAL, moved
from golden.capture import HERE, RELEASED, TEXTS, released_figures


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("EMBASSAY_DATA"), reason="EMBASSAY_DATA names no folder of released corpora")
@pytest.mark.parametrize("label", RELEASED)
def test_figures_of_released_corpora(label):
    wanted = json.loads(gzip.decompress((HERE / "released.json.gz").read_bytes()))[label]
    assert list(moved(wanted, released_figures(label), NEURAL))[:20] == []


# The messages about mistakes take half a minute.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "mistakes.txt" else []) for name in TEXTS]
)
def test_texts(name):
    assert TEXTS[name]() == (HERE / name).read_text(encoding="utf-8")
