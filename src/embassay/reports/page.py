"""A result as one HTML file: no network, every text escaped, charts with their tables beside them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from embassay._version import __version__
from embassay.layout import (
    AcrossTable,
    ComparisonTable,
    CorpusTable,
    CountBars,
    Curves,
    EncoderTable,
    Examples,
    GroupedBars,
    Histograms,
    IntervalChart,
    Layout,
    Matrix,
    Part,
    PointsChart,
    SeriesTable,
    ShareBars,
    SizeChart,
    SizeTable,
    SubsetTable,
)
from embassay.reports import charts, examples, tables
from embassay.reports.tables import Scope, Table
from embassay.reports.words import verdict, whole_run
from embassay.result import Result, anchor

TABLES: dict[type, Callable[..., Table | None]] = {
    EncoderTable: tables.encoder_table,
    CorpusTable: tables.corpus_table,
    AcrossTable: tables.across_table,
    SizeTable: tables.size_table,
    SubsetTable: tables.subset_table,
    ComparisonTable: tables.comparison_table,
    SeriesTable: tables.series_table,
    Matrix: tables.matrix_table,
}
CHARTS: dict[type, Callable[..., charts.Spec | None]] = {
    IntervalChart: charts.interval_chart,
    ShareBars: charts.share_bars,
    PointsChart: charts.points_chart,
    GroupedBars: charts.grouped_bars,
    CountBars: charts.count_bars,
    SizeChart: charts.size_chart,
}
SPLIT: dict[type, Callable[..., Iterator[tuple[str, charts.Spec]]]] = {
    Curves: charts.curves,
    Histograms: charts.histograms,
}
"""Parts that may be several pictures, each with a caption."""


@dataclass(frozen=True)
class Block:
    """One thing on the page: a table, a chart, or examples."""

    kind: str
    title: str
    note: str = ""
    table: Table | None = None
    browser: examples.Browser | None = None
    charts: tuple[tuple[str, str], ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """One diagnostic on one corpus."""

    anchor: str
    title: str
    question: str
    source: str
    verdict: tuple[str, ...]
    blocks: tuple[Block, ...]


def render(
    result: Result,
    layouts: Mapping[str, Layout],
    speed: Mapping[str, float] | None = None,
    badges: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the HTML page of a result.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    speed
        Texts per second by encoder, where it was measured.
    badges
        By encoder, the results of the robustness checks, if they were made.
    notes
        Assumptions, and what was left out.
    """
    from jinja2 import Environment, StrictUndefined

    library = _resource("vendor/vega.js")
    script = _resource("page.js")
    browser = _resource("examples.js")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page: str = environment.from_string(_resource("page.html")).render(
        result=result,
        findings=list(whole_run(result)),
        sections=list(_sections(result, layouts, speed or {})),
        version=__version__,
        style=_resource("page.css") + _resource("examples.css"),
        library=library,
        script=script,
        browser=browser,
        embedded=_embedded,
        hashes=[_csp_hash(library), _csp_hash(script), _csp_hash(browser)],
        speed=speed or {},
        trust=[_trust(e.name, badges[e.name]) for e in result.encoders if badges and e.name in badges],
        notes=[*notes, *(f"{name}: {n}" for name, found in (badges or {}).items() for n in found.get("notes", ()))],
    )
    return page


def _sections(result: Result, layouts: Mapping[str, Layout], speed: Mapping[str, float]) -> Iterator[Section]:
    for found in result.verdicts:
        layout = layouts[found.diagnostic]
        scope = Scope(result, found.diagnostic, found.corpus, layout.headline.columns[0])
        yield Section(
            anchor(found.diagnostic, found.corpus),
            f"{layout.title} on {found.corpus}",
            layout.question,
            layout.source,
            tuple(verdict(result, found, speed)),
            tuple(_blocks(scope, layout)),
        )


def _trust(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one line on trust: drift, ties in half precision, what another wording of a prompt does, or why not."""
    drift, ties = found.get("drift"), found.get("half_ties")
    prompts = [
        f"{role}: cosine {spread['cosine']:.3f}, {spread['same_nearest']:.0%} of the nearest neighbours stay"
        for role, spread in (found.get("prompts") or {}).items()
    ]
    return (
        name,
        f"{found['sampled']:,}",
        "–" if drift is None else f"{drift:.0e}",
        "–" if ties is None else f"{ties:.1%}",
        found.get("reason") or "; ".join(prompts) or "no prompt",
    )


def _blocks(scope: Scope, layout: Layout) -> Iterator[Block]:
    """Yield what there is to show of each part of a layout."""
    for part in (layout.headline, *layout.parts):
        if isinstance(part, Examples):
            browser = examples.browser(scope, part)
            if browser:
                yield Block("examples", part.title, browser.note, browser=browser)
        elif type(part) in TABLES:
            table = TABLES[type(part)](scope, part)
            if table:
                yield Block("table", part.title, table.note, table=table)
        else:
            pictures = tuple((caption, _embedded(spec)) for caption, spec in pictures_of(scope, part))
            if pictures:
                note, folded = getattr(part, "note", ""), getattr(part, "folded", False)
                yield Block("charts", part.title, note, charts=pictures, folded=folded)


def pictures_of(scope: Scope, part: Part) -> Iterator[tuple[str, charts.Spec]]:
    """Yield the pictures of a part, each with its caption."""
    if type(part) in SPLIT:
        yield from SPLIT[type(part)](scope, part)
        return
    spec = CHARTS[type(part)](scope, part)
    if spec:
        yield "", spec


def _embedded(spec: Mapping[str, Any]) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(spec, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _resource(name: str) -> str:
    return files("embassay.reports").joinpath(name).read_text(encoding="utf-8")


def _csp_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
