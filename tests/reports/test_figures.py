"""Charts as files: one Vega-Lite specification each, with any label as text."""

import json
import re
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.reports.tables import Table
from embassay.run.outputs.exhibits import exhibits
from tables import Labelled, hostile

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>&\"'</text>\n%{x}\\input{y}"


def written(folder, *run):
    """Return the specifications of a run's charts by the names of their files."""
    out = str(folder / "r")
    assert exit_code_of(["run", *run, "-o", out, "--no-cache", "--resamples", "50", "--quiet"]) == 0
    assert exit_code_of(["report", out, "--format", "vega"]) == 0
    return {
        path.name.removesuffix(".vl.json"): json.loads(path.read_text()) for path in (folder / "r" / "vega").iterdir()
    }


def drawn(spec):
    """Return the root of a chart's SVG."""
    vl_convert = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return ElementTree.fromstring(svg)  # noqa: S314 - made here


@pytest.fixture(scope="module")
def every_figure(tmp_path_factory):
    """The charts of a run on all built-in shapes that have some."""
    corpora = ("opposites", "paraphrases", "edits", "vignettes", "handbook")
    chosen = [part for corpus in corpora for part in ("-c", corpus)]
    return written(tmp_path_factory.mktemp("charts"), "-e", "bow", "-e", "hashing", *chosen)


def test_every_chart_is_valid_and_is_drawn(every_figure):
    from altair import load_schema

    schema = load_schema()
    for name, spec in every_figure.items():
        jsonschema.validate(spec, schema)
        root = drawn(spec)
        assert [node for node in root.iter() if node.tag.endswith("}text")], name
        assert float(root.get("width")) < 640, name


def test_hostile_labels_stay_text(tmp_path):
    result = assay([Labelled(EVIL), Labelled(f"../{EVIL}")], [hostile(f"../{EVIL}", EVIL)], cache=None)
    figures = [exhibit for exhibit in exhibits(result) if not isinstance(exhibit.content, Table)]
    assert len(figures) == 2
    for figure in figures:
        assert re.fullmatch(r"[A-Za-z0-9-]+", figure.name)
        root = drawn({**figure.content, "width": 330})
        assert {node.tag.split("}")[1] for node in root.iter()} <= {
            "svg", "g", "rect", "path", "line", "text", "title", "defs", "clipPath", "tspan",
        }  # fmt: skip
