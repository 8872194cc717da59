"""Turn parts of a page's layout into Vega-Lite specifications. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

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

if TYPE_CHECKING:
    # Altair takes long to import, so the functions that draw import it themselves.
    import altair as alt

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
Spec = dict[str, Any]
"""A Vega-Lite specification: JSON."""
Point = dict[str, Any]
"""One item of a chart's data: a value for each field that the chart draws."""
Style = TypeVar("Style")
"""A colour, a shape or a pattern of dashes."""


def interval_chart(scope: Scope, part: IntervalChart) -> Spec | None:
    """Draw a dot and its interval for each encoder, and chance as a dashed line."""
    import altair as alt

    values = []
    for row in _defined(scope, part.column):
        value = _estimate(row)
        value["baseline"] = scope.is_baseline(row.encoder)
        values.append(value)
    if not values:
        return None
    axis_format, fine_format = _formats(part.column.format)
    if part.column.format == "percent" and all(value["value"] >= 0 for value in values):
        scale = alt.Scale(domain=[0, 1])
    else:
        scale = alt.Scale(zero=False)
    colour = alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE))
    base = alt.Chart(alt.Data(values=values)).encode(y=_encoder_axis(scope))
    layers = []
    if _have_intervals(values):
        rules = base.mark_rule(strokeWidth=2)
        layers.append(rules.encode(x="low:Q", x2="high:Q", color=colour))
    dots = base.mark_circle(size=90, opacity=1).encode(
        x=alt.X("value:Q", title=part.column.heading, axis=alt.Axis(format=axis_format), scale=scale),
        color=colour,
        tooltip=[alt.Tooltip("encoder:N"), *_range_tooltips(fine_format)],
    )
    layers.append(dots)
    if part.chance is not None:
        chance = alt.Chart(alt.Data(values=[{"chance": part.chance}]))
        dashed = chance.mark_rule(strokeDash=[4, 4], color=VERMILION)
        word = chance.mark_text(text="chance", align="left", dx=4, dy=-6, color="#a34400", fontSize=11)
        layers.append(dashed.encode(x="chance:Q"))
        layers.append(word.encode(x="chance:Q", y=alt.value(0)))
    return _finished(alt.layer(*layers), part.title, LINE * len(values))


def share_bars(scope: Scope, part: ShareBars) -> Spec | None:
    """Draw one bar for each encoder, divided among the parts."""
    import altair as alt

    values = []
    for encoder in scope.encoders:
        for place, (subset, label) in enumerate(part.parts):
            row = scope.row_of(encoder, Column("", part.quantity, subset))
            if row is not None and row.value is not None:
                values.append({"encoder": encoder, "part": label, "order": place, "value": row.value})
    if not values:
        return None
    labels = [label for _, label in part.parts]
    legend = alt.Legend(orient="bottom", direction="vertical", labelLimit=400)
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            y=_encoder_axis(scope),
            x=alt.X(
                "value:Q",
                title="share of items",
                axis=alt.Axis(format=".0%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=_colours("part:N", labels, PARTS, legend),
            order="order:Q",
            tooltip=["encoder:N", "part:N", alt.Tooltip("value:Q", format=".1%")],
        )
    )
    return _finished(chart, part.title, LINE * len(scope.encoders))


def points_chart(scope: Scope, part: PointsChart) -> Spec | None:
    """Draw the published points of each group as dots, and those measured in this run as labelled lines."""
    import altair as alt

    data = scope.series(part.series, "points")
    if not data:
        return None
    field = data["value"]
    tooltip = ["name:N", "group:N", alt.Tooltip(f"{field}:Q", format=".1%")]
    y = alt.Y("group:N", title=None, sort=list(data["groups"]), axis=alt.Axis(labelLimit=140))
    x = alt.X(f"{field}:Q", title=field, axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1]))
    published = (
        alt.Chart(alt.Data(values=data["points"]))
        .mark_circle(size=55, opacity=0.45, color=GREY)
        .encode(x=x, y=y, tooltip=tooltip)
    )
    mean = (
        alt.Chart(alt.Data(values=data["points"]))
        .mark_tick(color="#222", thickness=3, height=22)
        .encode(x=alt.X(f"mean({field}):Q", title=field), y=y)
    )
    measured = alt.Chart(alt.Data(values=data["own"]))
    legend = alt.Legend(orient="bottom", columns=2, labelLimit=250)
    rules = measured.mark_rule(strokeWidth=2).encode(
        x=f"{field}:Q",
        color=alt.Color("name:N", title="measured here", legend=legend),
        tooltip=["name:N", alt.Tooltip(f"{field}:Q", format=".1%")],
    )
    return _finished(alt.layer(published, mean, rules), part.title, 44 * len(data["groups"]))


def grouped_bars(scope: Scope, part: GroupedBars) -> Spec | None:
    """Draw, for each subset, one bar with its interval for each encoder."""
    import altair as alt

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
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("subset:N", title=None, sort=labels, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("encoder:N", sort=list(scope.encoders)),
        tooltip=["encoder:N", "subset:N", *_range_tooltips(fine_format)],
    )
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title=part.quantity, axis=alt.Axis(format=axis_format)), color=_by_encoder(scope)
    )
    rules = base.mark_rule(color="#222").encode(x="low:Q", x2="high:Q")
    height = len(labels) * (14 * len(scope.encoders) + 12)
    return _finished(alt.layer(bars, rules), part.title, height)


def count_bars(scope: Scope, part: CountBars) -> Spec | None:
    """Draw a column of a table as bars; if another column names groups, their bars are side by side."""
    import altair as alt

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
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("x:O", title=part.x, sort=order, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("y:Q", title=part.y, axis=alt.Axis(format=style)),
            tooltip=[alt.Tooltip("x:O", title=part.x), alt.Tooltip("y:Q", title=part.y, format=style)],
        )
    )
    if part.by:
        names = _distinct(values, "by")
        legend = alt.Legend(orient="bottom", labelLimit=250)
        colours = _colours("by:N", names, LINES, legend)
        chart = chart.encode(xOffset=alt.XOffset("by:N", sort=names), color=colours)
    return _finished(chart, part.title, 180)


def size_chart(scope: Scope, part: SizeChart) -> Spec | None:
    """Draw a dot and its interval for each encoder of known size and each column, over the number of parameters."""
    import altair as alt

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
    # Sizes of models span orders of magnitude.
    size_scale = alt.Scale(type="log")
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("size:Q", title="parameters", scale=size_scale, axis=alt.Axis(format="~s")),
        color=_colours("column:N", names, LINES, alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("encoder:N"),
            alt.Tooltip("column:N"),
            alt.Tooltip("size:Q", title="parameters", format=",.0f"),
            *_range_tooltips(fine_format),
        ],
    )
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=axis_format), scale=alt.Scale(zero=False))
    dots = base.mark_circle(size=80, opacity=1).encode(y=y)
    if not _have_intervals(values):
        return _finished(dots, part.title, 220)
    rules = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return _finished(alt.layer(rules, dots), part.title, 220)


def heat_map(scope: Scope, part: Matrix) -> Spec | None:
    """Draw a cell for each two encoders, the darker the larger the share, with the share as a fraction.

    The order is that of the headline values; None for fewer than two encoders.
    """
    import altair as alt

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
    x = alt.X("b:N", title=None, sort=names, axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=150))
    y = alt.Y("a:N", title=None, sort=names, axis=alt.Axis(labelLimit=150))
    scale = alt.Scale(domain=[0, 1], range=["#ffffff", "#222222"])
    legend = alt.Legend(format=".0%", gradientLength=120, gradientStrokeColor="#222")
    cells = (
        alt.Chart(alt.Data(values=shares))
        .mark_rect(stroke="#bbb")
        .encode(x=x, y=y, color=alt.Color("share:Q", title="same error", scale=scale, legend=legend))
    )
    colour = alt.condition("datum.dark", alt.value("#fff"), alt.value("#222"))
    texts = alt.Chart(alt.Data(values=labels)).mark_text(fontSize=11).encode(x=x, y=y, text="text:N", color=colour)
    return _finished(alt.layer(cells, texts), part.title, LINE * len(names))


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
    import altair as alt

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
        colours = _colours("line:N", names, LINES, alt.Legend(orient="bottom", columns=4, labelLimit=250))
    # Lines also differ by their dashes, so that they can be distinguished without colour.
    dash_scale = alt.Scale(domain=names, range=repeated(DASHES, len(names)))
    dash_legend = None
    if len(names) > 1:
        dash_legend = alt.Legend(orient="bottom", title=None, symbolStrokeColor="#222")
    dashes = alt.StrokeDash("line:N", sort=names, scale=dash_scale, legend=dash_legend)
    if by_encoder and len(names) == 1:
        # Each round of colours has a pattern of its own.
        rounds = [DASHES[place // len(LINES) % len(DASHES)] for place in range(len(scope.encoders))]
        round_scale = alt.Scale(domain=list(scope.encoders), range=rounds)
        dashes = alt.StrokeDash(
            "encoder:N", title=None, sort=list(scope.encoders), scale=round_scale, legend=_encoder_legend()
        )
    # A click on the legend shows one of many lines alone.
    highlighted = alt.selection_point(fields=[coloured_field], bind="legend")
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=data["x"], scale=alt.Scale(nice=False, zero=False)),
            y=alt.Y("y:Q", title=data["y"]),
            color=colours,
            strokeDash=dashes,
            opacity=alt.condition(highlighted, alt.value(1), alt.value(0.12)),
            tooltip=["encoder:N", "line:N", alt.Tooltip("x:Q", format=".3~g"), alt.Tooltip("y:Q", format=".3~g")],
        )
        .add_params(highlighted)
    )
    return _finished(chart, title, 220)


def threshold_curves(scope: Scope, part: ThresholdCurves) -> Iterator[tuple[str, Spec]]:
    """Draw one chart for each candidate: its quantities over the threshold.

    Yields
    ------
    The encoder of the chart, and the chart.
    """
    import altair as alt

    labels = dict(part.parts)
    names = list(labels.values())
    legend = alt.Legend(orient="bottom", title=None, columns=1, labelLimit=400)
    colours = _colours("line:N", names, LINES, legend)
    dash_scale = alt.Scale(domain=names, range=repeated(DASHES, len(names)))
    # With equal titles and domains, colours and dashes share a legend.
    dashes = alt.StrokeDash("line:N", title=None, sort=names, scale=dash_scale, legend=legend)
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
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_line(strokeWidth=2)
            .encode(
                x=alt.X("x:Q", title="similarity", scale=alt.Scale(nice=False, zero=False)),
                y=alt.Y("y:Q", title="share", axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1])),
                color=colours,
                strokeDash=dashes,
                tooltip=["line:N", alt.Tooltip("x:Q", format=".3f"), alt.Tooltip("y:Q", format=".1%")],
            )
        )
        yield encoder, _finished(chart, f"{part.title}, {encoder}", 200)


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
    import altair as alt

    axis_format, fine_format = _formats(style)
    colour = alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE))
    base = alt.Chart(alt.Data(values=list(values))).encode(
        x=alt.X(
            "cost:Q",
            title=cost,
            scale=alt.Scale(type="log", nice=False, padding=40),
            axis=alt.Axis(format=",.4~g", tickCount=5),
        ),
        tooltip=[
            alt.Tooltip("encoder:N"),
            alt.Tooltip("cost:Q", title=cost, format=",.4~r"),
            *_range_tooltips(fine_format),
        ],
    )
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=axis_format), scale=alt.Scale(zero=False))
    layers = []
    if _have_intervals(values):
        rules = base.mark_rule(strokeWidth=1.5, opacity=0.5)
        layers.append(rules.encode(y=alt.Y("low:Q", title=title), y2="high:Q", color=colour))
    layers.append(base.mark_circle(size=90, opacity=1).encode(y=y, color=colour))
    if len(values) <= MOST_NAMES:
        names = base.mark_text(align="left", dx=7, dy=-7, fontSize=12, color="#222", limit=150)
        layers.append(names.encode(y=y, text="encoder:N"))
    return _finished(alt.layer(*layers), f"{title} over {cost}", 260)


def histograms(scope: Scope, part: Histograms) -> Iterator[tuple[str, Spec]]:
    """Draw one chart for each candidate, with its histograms on top of each other."""
    import altair as alt

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
            legend = alt.Legend(orient="bottom", labelLimit=250)
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_bar(opacity=0.55, binSpacing=0)
            .encode(
                x=alt.X("low:Q", title=data["x"], bin="binned"),
                x2="high:Q",
                y=alt.Y("share:Q", title="share of samples", stack=None, axis=alt.Axis(format="%")),
                color=_colours("line:N", names, (BLUE, ORANGE, GREEN), legend),
                tooltip=["line:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("share:Q", format=".1%")],
            )
        )
        yield encoder, _finished(chart, f"{part.title}, {encoder}", 150)


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


def _range_tooltips(style: str) -> list[alt.Tooltip]:
    """Return the tooltips of a value and its interval."""
    import altair as alt

    return [alt.Tooltip(f"{name}:Q", format=style) for name in RANGE]


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


def _by_encoder(scope: Scope) -> alt.Color:
    """Return the encoding that gives each encoder its own colour."""
    return _colours("encoder:N", list(scope.encoders), LINES, _encoder_legend())


def _encoder_legend() -> alt.Legend:
    """Return the legend of encoders, which shows all of them."""
    import altair as alt

    return alt.Legend(orient="bottom", title=None, columns=4, labelLimit=250, symbolLimit=0)


def _colours(field: str, names: list[str], colours: Sequence[str], legend: alt.Legend | None) -> alt.Color:
    """Return the encoding that gives each name in a field its own colour."""
    import altair as alt

    scale = alt.Scale(domain=names, range=distinct_colours(colours, len(names)))
    return alt.Color(field, title=None, sort=names, scale=scale, legend=legend)


def _encoder_axis(scope: Scope) -> alt.Y:
    """Return an axis with one line for each encoder, in the order of the scope."""
    import altair as alt

    return alt.Y("encoder:N", title=None, sort=list(scope.encoders), axis=alt.Axis(labelLimit=150))


def _finished(chart: alt.Chart | alt.LayerChart, title: str, height: int) -> Spec:
    """Return the specification of a chart, with the settings that all charts share."""
    chart = chart.properties(width="container", height=height, description=title, background="transparent")
    spec: Spec = (
        chart.configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12)
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .to_dict(validate=False)
    )
    return spec


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
    import altair as alt

    names = [value["name"] for value in values]
    colours = alt.Scale(domain=["corpus", "mean", "next"], range=[GREY, BLUE, VERMILION])
    base = alt.Chart(alt.Data(values=list(values))).encode(
        y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=220)),
        color=alt.Color("kind:N", scale=colours, legend=None),
    )
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=heading), x2="high:Q")
    dots = base.mark_circle(size=90, opacity=1).encode(
        x="value:Q", tooltip=[alt.Tooltip("name:N"), *_range_tooltips(".3~g")]
    )
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 4], color=GREY).encode(x="zero:Q")
    return _finished(alt.layer(zero, rules, dots), title, LINE * len(values))
