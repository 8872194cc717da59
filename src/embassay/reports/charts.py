"""Layout parts to Vega-Lite specifications; nothing is computed."""

from __future__ import annotations

from typing import Any

from embassay.layout import Column, IntervalChart, PointsChart, ShareBars
from embassay.reports.tables import Scope

BLUE, ORANGE, VERMILION, GREY, GREEN = "#0072B2", "#E69F00", "#D55E00", "#8a8a8a", "#007a5a"
PARTS = (GREEN, ORANGE, BLUE, VERMILION, GREY)
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
    style, fine = (".0%", ".1%") if part.column.format == "percent" else (".2f", ".3f")
    x = alt.X("value:Q", title=part.column.heading, axis=alt.Axis(format=style), scale=_domain(alt, part, values))
    dots = base.mark_circle(size=90, opacity=1).encode(
        x=x,
        color=alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE)),
        tooltip=[
            alt.Tooltip("encoder:N"),
            *(alt.Tooltip(f"{name}:Q", format=fine) for name in ("value", "low", "high")),
        ],
    )
    rules = base.mark_rule(strokeWidth=2).encode(
        x="low:Q", x2="high:Q", color=alt.condition("datum.baseline", alt.value(GREY), alt.value(BLUE))
    )
    layers = [rules, dots]
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

    data = scope.series(part.series)
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
