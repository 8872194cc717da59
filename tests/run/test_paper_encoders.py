"""The config files with the encoders of each paper: every spec is valid, and labels are those of the paper's tables."""

from pathlib import Path

import pytest

from embassay.core.plugins import ENCODERS
from embassay.diagnostics.published import published
from embassay.run.config import read
from embassay.run.resolve import scheme_of
from embassay.run.specs import bind

FOLDER = Path(__file__).parents[2] / "examples" / "encoders"


def encoders(name):
    return read(FOLDER / f"{name}.toml").options()["encoders"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_spec_is_valid(path):
    specs = encoders(path.stem)
    assert len({spec.label for spec in specs}) == len(specs)
    for spec in specs:
        scheme, _ = scheme_of(spec.head)
        options = {name: value for name, value in spec.options.items() if name != "group"}
        assert set(bind(ENCODERS.module(scheme).create, options, spec.label)) == set(options)


def test_labels_are_those_of_the_published_tables():
    assert [spec.label for spec in encoders("semantoneg-all")] == [row[1] for row in published("semantoneg")["rows"]]
    (table,) = (each for each in published("heros")["exhibits"] if each["exhibit"] == "table 3")
    assert set(table["rows"]) < {spec.label for spec in encoders("heros")}
