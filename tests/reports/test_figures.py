"""The charts of a page: valid Vega-Lite specifications, with any label as text."""

import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

from embassay.api import assay
from embassay.reports.layouts import layouts
from embassay.reports.page import PICTURES
from embassay.reports.tables import scope_of
from tables import Labelled, hostile

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>&\"'</text>\n%{x}\\input{y}"


def charts_of(result):
    """Return the specifications of a result's charts."""
    pages = layouts(result)
    charts = []
    for verdict in result.verdicts:
        layout = pages[verdict.diagnostic]
        scope = scope_of(result, verdict, pages)
        for part in (layout.headline, *layout.parts, *layout.paper):
            if type(part) in PICTURES:
                pictures = PICTURES[type(part)](scope, part)
                charts += [{**spec, "width": 330, "background": "white"} for _, spec in pictures]
    return charts


def drawn(spec):
    """Return the root of a chart's SVG."""
    vl_convert = pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return ElementTree.fromstring(svg)  # noqa: S314 - made here


def test_every_chart_is_valid_and_is_drawn():
    from altair import load_schema

    schema = load_schema()
    corpora = ["opposites", "paraphrases", "edits", "vignettes", "handbook"]
    charts = charts_of(assay(["bow", "hashing"], corpora, resamples=50, cache=None))
    assert len(charts) > 5
    for spec in charts:
        jsonschema.validate(spec, schema)
        root = drawn(spec)
        assert [node for node in root.iter() if node.tag.endswith("}text")]
        assert float(root.get("width")) < 640


def test_hostile_labels_stay_text(tmp_path):
    result = assay([Labelled(EVIL), Labelled(f"../{EVIL}")], [hostile(f"../{EVIL}", EVIL)], cache=None)
    charts = charts_of(result)
    assert len(charts) == 2
    for chart in charts:
        root = drawn(chart)
        assert {node.tag.split("}")[1] for node in root.iter()} <= {
            "svg", "g", "rect", "path", "line", "text", "title", "defs", "clipPath", "tspan",
        }  # fmt: skip
