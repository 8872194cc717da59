"""A result as one HTML file: no network, every text escaped, charts with their tables beside them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from embassay._version import __version__
from embassay.core.formatting import counted, readable
from embassay.core.layout import (
    ComparisonTable,
    CorpusTable,
    Curves,
    EncoderTable,
    Examples,
    GroupedBars,
    Histograms,
    IntervalChart,
    Layout,
    Matrix,
    Part,
    SeriesTable,
    SubsetTable,
)
from embassay.core.result import Result, Verdict, anchor
from embassay.reports import charts, examples, tables
from embassay.reports.answers import AnswerSection, actions, answer_sections, entries
from embassay.reports.costs import Milliseconds, cost_tables
from embassay.reports.findings.support import answered, support
from embassay.reports.glossary import used_terms
from embassay.reports.scorecard import BETTER, NO_TIMES, OPEN, WORSE, legend, scorecard
from embassay.reports.tables import Scope, Table, scope_of
from embassay.reports.templates import filled, resource

TABLES: dict[type, Callable[..., Table | None]] = {
    EncoderTable: tables.encoder_table,
    CorpusTable: tables.corpus_table,
    SubsetTable: tables.subset_table,
    ComparisonTable: tables.comparison_table,
    SeriesTable: tables.series_table,
    Matrix: tables.matrix_table,
}
PICTURES: dict[type, Callable[..., charts.Pictures]] = {
    IntervalChart: charts.interval_chart,
    GroupedBars: charts.grouped_bars,
    Curves: charts.curves,
    Histograms: charts.histograms,
}
FIRST_FINDINGS = 6
"""Findings that are not folded."""
DIGITS = 6
"""Significant digits of a number in a chart or of an item."""
MARKS = {BETTER: "better", WORSE: "worse", OPEN: "open"}
"""The class of a cell of the scorecard by its mark."""
DECISIVE = ("use", "highest", "instead", "undecided", "rejected")
"""Kinds of answers that stand above the picture; the others stand below it."""


@dataclass(frozen=True)
class PageBlock:
    """One thing in a section: a table, pictures, or examples.

    Attributes
    ----------
    anchor
        The id of the block, the same in every report.
    """

    anchor: str
    title: str
    note: str = ""
    table: Table | None = None
    browser: examples.Browser | None = None
    charts: tuple[tuple[str, str], ...] = ()

    @property
    def texts(self) -> Iterator[str]:
        """The texts in which terms may occur."""
        yield self.title
        yield self.note
        if self.table:
            yield from self.table.head


@dataclass(frozen=True)
class Group:
    """Folded blocks under one heading."""

    title: str
    blocks: tuple[PageBlock, ...]


@dataclass(frozen=True)
class PageSection:
    """One diagnostic on one corpus.

    Attributes
    ----------
    answers
        What is read of it first.
    others
        The answers on other encoders.
    support
        What the figures are based on.
    shown
        The picture and the table that are not folded.
    picture
        Where there is one section, its picture, which stands below the decision.
    signatures
        What the figures depend on, each signature once.
    """

    verdict: Verdict
    layout: Layout
    anchor: str
    answers: AnswerSection
    others: tuple[str, ...]
    support: str
    shown: tuple[PageBlock, ...]
    groups: tuple[Group, ...]
    signatures: tuple[str, ...]
    picture: PageBlock | None = None

    @property
    def marked(self) -> str:
        """What is marked in the picture of the headline."""
        baseline = self.verdict.baseline
        marks = ["shaded: may be the best"] if self.verdict.best_set else []
        marks += [f"dotted: {baseline}"] if baseline else []
        return "; ".join(marks)

    @property
    def title(self) -> str:
        """The heading."""
        return f"{self.layout.title} on {self.verdict.corpus}"

    @property
    def texts(self) -> Iterator[str]:
        """All texts in which terms may occur."""
        yield from (text for _, text in self.answers.texts())
        yield from self.others
        yield from (self.layout.question, self.marked)
        for block in (*filter(None, [self.picture]), *self.shown, *(b for group in self.groups for b in group.blocks)):
            yield from block.texts


def render(
    result: Result,
    layouts: Mapping[str, Layout],
    badges: Mapping[str, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
    milliseconds: Milliseconds = NO_TIMES,
) -> str:
    """Return the HTML page of a result.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    badges
        By encoder, the results of the robustness checks, if they were made.
    notes
        Assumptions, and what was left out.
    milliseconds
        Of one question, by encoder and corpus.
    """
    findings = entries(result.findings, layouts)
    card = scorecard(result, layouts)
    sections = list(_sections(result, layouts))
    # A column alone says what picture and table of its section say.
    marks = legend(card) if len(card.questions) > 1 else ""
    texts = [marks, *(text for section in sections for text in section.texts)]
    texts += [text for finding in result.findings for text in (finding.sentence, finding.consequence)]
    badges = badges or {}
    all_notes = list(notes)
    for name, checks in badges.items():
        all_notes += [f"{name}: {note}" for note in checks.get("notes", ())]
    return filled(
        "page.html",
        result=result,
        card=card,
        legend=marks,
        marks=MARKS,
        findings=findings,
        first_findings=FIRST_FINDINGS,
        decisive=DECISIVE,
        actions=actions(result),
        cost_tables=list(cost_tables(result, milliseconds)),
        sections=sections,
        version=__version__,
        style=resource("page.css") + resource("examples.css"),
        library=resource("vendor/vega.js"),
        script=resource("page.js"),
        browser=resource("examples.js"),
        embedded=_embedded,
        csp_hash=_csp_hash,
        terms=used_terms(layouts, texts),
        badges=badges,
        counted=counted,
        encoders=sorted(result.encoders, key=lambda encoder: encoder.baseline),
        notes=all_notes,
    )


def _sections(result: Result, layouts: Mapping[str, Layout]) -> Iterator[PageSection]:
    for answers in answer_sections(result, layouts):
        verdict = answers.verdict
        layout = layouts[verdict.diagnostic]
        scope = scope_of(result, verdict, layouts)
        name = anchor(verdict.diagnostic, verdict.corpus)
        others = [answered(one) for one in filter(scope.holds, result.answers) if one not in answers.answers]

        ids = Counter[str]()
        headline = list(_blocks(scope, (layout.headline,), name, ids))
        parts = list(_blocks(scope, layout.parts, name, ids))
        paper = list(_blocks(scope, layout.paper, name, ids))
        # The first chart stands beside the headline table; everything else is folded.
        picture = [block for block in parts if block.charts][:1]
        # Where there is one section, its picture stands below the decision.
        is_alone = len(result.verdicts) == 1
        shown = [*(() if is_alone else picture), *headline]

        items = [block for block in parts if block.browser]
        more = [block for block in parts if block not in picture and block not in items]
        groups = []
        for title, blocks in (("Single items", items), ("More", more), ("The paper's figures", paper)):
            if blocks:
                groups.append(Group(title, tuple(blocks)))

        yield PageSection(
            verdict,
            layout,
            name,
            answers,
            tuple(others),
            support=" ".join(support(result, verdict)),
            shown=tuple(shown),
            picture=picture[0] if is_alone and picture else None,
            groups=tuple(groups),
            signatures=scope.signatures,
        )


def _blocks(scope: Scope, parts: Iterable[Part], section: str, ids: Counter[str]) -> Iterator[PageBlock]:
    """Yield what there is to show of each part of a layout.

    Parameters
    ----------
    section
        The id of the section.
    ids
        How often each id was used: no two blocks have the same.
    """
    for part in parts:
        slug = re.sub(r"[^a-z0-9]+", "-", part.title.lower()).strip("-")
        block = _block(scope, part, f"{section}--{slug}")
        if block is None:
            continue
        ids[block.anchor] += 1
        if ids[block.anchor] > 1:
            block = replace(block, anchor=f"{block.anchor}-{ids[block.anchor]}")
        yield block


def _block(scope: Scope, part: Part, name: str) -> PageBlock | None:
    """Return what there is to show of a part; None if there is nothing."""
    if isinstance(part, Examples):
        browser = examples.browser(scope, part)
        if browser is None:
            return None
        return PageBlock(name, part.title, browser.note, browser=browser)
    if type(part) in TABLES:
        table = TABLES[type(part)](scope, part)
        if table is None:
            return None
        return PageBlock(name, part.title, table.note, table)
    pictures = [(caption, _embedded(spec)) for caption, spec in PICTURES[type(part)](scope, part)]
    if not pictures:
        return None
    return PageBlock(name, part.title, getattr(part, "note", ""), charts=tuple(pictures))


def _embedded(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(_shown(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: object) -> object:
    """Return JSON whose texts have no invisible control characters, and whose numbers have few digits."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {readable(name): _shown(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(part) for part in value]
    return value


def _csp_hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
