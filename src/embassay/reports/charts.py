"""Turn parts of a page's layout into Vega-Lite specifications. Nothing is computed here.

The specifications are written as JSON. A library that builds them, such as altair, takes longer to import and to build
them than everything else on the page takes together; the tests have altair check them against the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from embassay.core.layout import (
    Column,
    Curves,
    Format,
    GroupedBars,
    Histograms,
    IntervalChart,
)
from embassay.reports.tables import Scope

BLUE, ORANGE, VERMILION, GREY, GREEN = "#0072B2", "#E69F00", "#D55E00", "#8a8a8a", "#007a5a"
RANGE = ("value", "low", "high")
"""The fields of a value with its interval."""
LINES = (BLUE, VERMILION, GREEN, ORANGE, "#8f4a7d", "#3a8fb7", GREY, "#5b4b00")
"""The colours of lines; with more lines than these, those of Vega's scheme of 20."""
LINE = 28
"""Height of the line of one encoder, in pixels."""
MANY_LINES = 15
"""With more lines than this, the axis of values is above them."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 3], [1, 3])
"""Patterns of lines as pixels drawn and left out, in turn; the first is unbroken."""
LONG_NAME = 30
"""Characters of a name of which a legend has no room for several in one line."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
KINDS = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}
LABEL = 24
"""Characters of an encoder's name on an axis: settings, at its end, tell candidates apart."""
FONT = {"labelFontSize": 12, "titleFontSize": 12}
Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one: JSON."""
Pictures = Iterator[tuple[str, Spec]]
"""The charts of a part of a page, none or several, each with the encoder that it is of; empty where it is of all."""
Point = dict[str, Any]
"""One item of a chart's data: a value for each field that the chart draws."""
HIGH = {"field": "high"}
"""The channel of the upper end of an interval; it has the scale of the lower one."""
BY_BASELINE = {"condition": {"test": "datum.baseline", "value": GREY}, "value": BLUE}
ENCODER_LEGEND = {"orient": "bottom", "title": None, "columns": 4, "labelLimit": 250, "symbolLimit": 0}
"""The legend of encoders, which shows all of them."""


def interval_chart(scope: Scope, part: IntervalChart) -> Pictures:
    """Draw a dot and its interval for each encoder, and chance as a dashed line.

    Of the headline the best set is shaded, and the best lexical baseline is a line.
    """
    values = estimates(scope, part.column)
    if not values:
        return
    axis_format, fine_format = _formats(part.column.format)
    scale: Spec = {"zero": False}
    if part.column.format == "percent" and all(value["value"] >= 0 for value in values):
        scale = {"domain": [0, 1]}
    shared = {
        "y": _encoder_axis(scope),
        "color": BY_BASELINE,
        "tooltip": _tooltip(encoder="", **dict.fromkeys(RANGE, fine_format)),
    }
    # The axis of many lines is where the first of them is.
    axis = {"format": axis_format, "orient": "top" if len(values) > MANY_LINES else "bottom"}
    x = _field("value:Q", title=part.column.heading, axis=axis, scale=scale)
    layers = [_layer("circle", {**shared, "x": x}, size=90, opacity=1)]
    if any(point["low"] is not None for point in values):
        ends = {"x": _field("low:Q", title=part.column.heading), "x2": HIGH}
        layers.insert(0, _layer("rule", {**shared, **ends}, strokeWidth=2))
    if part.column.key == scope.headline.key:
        layers = [*_best_set(scope), *_baseline(scope, values), *layers]
    if part.chance is not None:
        chance = {"values": [{"chance": part.chance}]}
        x = _field("chance:Q")
        layers.append({"data": chance, **_layer("rule", {"x": x}, strokeDash=[4, 4], color=VERMILION)})
        word = {"text": "chance", "align": "left", "dx": 4, "dy": -6, "color": "#a34400", "fontSize": 11}
        layers.append({"data": chance, **_layer("text", {"x": x, "y": {"value": 0}}, **word)})
    yield "", _finished({"layer": layers}, values, part.title, LINE * len(values))


def _best_set(scope: Scope) -> Iterator[Spec]:
    """Yield the layer that shades the lines of what may be the best."""
    best = [{"encoder": name} for name in scope.verdict.best_set]
    if best:
        encoding = {"y": _encoder_axis(scope), "x": {"value": 0}, "x2": {"value": "width"}}
        yield {"data": {"values": best}, **_layer("rect", encoding, color=BLUE, opacity=0.12)}


def _baseline(scope: Scope, values: Sequence[Point]) -> Iterator[Spec]:
    """Yield the line of the lexical baseline."""
    name = scope.verdict.baseline
    for point in values:
        if point["encoder"] == name:
            line = _layer("rule", {"x": _field("value:Q")}, color=GREY, strokeDash=[2, 3])
            yield {"data": {"values": [{"value": point["value"]}]}, **line}


def grouped_bars(scope: Scope, part: GroupedBars) -> Pictures:
    """Draw, for each subset, one bar with its interval for each encoder."""
    values: list[Point] = []
    for subset, label in part.parts:
        values += [{**value, "subset": label} for value in estimates(scope, Column("", part.metric, subset))]
    if not values:
        return
    labels, encoders = _distinct(values, "subset"), _distinct(values, "encoder")
    axis_format, fine_format = _formats(part.format)
    shared = {
        "y": _field("subset:N", title=None, sort=labels, axis={"labelLimit": 160}),
        "yOffset": _field("encoder:N", sort=encoders),
        "tooltip": _tooltip(encoder="", subset="", **dict.fromkeys(RANGE, fine_format)),
    }
    x = _field("value:Q", title=part.metric, axis={"format": axis_format})
    colours = _colours("encoder:N", list(scope.encoders), LINES, ENCODER_LEGEND)
    bars = _layer("bar", {**shared, "x": x, "color": colours})
    rules = _layer("rule", {**shared, "x": _field("low:Q"), "x2": HIGH}, color="#222")
    height = len(labels) * (14 * len(encoders) + 12)
    yield "", _finished({"layer": [bars, rules]}, values, part.title, height)


def curves(scope: Scope, part: Curves) -> Pictures:
    """Draw lines over a common axis, in one chart or, with ``split``, in one chart for each candidate."""
    data = scope.series(part.series, "curve")
    if not data:
        return
    x = _field("x:Q", title=data["x"], scale={"nice": False, "zero": False})
    y = _field("y:Q", title=data["y"], scale={"zero": True})
    # A line may have its own positions on the x axis.
    lines = [
        {"encoder": line["encoder"], "line": line["line"], "x": line.get("at", data["at"]), "y": line["y"]}
        for line in data["lines"]
    ]
    if not part.split:
        # Lines of no encoder are coloured by their names.
        encoders = list(scope.encoders) if any(line["encoder"] for line in lines) else []
        yield "", _lines(part.title, lines, x, y, encoders)
        return
    for encoder in _encoders_with_chart(scope):
        lines_of_encoder = [line for line in lines if line["encoder"] == encoder]
        if lines_of_encoder:
            yield encoder, _lines(f"{part.title}, {encoder}", lines_of_encoder, x, y, [])


def _lines(title: str, lines: list[Point], x: Spec, y: Spec, encoders: list[str]) -> Spec:
    """Draw lines.

    Parameters
    ----------
    lines
        Each with ``encoder``, ``line`` (its name), and lists ``x`` and ``y``.
    encoders
        All encoders, for lines that are coloured by encoder; else they are coloured by name.
    """
    names = _distinct(lines, "line")
    # Lines also differ by their dashes, so that they can be distinguished without colour.
    dash_legend = None
    if len(names) > 1:
        dash_legend = {"orient": "bottom", "title": None, "symbolStrokeColor": "#222"}
    patterns = [DASHES[place % len(DASHES)] for place in range(len(names))]
    dashes = _field("line:N", sort=names, scale={"domain": names, "range": patterns}, legend=dash_legend)
    if not encoders:
        coloured_field = "line"
        # Long names stand below each other.
        columns = 1 if max(map(len, names)) > LONG_NAME else 4
        colours = _colours("line:N", names, LINES, {"orient": "bottom", "columns": columns, "labelLimit": 400})
    else:
        coloured_field = "encoder"
        # An encoder has its colour in every chart, but is named in those only in which it has a line.
        legend = {**ENCODER_LEGEND, "values": _distinct(lines, "encoder")}
        colours = _colours("encoder:N", encoders, LINES, legend)
    # A click on the legend shows one of many lines alone.
    selection = {"name": "highlighted", "select": {"type": "point", "fields": [coloured_field]}, "bind": "legend"}
    encoding = {
        "x": x,
        "y": y,
        "color": colours,
        "strokeDash": dashes,
        "opacity": {"condition": {"param": "highlighted", "value": 1}, "value": 0.12},
        "tooltip": _tooltip(encoder="", line="", x=".3~g", y=".3~g"),
    }
    chart = {"params": [selection], "transform": [{"flatten": ["x", "y"]}]}
    return _finished({**chart, **_layer("line", encoding, strokeWidth=2)}, lines, title, 220)


def histograms(scope: Scope, part: Histograms) -> Pictures:
    """Draw one chart for each candidate, with its histograms on top of each other."""
    data = scope.series(part.series, "histogram")
    if not data:
        return
    for encoder in _encoders_with_chart(scope):
        panels = [panel for panel in data["panels"] if panel["encoder"] == encoder]
        if not panels:
            continue
        lows, highs = data["edges"][:-1], data["edges"][1:]
        values = [{"line": p["line"], "low": lows, "high": highs, "share": p["shares"]} for p in panels]
        names = [panel["line"] for panel in panels]
        legend = None
        if len(names) > 1:
            legend = {"orient": "bottom", "labelLimit": 250}
        encoding = {
            "x": _field("low:Q", title=data["x"], bin="binned"),
            "x2": HIGH,
            "y": _field("share:Q", title="share of samples", stack=None, axis={"format": "%"}),
            "color": _colours("line:N", names, (BLUE, ORANGE, GREEN), legend),
            "tooltip": _tooltip(line="", low=".2f", share=".1%"),
        }
        chart = {"transform": [{"flatten": ["low", "high", "share"]}]}
        chart |= _layer("bar", encoding, opacity=0.55, binSpacing=0)
        yield encoder, _finished(chart, values, f"{part.title}, {encoder}", 150)


def _encoders_with_chart(scope: Scope) -> list[str]:
    """Return the encoders that have a chart of their own: the candidates, or all encoders if all are baselines."""
    candidates = [encoder for encoder in scope.encoders if not scope.is_baseline(encoder)]
    return candidates or list(scope.encoders)


def estimates(scope: Scope, column: Column) -> list[Point]:
    """Return the value with its interval of each encoder that has one in a column."""
    values = []
    for encoder in scope.encoders:
        row = scope.row_of(encoder, column)
        if row is not None and row.value is not None:
            ends = {"value": row.value, "low": row.low, "high": row.high}
            values.append({"encoder": encoder, "baseline": scope.is_baseline(encoder), **ends})
    return values


def _formats(style: Format) -> tuple[str, str]:
    """Return the formats of numbers on an axis and in a tooltip, which has one more digit."""
    if style in ("percent", "points"):
        return ".0%", ".1%"
    return ".2f", ".3f"


def _tooltip(**formats: str) -> list[Spec]:
    """Return what is shown under the pointer: fields with the format of their numbers, which is empty for a name."""
    fields = []
    for name, style in formats.items():
        if style:
            fields.append(_field(f"{name}:Q", format=style))
        else:
            fields.append(_field(f"{name}:N"))
    return fields


def _distinct(values: Sequence[Point], field: str) -> list[str]:
    """Return the distinct values of a field, in order of first appearance."""
    return list(dict.fromkeys(value[field] for value in values))


def _colours(field: str, names: list[str], colours: Sequence[str], legend: Spec | None) -> Spec:
    """Return the channel that gives each name in a field its own colour."""
    scale: Spec = {"domain": names, "range": list(colours[: len(names)])}
    if len(names) > len(colours):
        scale = {"domain": names, "scheme": "category20"}
    return _field(field, title=None, sort=names, scale=scale, legend=legend)


def _encoder_axis(scope: Scope) -> Spec:
    """Return an axis with one line for each encoder, in the order of the scope; long names lose their beginning."""
    end = f"length(datum.label) > {LABEL} ? '…' + slice(datum.label, {1 - LABEL}) : datum.label"
    return _field("encoder:N", title=None, sort=list(scope.encoders), axis={"labelExpr": end, "labelLimit": 200})


def _field(name_and_kind: str, **settings: object) -> Spec:
    """Return the channel of a field, written as ``value:Q``: its name, and the first letter of its kind."""
    name, _, kind = name_and_kind.rpartition(":")
    return {"field": name, "type": KINDS[kind], **settings}


def _layer(mark: str, encoding: Spec, **settings: object) -> Spec:
    """Return a mark with its settings and channels: a layer, or a chart of one layer."""
    return {"mark": {"type": mark, **settings}, "encoding": encoding}


def _finished(chart: Spec, values: Sequence[Point], title: str, height: int) -> Spec:
    """Return the specification of a chart and its data, with the settings that all charts share.

    Parameters
    ----------
    chart
        A mark, or ``{"layer": […]}``; a layer may have other data of its own.
    """
    return {
        "$schema": SCHEMA,
        "config": {"view": {"stroke": None}, "axis": FONT, "legend": FONT},
        "description": title,
        "background": "transparent",
        "width": "container",
        "height": height,
        "data": {"values": list(values)},
        **chart,
    }
