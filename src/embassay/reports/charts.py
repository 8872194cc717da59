"""Layout parts to Vega-Lite specifications; nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from embassay.layout import (
    Column,
    CountBars,
    Curves,
    GroupedBars,
    Histograms,
    IntervalChart,
    PointsChart,
    ShareBars,
    SizeChart,
)
from embassay.reports.tables import Scope

BLUE, ORANGE, VERMILION, GREY, GREEN = "#0072B2", "#E69F00", "#D55E00", "#8a8a8a", "#007a5a"
PARTS = (GREEN, ORANGE, BLUE, VERMILION, GREY)
LINES = (BLUE, VERMILION, GREEN, ORANGE, "#8f4a7d", "#3a8fb7", GREY, "#5b4b00")
"""Colours of lines that are told apart by name."""
LINE = 34
"""Height of one encoder's line, in pixels."""


def interval_chart(scope: Scope, part: IntervalChart) -> dict[str, Any] | None:
    """Draw a dot and its interval for each encoder, and chance as a dashed line."""
    import altair as alt

    rows = [scope.figure(e, part.column) for e in scope.encoders]
    values = [
        {
            "encoder": r.encoder,
            "value": r.value,
            "low": r.low,
            "high": r.high,
            "baseline": scope.baseline(r.encoder),
        }
        for r in rows
        if r is not None and r.value is not None
    ]
    if not values:
        return None
    base = alt.Chart(alt.Data(values=values)).encode(y=_encoders(alt, scope))
    style, fine = (".2f", ".3f") if part.column.format == "number" else (".0%", ".1%")
    x = alt.X("value:Q", title=part.column.heading, axis=alt.Axis(format=style), scale=_domain(alt, part, values))
    dots = base.mark_circle(size=90, opacity=1).encode(
        x=x,
        color=alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE)),
        tooltip=[
            alt.Tooltip("encoder:N"),
            *(alt.Tooltip(f"{name}:Q", format=fine) for name in ("value", "low", "high")),
        ],
    )
    layers = [dots]
    if any(v["low"] is not None for v in values):
        colour = alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE))
        layers.insert(0, base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour))
    if part.chance is not None:
        chance = alt.Chart(alt.Data(values=[{"chance": part.chance}]))
        layers.append(chance.mark_rule(strokeDash=[4, 4], color=VERMILION).encode(x="chance:Q"))
        word = chance.mark_text(text="chance", align="left", dx=4, dy=-6, color="#a34400", fontSize=11)
        layers.append(word.encode(x="chance:Q", y=alt.value(0)))
    return _finished(alt.layer(*layers), part.title, LINE * len(values))


def share_bars(scope: Scope, part: ShareBars) -> dict[str, Any] | None:
    """Draw one bar for each encoder, divided among the parts."""
    import altair as alt

    found = [
        (place, label, scope.figure(encoder, Column("", part.quantity, subset)))
        for encoder in scope.encoders
        for place, (subset, label) in enumerate(part.parts)
    ]
    values = [
        {"encoder": r.encoder, "part": label, "order": place, "value": r.value}
        for place, label, r in found
        if r is not None and r.value is not None
    ]
    if not values:
        return None
    labels = [label for _, label in part.parts]
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            y=_encoders(alt, scope),
            x=alt.X(
                "value:Q",
                title="share of items",
                axis=alt.Axis(format=".0%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "part:N",
                title=None,
                sort=labels,
                scale=alt.Scale(domain=labels, range=list(PARTS[: len(labels)])),
                legend=alt.Legend(orient="bottom", direction="vertical", labelLimit=400),
            ),
            order="order:Q",
            tooltip=["encoder:N", "part:N", alt.Tooltip("value:Q", format=".1%")],
        )
    )
    return _finished(chart, part.title, LINE * len(scope.encoders))


def points_chart(scope: Scope, part: PointsChart) -> dict[str, Any] | None:
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


def grouped_bars(scope: Scope, part: GroupedBars) -> dict[str, Any] | None:
    """Draw, for each subset, one bar with its interval for each encoder."""
    import altair as alt

    found = [
        (label, scope.figure(encoder, Column("", part.quantity, subset)))
        for subset, label in part.parts
        for encoder in scope.encoders
    ]
    values = [
        {"subset": label, "encoder": r.encoder, "value": r.value, "low": r.low, "high": r.high}
        for label, r in found
        if r is not None and r.value is not None
    ]
    if not values:
        return None
    labels = [label for _, label in part.parts if any(v["subset"] == label for v in values)]
    style, fine = (".2f", ".3f") if part.format == "number" else (".0%", ".1%")
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("subset:N", title=None, sort=labels, axis=alt.Axis(labelLimit=160)),
        yOffset=alt.YOffset("encoder:N", sort=list(scope.encoders)),
        tooltip=["encoder:N", "subset:N", *(alt.Tooltip(f"{n}:Q", format=fine) for n in ("value", "low", "high"))],
    )
    bars = base.mark_bar().encode(
        x=alt.X("value:Q", title=part.quantity, axis=alt.Axis(format=style)), color=_by_encoder(alt, scope)
    )
    rules = base.mark_rule(color="#222").encode(x="low:Q", x2="high:Q")
    height = len(labels) * (14 * len(scope.encoders) + 12)
    return _finished(alt.layer(bars, rules), part.title, height)


def count_bars(scope: Scope, part: CountBars) -> dict[str, Any] | None:
    """Draw a column of a table as bars, side by side where another column names groups of them."""
    import altair as alt

    data = scope.series(part.series, "table")
    if not data or not data["rows"]:
        return None
    place = {name: number for number, name in enumerate(data["columns"])}
    values = [
        {"x": row[place[part.x]], "y": row[place[part.y]], "by": row[place[part.by]] if part.by else ""}
        for row in data["rows"]
    ]
    style = ".0%" if data["formats"][place[part.y]] == "percent" else ",.0f"
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("x:O", title=part.x, sort=sorted({v["x"] for v in values}), axis=alt.Axis(labelAngle=0)),
            y=alt.Y("y:Q", title=part.y, axis=alt.Axis(format=style)),
            tooltip=[alt.Tooltip("x:O", title=part.x), alt.Tooltip("y:Q", title=part.y, format=style)],
        )
    )
    if part.by:
        names = list(dict.fromkeys(v["by"] for v in values))
        colours = alt.Scale(domain=names, range=[LINES[number % len(LINES)] for number in range(len(names))])
        legend = alt.Legend(orient="bottom", labelLimit=250)
        chart = chart.encode(
            xOffset=alt.XOffset("by:N", sort=names),
            color=alt.Color("by:N", title=None, sort=names, scale=colours, legend=legend),
        )
    return _finished(chart, part.title, 180)


def size_chart(scope: Scope, part: SizeChart) -> dict[str, Any] | None:
    """Draw a dot and its interval for each encoder of known size and each column, over the number of parameters."""
    import altair as alt

    figures = [(c.heading, e, scope.figure(e, c)) for e in scope.sizes for c in part.columns]
    values = [
        {"column": heading, "encoder": e, "size": scope.sizes[e], "value": r.value, "low": r.low, "high": r.high}
        for heading, e, r in figures
        if r is not None and r.value is not None
    ]
    if len({v["encoder"] for v in values}) < 2:
        return None
    names = [column.heading for column in part.columns]
    colours = alt.Scale(domain=names, range=[LINES[place % len(LINES)] for place in range(len(names))])
    style, fine = (".2f", ".3f") if part.columns[0].format == "number" else (".0%", ".1%")
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("size:Q", title="parameters", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
        color=alt.Color("column:N", title=None, sort=names, scale=colours, legend=alt.Legend(orient="bottom")),
        tooltip=[
            alt.Tooltip("encoder:N"),
            alt.Tooltip("column:N"),
            alt.Tooltip("size:Q", title="parameters", format=",.0f"),
            *(alt.Tooltip(f"{name}:Q", format=fine) for name in ("value", "low", "high")),
        ],
    )
    y = alt.Y("value:Q", title=", ".join(names), axis=alt.Axis(format=style), scale=alt.Scale(zero=False))
    dots = base.mark_circle(size=80, opacity=1).encode(y=y)
    if not any(v["low"] is not None for v in values):
        return _finished(dots, part.title, 220)
    rules = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=", ".join(names)), y2="high:Q")
    return _finished(alt.layer(rules, dots), part.title, 220)


def curves(scope: Scope, part: Curves) -> Iterator[tuple[str, dict[str, Any]]]:
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


def _lines(scope: Scope, title: str, data: Any, lines: list[Any], by_encoder: bool) -> dict[str, Any]:
    import altair as alt

    values = [
        {"encoder": line["encoder"], "line": line["line"], "x": x, "y": y}
        for line in lines
        for x, y in zip(line.get("at", data["at"]), line["y"], strict=True)
    ]
    names = list(dict.fromkeys(line["line"] for line in lines))
    by_line = alt.Color(
        "line:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=[LINES[place % len(LINES)] for place in range(len(names))]),
        legend=alt.Legend(orient="bottom", columns=4, labelLimit=250),
    )
    chart = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=data["x"], scale=alt.Scale(nice=False, zero=False)),
            y=alt.Y("y:Q", title=data["y"]),
            color=_by_encoder(alt, scope) if by_encoder else by_line,
            strokeDash=_dashes(alt, names),
            tooltip=["encoder:N", "line:N", alt.Tooltip("x:Q", format=".3~g"), alt.Tooltip("y:Q", format=".3~g")],
        )
    )
    return _finished(chart, title, 220)


def histograms(scope: Scope, part: Histograms) -> Iterator[tuple[str, dict[str, Any]]]:
    """Draw one picture for each encoder asked for: its histograms over each other."""
    import altair as alt

    data = scope.series(part.series, "histogram")
    for encoder in _pictured(scope) if data else ():
        panels = [panel for panel in data["panels"] if panel["encoder"] == encoder]
        if not panels:
            continue
        values = [
            {"line": panel["line"], "low": low, "high": high, "share": share}
            for panel in panels
            for low, high, share in zip(data["edges"], data["edges"][1:], panel["shares"], strict=False)
        ]
        names = [panel["line"] for panel in panels]
        legend = alt.Legend(orient="bottom", labelLimit=250) if len(names) > 1 else None
        chart = (
            alt.Chart(alt.Data(values=values))
            .mark_bar(opacity=0.55, binSpacing=0)
            .encode(
                x=alt.X("low:Q", title=data["x"], bin="binned"),
                x2="high:Q",
                y=alt.Y("share:Q", title="share of samples", stack=None, axis=alt.Axis(format="%")),
                color=alt.Color(
                    "line:N",
                    title=None,
                    sort=names,
                    scale=alt.Scale(domain=names, range=[BLUE, ORANGE, GREEN][: len(names)]),
                    legend=legend,
                ),
                tooltip=["line:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("share:Q", format=".1%")],
            )
        )
        yield encoder, _finished(chart, f"{part.title}, {encoder}", 150)


def _pictured(scope: Scope) -> list[str]:
    """Return the encoders that get a picture of their own: those asked for, or all where none was."""
    return [e for e in scope.encoders if not scope.baseline(e)] or list(scope.encoders)


def _by_encoder(alt: Any, scope: Scope) -> Any:
    names = list(scope.encoders)
    return alt.Color(
        "encoder:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=[LINES[place % len(LINES)] for place in range(len(names))]),
        legend=alt.Legend(orient="bottom", columns=4, labelLimit=250),
    )


def _dashes(alt: Any, names: list[str]) -> Any:
    """Draw the first kind of line whole, the second dashed, so that they differ without colour."""
    patterns = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 3], [1, 3]]
    scale = alt.Scale(domain=names, range=[patterns[place % len(patterns)] for place in range(len(names))])
    legend = alt.Legend(orient="bottom", title=None, symbolStrokeColor="#222") if len(names) > 1 else None
    return alt.StrokeDash("line:N", sort=names, scale=scale, legend=legend)


def _encoders(alt: Any, scope: Scope) -> Any:
    return alt.Y("encoder:N", title=None, sort=list(scope.encoders), axis=alt.Axis(labelLimit=150))


def _domain(alt: Any, part: IntervalChart, values: list[dict[str, Any]]) -> Any:
    if part.column.format == "percent" and all(v["value"] >= 0 for v in values):
        return alt.Scale(domain=[0, 1])
    return alt.Scale(zero=False)


def _finished(chart: Any, title: str, height: int) -> dict[str, Any]:
    chart = chart.properties(width="container", height=height, description=title, background="transparent")
    spec: dict[str, Any] = (
        chart.configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12)
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .to_dict()
    )
    return spec
