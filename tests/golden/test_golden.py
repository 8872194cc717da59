"""Nothing moves unnoticed: results, help texts, lists, names and error messages are those of the golden files."""

from __future__ import annotations

import gzip
import json
import os
import re

import pytest

from golden.capture import HERE, RELEASED, TEXTS, released_figures, result

CLOSE = 1e-5
HASHES = re.compile(r"\|(scores|pool):[0-9a-f]+")
"""The parts of a signature that hash scores to the last digit, in which processors differ."""


def differences(wanted, found, place=""):
    """Yield where two JSON values differ; numbers may by a hundred-thousandth."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in sorted(wanted.keys() | found.keys()):
            if name not in wanted or name not in found:
                yield f"{place}.{name}: only {'wanted' if name in wanted else 'found'}"
            else:
                yield from differences(wanted[name], found[name], f"{place}.{name}")
    elif isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            yield f"{place}: {len(found)} instead of {len(wanted)}"
        for number, pair in enumerate(zip(wanted, found, strict=False)):
            yield from differences(*pair, f"{place}[{number}]")
    elif is_number(wanted) and is_number(found):
        if wanted != pytest.approx(found, rel=CLOSE, abs=CLOSE):
            yield f"{place}: {found} instead of {wanted}"
    elif without_hashes(wanted) != without_hashes(found):
        yield f"{place}: {found!r} instead of {wanted!r}"


def without_hashes(value):
    return HASHES.sub("", value) if isinstance(value, str) else value


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@pytest.mark.slow
def test_results_of_the_built_in_corpora():
    wanted = json.loads(gzip.decompress((HERE / "builtin.json.gz").read_bytes()))
    assert list(differences(wanted, result()))[:20] == []


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("EMBASSAY_DATA"), reason="EMBASSAY_DATA names no folder of released corpora")
@pytest.mark.parametrize("label", RELEASED)
def test_figures_of_released_corpora(label):
    wanted = json.loads(gzip.decompress((HERE / "released.json.gz").read_bytes()))[label]
    assert list(differences(wanted, released_figures(label)))[:20] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    assert TEXTS[name]() == (HERE / name).read_text(encoding="utf-8")


def test_differences_are_found():
    wanted = {"a": [1.0, {"b": "x"}], "c": None}
    assert list(differences(wanted, {"a": [1.0 + 1e-9, {"b": "x"}], "c": None})) == []
    assert list(differences(wanted, {"a": [1.1, {"b": "y"}], "d": None})) == [
        ".a[0]: 1.1 instead of 1.0",
        ".a[1].b: 'y' instead of 'x'",
        ".c: only wanted",
        ".d: only found",
    ]
