"""Charts for print: a fixed width and font, and no colour that black and white would lose.

A chart of the HTML page is a Vega-Lite specification. For print, its colours become shades that differ in lightness,
lines also differ by their dashes and marks, and dots by their shapes. ``vl-convert`` turns it into SVG or PDF; its font
is Liberation Sans, which has the widths of Arial and Helvetica.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from embassay.reports.charts import DASHES, Point, Spec, repeated

WIDTH = 330
"""Width of the plot in points: with its axis a figure is about as wide as the text of a page."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
INK = "#000000"
BARS = ("#2f5f98", "#f6d595", "#cc8433", "#dfe9f4", "#7d6a5a", "#a9bdd4", "#ffffff", "#909090")
"""Fills of bars, which have black edges: neighbours differ in lightness."""
LINES = ("#1b3a5c", "#d95f02", "#4f93cc", "#555555", "#8c5a2b", "#000000", "#8f4a7d", "#888888")
"""Colours of lines and dots: none is too light to be seen on white."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
MARKS_OF_A_LINE = 8
"""About how many marks a line has."""
CONFIG = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 10,
        "titleFontSize": 10,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": "#dddddd",
    },
    "legend": {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 10,
        "titleFontSize": 10,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "symbolStrokeWidth": 1.5,
    },
    "text": {"font": FONT},
}


def svg(spec: Spec) -> bytes:
    """Return a chart of the page as an SVG file for print."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(for_print(spec), allowed_base_urls=[])
    return text.encode("utf-8")


def pdf(spec: Spec) -> bytes:
    """Return a chart of the page as a PDF file for print, with its fonts embedded."""
    import vl_convert

    content: bytes = vl_convert.vegalite_to_pdf(for_print(spec), allowed_base_urls=[])
    return content


def for_print(spec: Spec) -> Spec:
    """Return a chart of the page with the width, fonts and shades of print."""
    printed = copy.deepcopy(spec)
    # Nobody clicks on paper.
    printed.pop("params", None)
    printed["width"] = WIDTH
    printed["background"] = "white"
    printed["config"] = CONFIG
    layers = printed.get("layer", [printed])
    for layer in layers:
        _print_layer(layer)
    if "layer" not in printed and printed["mark"]["type"] == "line":
        printed = _with_marks(printed)
    return printed


def _print_layer(layer: Spec) -> None:
    """Remove tooltips and highlights from one layer, and replace colours that stand for names."""
    layer.pop("params", None)
    encoding = layer.get("encoding", {})
    encoding.pop("tooltip", None)
    if "param" in str(encoding.get("opacity", {}).get("condition", "")):
        del encoding["opacity"]
    colour = encoding.get("color", {})
    if "field" not in colour or colour["type"] == "quantitative":
        return
    mark = layer["mark"]
    names = colour.get("scale", {}).get("domain")
    if mark["type"] == "bar":
        colour["scale"] = _scale(BARS, names)
        mark.update({"stroke": INK, "strokeWidth": 0.7})
        return
    colour["scale"] = _scale(LINES, names)
    if mark["type"] == "circle":
        # A point has a shape; a circle has none.
        mark.update({"type": "point", "filled": True})
        encoding["shape"] = {**colour, "scale": _scale(SHAPES, names)}
    elif mark["type"] == "rule":
        encoding["strokeDash"] = {**colour, "scale": _scale(DASHES, names)}


def _with_marks(spec: Spec) -> Spec:
    """Return a chart of lines with a few marks on each line, which have another shape for each colour."""
    encoding = spec["encoding"]
    colour = encoding.get("color", {})
    names = colour.get("scale", {}).get("domain") or []
    if len(names) < 2:
        return spec
    marks = {
        "mark": {"type": "point", "filled": True, "size": 32, "opacity": 1},
        "data": {"values": _some_points(spec["data"]["values"])},
        "encoding": {
            "x": encoding["x"],
            "y": encoding["y"],
            "color": colour,
            "shape": {**colour, "scale": _scale(SHAPES, names)},
        },
    }
    lines = {"mark": spec["mark"], "encoding": encoding}
    rest = {name: value for name, value in spec.items() if name not in ("mark", "encoding")}
    return {**rest, "layer": [lines, marks]}


def _some_points(points: list[Point]) -> list[Point]:
    """Return about ``MARKS_OF_A_LINE`` points of each line, at other places for each line."""
    lines: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if point["y"] is None:
            continue
        # A chart of one encoder does not name it.
        lines.setdefault((point.get("encoder", ""), point["line"]), []).append(point)
    highest = 0.0
    for line in lines.values():
        highest = max(highest, *(point["y"] for point in line))
    shown = []
    for number, line in enumerate(lines.values()):
        # Marks on the axis would hide each other.
        visible = [point for point in line if point["y"] > highest / 50] or line
        step = max(1, len(visible) // MARKS_OF_A_LINE)
        first = number * step // len(lines)
        shown += visible[first::step]
    return shown


def _scale(styles: Sequence[object], names: Sequence[str] | None) -> Spec:
    """Return the scale that gives each name a style; the styles start again if there are too few."""
    if not names:
        return {"range": list(styles)}
    return {"domain": list(names), "range": repeated(styles, len(names))}
