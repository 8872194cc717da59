"""``embassay list``: what is available, what is installed, and the command that installs the rest."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.cli.citations import OURS, other_references
from embassay.core.errors import PluginError, UnknownNameError, say
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, FORMATS, RETRIEVERS, Folder
from embassay.diagnostics.metrics.metric import OPTION, WITHIN_ENCODER, Metric, declared_metrics
from embassay.reports.terminal import stdout
from embassay.run.presets import Member, sets
from embassay.run.profiles import PROFILES

KINDS = {
    "encoders": ENCODERS,
    "retrievers": RETRIEVERS,
    "corpora": CORPORA,
    "diagnostics": DIAGNOSTICS,
    "builders": BUILDERS,
    "formats": FORMATS,
}
PAPERS_ONLY = ("infersent", "laser", "paragraphs", "urae", "use", "words")
"""Encoders that a paper compares and that no search tool uses; they are listed below the others."""
SETS = "sets"
PROFILES_LISTED = "profiles"
METRICS = "metrics"
SUBSETS_LISTED = 4
"""Subsets of a metric that a list names."""


def show(what: str | None) -> None:
    """Print the plug-ins of one kind or of all kinds.

    Sets are listed with their encoders only for ``sets``, metrics only for ``metrics``.

    Raises
    ------
    UnknownNameError
        If ``what`` is not a kind.
    """
    titles = (*KINDS, SETS, PROFILES_LISTED, METRICS)
    if what is None:
        chosen = titles[:-1]
    elif what in titles:
        chosen = (what,)
    else:
        raise UnknownNameError("kind of plug-in", what, titles)
    console = stdout()
    for title in chosen:
        console.print(Text(title, style="bold"))
        if title == SETS:
            console.print(_sets(whole=what == SETS))
        elif title == METRICS:
            _print_metrics(console)
        elif title == PROFILES_LISTED:
            console.print(_profiles())
        else:
            console.print(_plugins(KINDS[title]))


def cite() -> None:
    """Print the BibTeX entries of this package, of the paper behind each diagnostic, and of the statistics.

    A diagnostic of another package has one if its module defines ``CITATION``.
    """
    entries = [OURS]
    for name in DIAGNOSTICS.names():
        try:
            entry = getattr(DIAGNOSTICS.module(name), "CITATION", "")
        except PluginError as error:
            # A broken plug-in of another package must not hide the references of the others.
            say(str(error))
            continue
        if entry:
            entries.append(f"% {name}\n{entry}")
    entries += other_references().values()
    sys.stdout.write("\n\n".join(entries) + "\n")


def _table(lines: Iterable[tuple[str, str]]) -> Table:
    """Return a table of names and what is said of them."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name, text in lines:
        table.add_row(Text(name), Text(text))
    return table


def _plugins(folder: Folder) -> Table:
    """Return a table of plug-ins of one kind, those that a search tool uses first."""
    lines = []
    for name in sorted(folder.names(), key=PAPERS_ONLY.__contains__):
        try:
            lines.append((name, _described(folder, name)))
        except PluginError as error:
            # A list is where a user looks for the reason, so the plug-in stays in it.
            lines.append((name, str(error)))
    return _table(lines)


def _described(folder: Folder, name: str) -> str:
    """Return a plug-in's summary, its options, and the command that installs a missing extra."""
    text, extra, usable = folder.describe(name)
    if options := folder.options(name):
        text += f"\noptions: {', '.join(options)}"
    if not usable:
        text += f"\npip install 'embassay[{extra}]'"
    return text


def _profiles() -> Table:
    """Return a table of the profiles with their diagnostics."""
    lines = []
    for name, profile in PROFILES.items():
        others = "; and those of other packages" if profile.with_others else ""
        lines.append((name, f"{profile.purpose}\n{'; '.join(profile.diagnostics)}{others}"))
    return _table(lines)


def _print_metrics(console: Console) -> None:
    """Print what each diagnostic measures."""
    for name in DIAGNOSTICS.working():
        metrics = listed_metrics(name)
        if not metrics:
            continue
        table = Table(box=None, padding=(0, 2, 0, 2))
        table.add_column("metric", no_wrap=True, overflow="fold")
        for heading in ListedMetric._fields[1:]:
            table.add_column(heading)
        for metric in metrics:
            table.add_row(*map(Text, metric))
        console.print(Text(f"\n{name}"))
        console.print(table)


class ListedMetric(NamedTuple):
    """A metric as lists show it: those that differ in their subset only are one line.

    Attributes
    ----------
    key
        Name, subsets and condition: ``chosen[antonym, polarity]``, ``contrast[synonym-antonym]{raw}``.
    range, chance, margin
        As texts; empty where there is none.
    meaning
        With the source, where that is not the paper of the diagnostic.
    """

    key: str
    better: str
    range: str
    chance: str
    margin: str
    meaning: str


def listed_metrics(diagnostic: str) -> list[ListedMetric]:
    """Return what a diagnostic measures, in the order of its declarations."""
    groups = dict[tuple[str, ...], list[Metric]]()
    for metric in declared_metrics(diagnostic):
        alike = (metric.name, metric.condition, metric.kind, metric.better, metric.meaning, str(metric.headline))
        groups.setdefault(alike, []).append(metric)
    return [_listed(metrics) for metrics in groups.values()]


def _listed(metrics: list[Metric]) -> ListedMetric:
    """Return the line of metrics that differ in their subset only."""
    first = metrics[0]
    subsets = ", ".join(metric.subset for metric in metrics[:SUBSETS_LISTED])
    if len(metrics) > SUBSETS_LISTED:
        subsets += f", {len(metrics) - SUBSETS_LISTED} more"
    # ``Success@{k}`` is Success@k to a reader.
    key = OPTION.sub(lambda option: option[0][1:-1], f"{first.name}[{subsets}]")
    if first.condition:
        key += f"{{{first.condition}}}"
    low, high = map(_number, first.range)
    scale = "comparable within one encoder only" if first.compared == WITHIN_ENCODER else ""
    return ListedMetric(
        key,
        first.better,
        f"{low or '−∞'} to {high or '∞'}" if low or high else "",
        "depends on the corpus" if callable(first.chance) else _number(first.chance),
        _number(first.margin),
        "; ".join(filter(None, (first.meaning, first.source, scale))),
    )


def _number(value: float | None) -> str:
    """Return a number in at most three digits; empty for none."""
    return "" if value is None else f"{value:.3g}".replace("-", "−")


def _sets(whole: bool) -> Table:
    """Return a table of the named sets of encoders; with ``whole``, list their encoders too."""
    lines = []
    for name, encoder_set in sets().items():
        text = f"{encoder_set.title}: {len(encoder_set.members)} encoders"
        if whole:
            text = "\n".join([text, *map(_member_line, encoder_set.members)])
        lines.append((f"@{name}", text))
    return _table(lines)


def _member_line(member: Member) -> str:
    """Return the line of an encoder of a set: its name and spec, its size and a note."""
    dimensions = f"{member.dim} dimensions" if member.dim else ""
    details = "; ".join(detail for detail in (member.parameters, dimensions, member.group, member.note) if detail)
    return f"{member.called}: {member.spec or 'no spec'}" + (f" ({details})" if details else "")
