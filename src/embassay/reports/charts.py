"""Layout parts to Vega-Lite specifications; nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from embassay.layout import (
    Column,
    CountBars,
    Curves,
    Format,
    GroupedBars,
    Histograms,
    IntervalChart,
    PointsChart,
    ShareBars,
    SizeChart,
)
from embassay.reports.tables import Scope
from embassay.result import Row

BLUE, ORANGE, VERMILION, GREY, GREEN = "#0072B2", "#E69F00", "#D55E00", "#8a8a8a", "#007a5a"
RANGE = ("value", "low", "high")
"""The fields of a figure with its interval."""
PARTS = (GREEN, ORANGE, BLUE, VERMILION, GREY)
LINES = (BLUE, VERMILION, GREEN, ORANGE, "#8f4a7d", "#3a8fb7", GREY, "#5b4b00")
"""Colours of lines that are told apart by name."""
LINE = 34
"""Height of one encoder's line, in pixels."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 3], [1, 3])
"""Patterns of lines: the first is unbroken."""
Spec = dict[str, Any]
"""A Vega-Lite specification."""


def interval_chart(scope: Scope, part: IntervalChart) -> Spec | None:
    """Draw a dot and its interval for each encoder, and chance as a dashed line."""
    import altair as alt

    values = []
    for encoder in scope.encoders:
        row = scope.row_of(encoder, part.column)
        if row is not None and row.value is not None:
            values.append({**_figure(row), "baseline": scope.is_baseline(encoder)})
    if not values:
        return None
    axis_format, fine_format = _formats(part.column.format)
    is_share = part.column.format == "percent" and all(value["value"] >= 0 for value in values)
    scale = alt.Scale(domain=[0, 1]) if is_share else alt.Scale(zero=False)
    colour = alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE))
    base = alt.Chart(alt.Data(values=values)).encode(y=_encoder_axis(alt, scope))
    layers = []
    if any(value["low"] is not None for value in values):
        layers.append(base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour))
    dots = base.mark_circle(size=90, opacity=1).encode(
        x=alt.X("value:Q", title=part.column.heading, axis=alt.Axis(format=axis_format), scale=scale),
        color=colour,
        tooltip=[alt.Tooltip("encoder:N"), *_range_tooltips(alt, fine_format)],
    )
    layers.append(dots)
    if part.chance is not None:
        chance = alt.Chart(alt.Data(values=[{"chance": part.chance}]))
        layers.append(chance.mark_rule(strokeDash=[4, 4], color=VERMILION).encode(x="chance:Q"))
        word = chance.mark_text(text="chance", align="left", dx=4, dy=-6, color="#a34400", fontSize=11)
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
            y=_encoder_axis(alt, scope),
            x=alt.X(
                "value:Q",
                title="share of items",
                axis=alt.Axis(format=".0%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=_colours(alt, "part:N", labels, PARTS, legend),
            order="order:Q",
            tooltip=["encoder:N", "part:N", alt.Tooltip("value:Q", format=".1%")],
        )
    )
    return _finished(chart, part.title, LINE * len(scope.encoders))


def points_chart(scope: Scope, part: PointsChart) -> Spec | None:
    """Draw the published points of each group, and the reader's own as labelled lines."""
    import altair as alt

    data = scope.series(part.series, "points")
    if not data:
        return None
    field = data["value"]
    y = alt.Y("group:N", title=None, sort=list(data["groups"]), axis=alt.Axis(labelLimit=140))
    x = alt.X(f"{field}:Q", title=field, axis=alt.Axis(format=".0%"), scale=alt.Scale(domain=[0, 1]))
    published = (
        alt.Chart(alt.Data(values=data["points"]))
        .mark_circle(size=55, opacity=0.45, color=GREY)
        .encode(x=x, y=y, tooltip=["name:N", "group:N", alt.Tooltip(f"{field}:Q", format=".1%")])
    )
    mean = (
        alt.Chart(alt.Data(values=data["points"]))
        .mark_tick(color="#222", thickness=3, height=22)
        .encode(x=alt.X(f"mean({field}):Q", title=field), y=y)
    )
    own = alt.Chart(alt.Data(values=data["own"]))
    rules = own.mark_rule(strokeWidth=2).encode(
        x=f"{field}:Q",
        color=alt.Color("name:N", title="measured here", legend=alt.Legend(orient="bottom", columns=2, labelLimit=250)),
        tooltip=["name:N", alt.Tooltip(f"{field}:Q", format=".1%")],
    )
    return _finished(alt.layer(published, mean, rules), part.title, 44 * len(data["groups"]))


def grouped_bars(scope: Scope, part: GroupedBars) -> Spec | None:
    """Draw, for each subset, one bar with its interval for each encoder."""
    import altair as alt

    values = []
    for subset, label in part.parts:
        column = Column("", part.quantity, subset)
        for encoder in scope.encoders:
            row = scope.row_of(encoder, column)
            if row is not None and row.value is not None:
                values.append({"subset": label, **_figure(row)})
    if not values:
        return None
    labels = _distinct(values, "subset")
    axis_format, fine_format = _formats(part.format)
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("subset:N", title=None, sort=labels, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("encoder:N", sort=list(scope.encoders)),
        tooltip=["encoder:N", "subset:N", *_range_tooltips(alt, fine_format)],
    )
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title=part.quantity, axis=alt.Axis(format=axis_format)), color=_by_encoder(alt, scope)
    )
    rules = base.mark_rule(color="#222").encode(x="low:Q", x2="high:Q")
    height = len(labels) * (14 * len(scope.encoders) + 12)
    return _finished(alt.layer(bars, rules), part.title, height)


def count_bars(scope: Scope, part: CountBars) -> Spec | None:
    """Draw a column of a table as bars, side by side where another column names groups of them."""
    import altair as alt

    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    place = {name: number for number, name in enumerate(data["columns"])}
    values = []
    for row in data["rows"]:
        group = row[place[part.by]] if part.by else ""
        values.append({"x": row[place[part.x]], "y": row[place[part.y]], "by": group})
    style = ".0%" if data["formats"][place[part.y]] == "percent" else ",.0f"
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
        chart = chart.encode(xOffset=alt.XOffset("by:N", sort=names), color=_colours(alt, "by:N", names, LINES, legend))
    return _finished(chart, part.title, 180)


def size_chart(scope: Scope, part: SizeChart) -> Spec | None:
    """Draw a dot and its interval for each encoder of known size and each column, over the number of parameters."""
    import altair as alt

    values = []
    for encoder, size in scope.sizes.items():
        for column in part.columns:
            row = scope.row_of(encoder, column)
            if row is not None and row.value is not None:
                values.append({"column": column.heading, "size": size, **_figure(row)})
    if len(_distinct(values, "encoder")) < 2:
        return None
    names = [column.heading for column in part.columns]
    title = ", ".join(names)
    axis_format, fine_format = _formats(part.columns[0].format)
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("size:Q", title="parameters", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
        color=_colours(alt, "column:N", names, LINES, alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("encoder:N"),
            alt.Tooltip("column:N"),
            alt.Tooltip("size:Q", title="parameters", format=",.0f"),
            *_range_tooltips(alt, fine_format),
        ],
    )
    y = alt.Y("value:Q", title=title, axis=alt.Axis(format=axis_format), scale=alt.Scale(zero=False))
    dots = base.mark_circle(size=80, opacity=1).encode(y=y)
    if not any(value["low"] is not None for value in values):
        return _finished(dots, part.title, 220)
    rules = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    return _finished(alt.layer(rules, dots), part.title, 220)


def curves(scope: Scope, part: Curves) -> Iterator[tuple[str, Spec]]:
    """Draw lines over a common axis: one picture for each encoder asked for, or all in one."""
    data = scope.series(part.series, "curve")
    if not data:
        return
    if not part.split:
        yield "", _lines(scope, part.title, data, data["lines"], by_encoder=True)
        return
    for encoder in _pictured(scope):
        lines = [line for line in data["lines"] if line["encoder"] == encoder]
        if lines:
            yield encoder, _lines(scope, f"{part.title}, {encoder}", data, lines, by_encoder=False)


def _lines(scope: Scope, title: str, data: dict[str, Any], lines: list[dict[str, Any]], by_encoder: bool) -> Spec:
    """Draw the lines of a series of kind ``curve``, coloured by encoder or by the lines' names."""
    import altair as alt

    values = []
    for line in lines:
        for x, y in zip(line.get("at", data["at"]), line["y"], strict=True):
            values.append({"encoder": line["encoder"], "line": line["line"], "x": x, "y": y})
    names = _distinct(lines, "line")
    if by_encoder:
        colours = _by_encoder(alt, scope)
    else:
        colours = _colours(alt, "line:N", names, LINES, alt.Legend(orient="bottom", columns=4, labelLimit=250))
    # The second kind of line is dashed, so that they differ without colour.
    dash_scale = alt.Scale(domain=names, range=_repeated(DASHES, len(names)))
    dash_legend = alt.Legend(orient="bottom", title=None, symbolStrokeColor="#222") if len(names) > 1 else None
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=data["x"], scale=alt.Scale(nice=False, zero=False)),
            y=alt.Y("y:Q", title=data["y"]),
            color=colours,
            strokeDash=alt.StrokeDash("line:N", sort=names, scale=dash_scale, legend=dash_legend),
            tooltip=["encoder:N", "line:N", alt.Tooltip("x:Q", format=".3~g"), alt.Tooltip("y:Q", format=".3~g")],
        )
    )
    return _finished(chart, title, 220)


def histograms(scope: Scope, part: Histograms) -> Iterator[tuple[str, Spec]]:
    """Draw one picture for each encoder asked for: its histograms over each other."""
    import altair as alt

    data = scope.series(part.series, "histogram")
    if not data:
        return
    edges = data["edges"]
    for encoder in _pictured(scope):
        panels = [panel for panel in data["panels"] if panel["encoder"] == encoder]
        if not panels:
            continue
        values = []
        for panel in panels:
            for low, high, share in zip(edges, edges[1:], panel["shares"], strict=False):
                values.append({"line": panel["line"], "low": low, "high": high, "share": share})
        names = [panel["line"] for panel in panels]
        legend = alt.Legend(orient="bottom", labelLimit=250) if len(names) > 1 else None
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_bar(opacity=0.55, binSpacing=0)
            .encode(
                x=alt.X("low:Q", title=data["x"], bin="binned"),
                x2="high:Q",
                y=alt.Y("share:Q", title="share of samples", stack=None, axis=alt.Axis(format="%")),
                color=_colours(alt, "line:N", names, (BLUE, ORANGE, GREEN), legend),
                tooltip=["line:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("share:Q", format=".1%")],
            )
        )
        yield encoder, _finished(chart, f"{part.title}, {encoder}", 150)


def _pictured(scope: Scope) -> list[str]:
    """Return the encoders that get a picture of their own: those asked for, or all where none was."""
    return [encoder for encoder in scope.encoders if not scope.is_baseline(encoder)] or list(scope.encoders)


def _figure(row: Row) -> dict[str, Any]:
    """Return the data of a figure with its interval."""
    return {"encoder": row.encoder, "value": row.value, "low": row.low, "high": row.high}


def _formats(style: Format) -> tuple[str, str]:
    """Return how numbers are written at an axis, and more finely in a tooltip."""
    return (".2f", ".3f") if style == "number" else (".0%", ".1%")


def _range_tooltips(alt: Any, style: str) -> list[Any]:
    """Return the tooltips of a figure with its interval."""
    return [alt.Tooltip(f"{name}:Q", format=style) for name in RANGE]


def _distinct(values: Sequence[dict[str, Any]], field: str) -> list[Any]:
    """Return the distinct values of a field, in the order in which they are first seen."""
    return list(dict.fromkeys(value[field] for value in values))


def _repeated(styles: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` colours or patterns, from the first again where there are fewer."""
    return [styles[place % len(styles)] for place in range(count)]


def _by_encoder(alt: Any, scope: Scope) -> Any:
    legend = alt.Legend(orient="bottom", columns=4, labelLimit=250)
    return _colours(alt, "encoder:N", list(scope.encoders), LINES, legend)


def _colours(alt: Any, field: str, names: list[str], colours: Sequence[str], legend: Any) -> Any:
    """Return the colours by the names in a field."""
    scale = alt.Scale(domain=names, range=_repeated(colours, len(names)))
    return alt.Color(field, title=None, sort=names, scale=scale, legend=legend)


def _encoder_axis(alt: Any, scope: Scope) -> Any:
    return alt.Y("encoder:N", title=None, sort=list(scope.encoders), axis=alt.Axis(labelLimit=150))


def _finished(chart: Any, title: str, height: int) -> Spec:
    """Return the specification of a chart, with what all charts have in common."""
    chart = chart.properties(width="container", height=height, description=title, background="transparent")
    spec: Spec = (
        chart.configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12)
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .to_dict()
    )
    return spec
