"""Turn parts of a page's layout into Vega-Lite specifications. Nothing is computed here.

The specifications are written as JSON. A library that builds them, such as altair, takes longer to import and to build
them than everything else on the page takes together; the tests have altair check them against the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice, pairwise
from typing import Any, TypeVar

from embassay.formatting import DASH
from embassay.layout import (
    Column,
    CountBars,
    Curves,
    Format,
    GroupedBars,
    Histograms,
    IntervalChart,
    Matrix,
    PointsChart,
    ShareBars,
    SizeChart,
    ThresholdCurves,
)
from embassay.reports.tables import Scope
from embassay.result import Row

BLUE, ORANGE, VERMILION, GREY, GREEN = "#0072B2", "#E69F00", "#D55E00", "#8a8a8a", "#007a5a"
RANGE = ("value", "low", "high")
"""The fields of a value with its interval."""
PARTS = (GREEN, ORANGE, BLUE, VERMILION, GREY)
LINES = (BLUE, VERMILION, GREEN, ORANGE, "#8f4a7d", "#3a8fb7", GREY, "#5b4b00")
"""The first colours of lines; with more lines, lighter and darker ones follow: see ``distinct_colours``."""
SHADES = (0.0, 0.45, -0.4, 0.7)
"""How much lighter (or, below 0, darker) each round of colours is."""
LINE = 34
"""Height of the line of one encoder, in pixels."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 3], [1, 3])
"""Patterns of lines as pixels drawn and left out, in turn; the first is unbroken."""
MOST_NAMES = 12
"""With more dots than this, their names are shown only under the pointer."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
KINDS = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}
FONT = {"labelFontSize": 12, "titleFontSize": 12}
Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one: JSON."""
Point = dict[str, Any]
"""One item of a chart's data: a value for each field that the chart draws."""
HIGH = {"field": "high"}
"""The channel of the upper end of an interval; it has the scale of the lower one."""
BY_BASELINE = {"condition": {"test": "datum.baseline", "value": GREY}, "value": BLUE}
ENCODER_LEGEND = {"orient": "bottom", "title": None, "columns": 4, "labelLimit": 250, "symbolLimit": 0}
"""The legend of encoders, which shows all of them."""
Style = TypeVar("Style")
"""A colour, a shape or a pattern of dashes."""


def interval_chart(scope: Scope, part: IntervalChart) -> Spec | None:
    """Draw a dot and its interval for each encoder, and chance as a dashed line."""
    values = []
    for row in _defined(scope, part.column):
        value = _estimate(row)
        value["baseline"] = scope.is_baseline(row.encoder)
        values.append(value)
    if not values:
        return None
    axis_format, fine_format = _formats(part.column.format)
    scale: Spec = {"zero": False}
    if part.column.format == "percent" and all(value["value"] >= 0 for value in values):
        scale = {"domain": [0, 1]}
    y = _encoder_axis(scope)
    layers = []
    if _have_intervals(values):
        layers.append(_layer("rule", {"x": _field("low:Q"), "x2": HIGH, "y": y, "color": BY_BASELINE}, strokeWidth=2))
    dots = {
        "x": _field("value:Q", title=part.column.heading, axis={"format": axis_format}, scale=scale),
        "y": y,
        "color": BY_BASELINE,
        "tooltip": [_field("encoder:N"), *_range_tooltips(fine_format)],
    }
    layers.append(_layer("circle", dots, size=90, opacity=1))
    if part.chance is not None:
        chance = {"values": [{"chance": part.chance}]}
        x = _field("chance:Q")
        layers.append({"data": chance, **_layer("rule", {"x": x}, strokeDash=[4, 4], color=VERMILION)})
        word = {"text": "chance", "align": "left", "dx": 4, "dy": -6, "color": "#a34400", "fontSize": 11}
        layers.append({"data": chance, **_layer("text", {"x": x, "y": {"value": 0}}, **word)})
    return _finished({"layer": layers}, values, part.title, LINE * len(values))


def share_bars(scope: Scope, part: ShareBars) -> Spec | None:
    """Draw one bar for each encoder, divided among the parts."""
    values = []
    for encoder in scope.encoders:
        for place, (subset, label) in enumerate(part.parts):
            row = scope.row_of(encoder, Column("", part.quantity, subset))
            if row is not None and row.value is not None:
                values.append({"encoder": encoder, "part": label, "order": place, "value": row.value})
    if not values:
        return None
    labels = [label for _, label in part.parts]
    legend = {"orient": "bottom", "direction": "vertical", "labelLimit": 400}
    encoding = {
        "x": _field("value:Q", title="share of items", axis={"format": ".0%"}, scale={"domain": [0, 1]}),
        "y": _encoder_axis(scope),
        "color": _colours("part:N", labels, PARTS, legend),
        "order": _field("order:Q"),
        "tooltip": [_field("encoder:N"), _field("part:N"), _field("value:Q", format=".1%")],
    }
    return _finished(_layer("bar", encoding), values, part.title, LINE * len(scope.encoders))


def points_chart(scope: Scope, part: PointsChart) -> Spec | None:
    """Draw the published points of each group as dots, and those measured in this run as labelled lines."""
    data = scope.series(part.series, "points")
    if not data:
        return None
    field = data["value"]
    percent = _field(f"{field}:Q", format=".1%")
    y = _field("group:N", title=None, sort=list(data["groups"]), axis={"labelLimit": 140})
    x = _field(f"{field}:Q", title=field, axis={"format": ".0%"}, scale={"domain": [0, 1]})
    published = {"x": x, "y": y, "tooltip": [_field("name:N"), _field("group:N"), percent]}
    mean = {"x": _field(f"{field}:Q", aggregate="mean", title=field), "y": y}
    legend = {"orient": "bottom", "columns": 2, "labelLimit": 250}
    measured = {
        "x": _field(f"{field}:Q"),
        "color": _field("name:N", title="measured here", legend=legend),
        "tooltip": [_field("name:N"), percent],
    }
    layers = [
        _layer("circle", published, size=55, opacity=0.45, color=GREY),
        _layer("tick", mean, color="#222", thickness=3, height=22),
        {"data": {"values": data["own"]}, **_layer("rule", measured, strokeWidth=2)},
    ]
    return _finished({"layer": layers}, data["points"], part.title, 44 * len(data["groups"]))


def grouped_bars(scope: Scope, part: GroupedBars) -> Spec | None:
    """Draw, for each subset, one bar with its interval for each encoder."""
    values = []
    for subset, label in part.parts:
        for row in _defined(scope, Column("", part.quantity, subset)):
            value = _estimate(row)
            value["subset"] = label
            values.append(value)
    if not values:
        return None
    labels = _distinct(values, "subset")
    axis_format, fine_format = _formats(part.format)
    shared = {
        "y": _field("subset:N", title=None, sort=labels, axis={"labelLimit": 160}),
        "yOffset": _field("encoder:N", sort=list(scope.encoders)),
        "tooltip": [_field("encoder:N"), _field("subset:N"), *_range_tooltips(fine_format)],
    }
    x = _field("value:Q", title=part.quantity, axis={"format": axis_format})
    bars = _layer("bar", {**shared, "x": x, "color": _by_encoder(scope)})
    rules = _layer("rule", {**shared, "x": _field("low:Q"), "x2": HIGH}, color="#222")
    height = len(labels) * (14 * len(scope.encoders) + 12)
    return _finished({"layer": [bars, rules]}, values, part.title, height)


def count_bars(scope: Scope, part: CountBars) -> Spec | None:
    """Draw a column of a table as bars; if another column names groups, their bars are side by side."""
    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    x = data["columns"].index(part.x)
    y = data["columns"].index(part.y)
    values = [{"x": row[x], "y": row[y], "by": ""} for row in data["rows"]]
    if part.by:
        by = data["columns"].index(part.by)
        for value, row in zip(values, data["rows"], strict=True):
            value["by"] = row[by]
    style = ",.0f"
    if data["formats"][y] == "percent":
        style = ".0%"
    order = sorted({value["x"] for value in values})
    encoding = {
        "x": _field("x:O", title=part.x, sort=order, axis={"labelAngle": 0}),
        "y": _field("y:Q", title=part.y, axis={"format": style}),
        "tooltip": [_field("x:O", title=part.x), _field("y:Q", title=part.y, format=style)],
    }
    if part.by:
        names = _distinct(values, "by")
        encoding["xOffset"] = _field("by:N", sort=names)
        encoding["color"] = _colours("by:N", names, LINES, {"orient": "bottom", "labelLimit": 250})
    return _finished(_layer("bar", encoding, color=BLUE), values, part.title, 180)


def size_chart(scope: Scope, part: SizeChart) -> Spec | None:
    """Draw a dot and its interval for each encoder of known size and each column, over the number of parameters."""
    values = []
    for encoder, size in scope.sizes.items():
        for column in part.columns:
            row = scope.row_of(encoder, column)
            if row is not None and row.value is not None:
                values.append({"column": column.heading, "size": size, **_estimate(row)})
    if len(_distinct(values, "encoder")) < 2:
        return None
    names = [column.heading for column in part.columns]
    title = ", ".join(names)
    axis_format, fine_format = _formats(part.columns[0].format)
    shared = {
        # Sizes of models span orders of magnitude.
        "x": _field("size:Q", title="parameters", scale={"type": "log"}, axis={"format": "~s"}),
        "color": _colours("column:N", names, LINES, {"orient": "bottom"}),
        "tooltip": [
            _field("encoder:N"),
            _field("column:N"),
            _field("size:Q", title="parameters", format=",.0f"),
            *_range_tooltips(fine_format),
        ],
    }
    y = _field("value:Q", title=title, axis={"format": axis_format}, scale={"zero": False})
    dots = _layer("circle", {**shared, "y": y}, size=80, opacity=1)
    if not _have_intervals(values):
        return _finished(dots, values, part.title, 220)
    rules = _layer("rule", {**shared, "y": _field("low:Q", title=title), "y2": HIGH}, strokeWidth=2)
    return _finished({"layer": [rules, dots]}, values, part.title, 220)


def heat_map(scope: Scope, part: Matrix) -> Spec | None:
    """Draw a cell for each two encoders, the darker the larger the share, with the share as a fraction.

    The order is that of the headline values; None for fewer than two encoders.
    """
    data = scope.series(part.series, "matrix")
    if not data or len(data["names"]) < 2:
        return None
    index = {name: number for number, name in enumerate(data["names"])}
    names = [name for name in scope.encoders if name in index]
    shares = []
    labels = []
    for a in names:
        for b in names:
            numerator = data["numerator"][index[a]][index[b]]
            denominator = data["denominator"][index[a]][index[b]]
            if a == b:
                text = f"{denominator:,}"
            elif denominator:
                text = f"{numerator:,}/{denominator:,}"
                shares.append({"a": a, "b": b, "share": numerator / denominator})
            else:
                text = DASH
            # Black text cannot be read on a cell that is more than half black.
            is_dark = a != b and 2 * numerator > denominator
            labels.append({"a": a, "b": b, "text": text, "dark": is_dark})
    x = _field("b:N", title=None, sort=names, axis={"orient": "top", "labelAngle": -30, "labelLimit": 150})
    y = _field("a:N", title=None, sort=names, axis={"labelLimit": 150})
    scale = {"domain": [0, 1], "range": ["#ffffff", "#222222"]}
    legend = {"format": ".0%", "gradientLength": 120, "gradientStrokeColor": "#222"}
    share = _field("share:Q", title="same error", scale=scale, legend=legend)
    cells = {"data": {"values": shares}, **_layer("rect", {"x": x, "y": y, "color": share}, stroke="#bbb")}
    colour = {"condition": {"test": "datum.dark", "value": "#fff"}, "value": "#222"}
    texts = _layer("text", {"x": x, "y": y, "text": _field("text:N"), "color": colour}, fontSize=11)
    return _finished({"layer": [cells, texts]}, labels, part.title, LINE * len(names))


def curves(scope: Scope, part: Curves) -> Iterator[tuple[str, Spec]]:
    """Draw lines over a common axis, in one chart or, with ``split``, in one chart for each candidate.

    Yields
    ------
    The encoder of the chart, or an empty text, and the chart.
    """
    data = scope.series(part.series, "curve")
    if not data:
        return
    if not part.split:
        yield "", _lines(scope, part.title, data, data["lines"], by_encoder=True)
        return
    for encoder in _encoders_with_chart(scope):
        lines = [line for line in data["lines"] if line["encoder"] == encoder]
        if lines:
            yield encoder, _lines(scope, f"{part.title}, {encoder}", data, lines, by_encoder=False)


def _lines(scope: Scope, title: str, data: Spec, lines: list[Point], by_encoder: bool) -> Spec:
    """Draw the lines of a series of kind ``curve``, coloured by encoder or by the lines' names."""
    values = []
    for line in lines:
        # A line may have its own positions on the x axis.
        positions = data["at"]
        if "at" in line:
            positions = line["at"]
        for x, y in zip(positions, line["y"], strict=True):
            values.append({"encoder": line["encoder"], "line": line["line"], "x": x, "y": y})
    names = _distinct(lines, "line")
    if by_encoder:
        coloured_field = "encoder"
        colours = _by_encoder(scope)
    else:
        coloured_field = "line"
        colours = _colours("line:N", names, LINES, {"orient": "bottom", "columns": 4, "labelLimit": 250})
    # Lines also differ by their dashes, so that they can be distinguished without colour.
    dash_legend = None
    if len(names) > 1:
        dash_legend = {"orient": "bottom", "title": None, "symbolStrokeColor": "#222"}
    dashes = _field("line:N", sort=names, scale=_dashes(names), legend=dash_legend)
    if by_encoder and len(names) == 1:
        # Each round of colours has a pattern of its own.
        encoders = list(scope.encoders)
        rounds = [DASHES[place // len(LINES) % len(DASHES)] for place in range(len(encoders))]
        round_scale = {"domain": encoders, "range": rounds}
        dashes = _field("encoder:N", title=None, sort=encoders, scale=round_scale, legend=ENCODER_LEGEND)
    # A click on the legend shows one of many lines alone.
    selection = {"name": "highlighted", "select": {"type": "point", "fields": [coloured_field]}, "bind": "legend"}
    encoding = {
        "x": _field("x:Q", title=data["x"], scale={"nice": False, "zero": False}),
        "y": _field("y:Q", title=data["y"]),
        "color": colours,
        "strokeDash": dashes,
        "opacity": {"condition": {"param": "highlighted", "value": 1}, "value": 0.12},
        "tooltip": [
            _field("encoder:N"),
            _field("line:N"),
            _field("x:Q", format=".3~g"),
            _field("y:Q", format=".3~g"),
        ],
    }
    chart = {"params": [selection], **_layer("line", encoding, strokeWidth=2)}
    return _finished(chart, values, title, 220)


def threshold_curves(scope: Scope, part: ThresholdCurves) -> Iterator[tuple[str, Spec]]:
    """Draw one chart for each candidate: its quantities over the threshold.

    Yields
    ------
    The encoder of the chart, and the chart.
    """
    labels = dict(part.parts)
    names = list(labels.values())
    legend = {"orient": "bottom", "title": None, "columns": 1, "labelLimit": 400}
    encoding = {
        "x": _field("x:Q", title="similarity", scale={"nice": False, "zero": False}),
        "y": _field("y:Q", title="share", axis={"format": ".0%"}, scale={"domain": [0, 1]}),
        "color": _colours("line:N", names, LINES, legend),
        # With equal titles and domains, colours and dashes share a legend.
        "strokeDash": _field("line:N", title=None, sort=names, scale=_dashes(names), legend=legend),
        "tooltip": [_field("line:N"), _field("x:Q", format=".3f"), _field("y:Q", format=".1%")],
    }
    for encoder in _encoders_with_chart(scope):
        rows = [row for row in scope.rows if row.encoder == encoder and row.subset.startswith(part.prefix)]
        thresholds = {row.subset: row.value for row in rows if row.quantity == part.threshold}
        values = []
        for row in rows:
            threshold = thresholds.get(row.subset)
            if row.quantity in labels and row.value is not None and threshold is not None:
                values.append({"line": labels[row.quantity], "x": threshold, "y": row.value})
        if not values:
            continue
        chart = _layer("line", encoding, strokeWidth=2)
        yield encoder, _finished(chart, values, f"{part.title}, {encoder}", 200)


def cost_chart(title: str, cost: str, values: Sequence[Point], style: Format) -> Spec:
    """Draw what each encoder reaches over what it costs.

    Parameters
    ----------
    title
        The quality on the y axis.
    cost
        The cost on the x axis, which is logarithmic.
    values
        Of each encoder ``encoder``, ``cost`` (above 0), ``value``, ``low``, ``high`` and ``baseline``.
    style
        The format of the quality.
    """
    axis_format, fine_format = _formats(style)
    scale = {"type": "log", "nice": False, "padding": 40}
    shared = {
        "x": _field("cost:Q", title=cost, scale=scale, axis={"format": ",.4~g", "tickCount": 5}),
        "tooltip": [
            _field("encoder:N"),
            _field("cost:Q", title=cost, format=",.4~r"),
            *_range_tooltips(fine_format),
        ],
    }
    y = _field("value:Q", title=title, axis={"format": axis_format}, scale={"zero": False})
    layers = []
    if _have_intervals(values):
        interval = {"y": _field("low:Q", title=title), "y2": HIGH, "color": BY_BASELINE}
        layers.append(_layer("rule", {**shared, **interval}, strokeWidth=1.5, opacity=0.5))
    layers.append(_layer("circle", {**shared, "y": y, "color": BY_BASELINE}, size=90, opacity=1))
    if len(values) <= MOST_NAMES:
        names = {**shared, "y": y, "text": _field("encoder:N")}
        layers.append(_layer("text", names, align="left", dx=7, dy=-7, fontSize=12, color="#222", limit=150))
    return _finished({"layer": layers}, values, f"{title} over {cost}", 260)


def histograms(scope: Scope, part: Histograms) -> Iterator[tuple[str, Spec]]:
    """Draw one chart for each candidate, with its histograms on top of each other."""
    data = scope.series(part.series, "histogram")
    if not data:
        return
    for encoder in _encoders_with_chart(scope):
        panels = [panel for panel in data["panels"] if panel["encoder"] == encoder]
        if not panels:
            continue
        values = []
        for panel in panels:
            bins = pairwise(data["edges"])
            for (low, high), share in zip(bins, panel["shares"], strict=False):
                values.append({"line": panel["line"], "low": low, "high": high, "share": share})
        names = [panel["line"] for panel in panels]
        legend = None
        if len(names) > 1:
            legend = {"orient": "bottom", "labelLimit": 250}
        encoding = {
            "x": _field("low:Q", title=data["x"], bin="binned"),
            "x2": HIGH,
            "y": _field("share:Q", title="share of samples", stack=None, axis={"format": "%"}),
            "color": _colours("line:N", names, (BLUE, ORANGE, GREEN), legend),
            "tooltip": [_field("line:N"), _field("low:Q", format=".2f"), _field("share:Q", format=".1%")],
        }
        chart = _layer("bar", encoding, opacity=0.55, binSpacing=0)
        yield encoder, _finished(chart, values, f"{part.title}, {encoder}", 150)


def _encoders_with_chart(scope: Scope) -> list[str]:
    """Return the encoders that have a chart of their own: the candidates, or all encoders if all are baselines."""
    candidates = [encoder for encoder in scope.encoders if not scope.is_baseline(encoder)]
    return candidates or list(scope.encoders)


def _defined(scope: Scope, column: Column) -> list[Row]:
    """Return the row of each encoder that has a value in a column."""
    defined = []
    for encoder in scope.encoders:
        row = scope.row_of(encoder, column)
        if row is not None and row.value is not None:
            defined.append(row)
    return defined


def _have_intervals(values: Sequence[Point]) -> bool:
    return any(value["low"] is not None for value in values)


def _estimate(row: Row) -> Point:
    """Return the value of a row with its interval, as data of a chart."""
    return {"encoder": row.encoder, "value": row.value, "low": row.low, "high": row.high}


def _formats(style: Format) -> tuple[str, str]:
    """Return the formats of numbers on an axis and in a tooltip, which has one more digit."""
    if style == "number":
        return ".2f", ".3f"
    return ".0%", ".1%"


def _range_tooltips(style: str) -> list[Spec]:
    """Return the tooltips of a value and its interval."""
    return [_field(f"{name}:Q", format=style) for name in RANGE]


def _distinct(values: Sequence[Point], field: str) -> list[str]:
    """Return the distinct values of a field, in order of first appearance."""
    return list(dict.fromkeys(value[field] for value in values))


def repeated(styles: Sequence[Style], count: int) -> list[Style]:
    """Return ``count`` styles; they start again if there are too few."""
    return list(islice(cycle(styles), count))


def distinct_colours(colours: Sequence[str], count: int) -> list[str]:
    """Return ``count`` colours, no two alike: the given ones, then lighter and darker ones of them."""
    shades = list(SHADES)
    while len(shades) * len(colours) < count:
        # Halfway between two shades there is always another one.
        shades += [(a + b) / 2 for a, b in pairwise(sorted(shades))]
    shaded_colours = list[str]()
    for shade in shades:
        shaded_colours += [_shaded(colour, shade) for colour in colours]
    # Very light or dark shades of two colours may be the same after rounding.
    distinct = dict.fromkeys(shaded_colours)
    return list(distinct)[:count]


def _shaded(colour: str, shade: float) -> str:
    """Return a colour ``#rrggbb`` mixed with white, or with black for a negative shade."""
    target = 0
    if shade > 0:
        target = 255
    mixed = "#"
    for start in (1, 3, 5):
        intensity = int(colour[start : start + 2], 16)
        intensity_mixed = round(intensity + (target - intensity) * abs(shade))
        mixed += f"{intensity_mixed:02x}"
    return mixed


def _by_encoder(scope: Scope) -> Spec:
    """Return the channel that gives each encoder its own colour."""
    return _colours("encoder:N", list(scope.encoders), LINES, ENCODER_LEGEND)


def _colours(field: str, names: list[str], colours: Sequence[str], legend: Spec | None) -> Spec:
    """Return the channel that gives each name in a field its own colour."""
    scale = {"domain": names, "range": distinct_colours(colours, len(names))}
    return _field(field, title=None, sort=names, scale=scale, legend=legend)


def _dashes(names: list[str]) -> Spec:
    """Return the scale that gives each name its own pattern of dashes."""
    return {"domain": names, "range": repeated(DASHES, len(names))}


def _encoder_axis(scope: Scope) -> Spec:
    """Return an axis with one line for each encoder, in the order of the scope."""
    return _field("encoder:N", title=None, sort=list(scope.encoders), axis={"labelLimit": 150})


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


def forest_chart(title: str, heading: str, values: Sequence[Point]) -> Spec:
    """Draw differences with their intervals, one line each, and 0 as a dashed line.

    Parameters
    ----------
    heading
        What the axis is called.
    values
        Each with ``name``, ``value``, ``low``, ``high`` and ``kind``: ``corpus``, ``mean`` or ``next``, which are drawn
        in different colours.
    """
    names = [value["name"] for value in values]
    colours = {"domain": ["corpus", "mean", "next"], "range": [GREY, BLUE, VERMILION]}
    shared = {
        "y": _field("name:N", title=None, sort=names, axis={"labelLimit": 220}),
        "color": _field("kind:N", scale=colours, legend=None),
    }
    x = _field("low:Q", title=heading)
    zero = _layer("rule", {"x": _field("zero:Q")}, strokeDash=[4, 4], color=GREY)
    rules = _layer("rule", {**shared, "x": x, "x2": HIGH}, strokeWidth=2)
    tooltip = [_field("name:N"), *_range_tooltips(".3~g")]
    dots = _layer("circle", {**shared, "x": _field("value:Q"), "tooltip": tooltip}, size=90, opacity=1)
    layers = [{"data": {"values": [{"zero": 0}]}, **zero}, rules, dots]
    return _finished({"layer": layers}, values, title, LINE * len(values))
