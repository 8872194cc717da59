"""``embassay list``: what is available, what is installed, and the command that installs the rest."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay.cli.citations import OURS, other_references
from embassay.core.errors import PluginError, UnknownNameError, say
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, FORMATS, RETRIEVERS, Folder
from embassay.diagnostics.metrics.metric import listed_metrics
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
        for heading in ("better", "range", "chance", "margin", "meaning"):
            table.add_column(heading)
        for metric in metrics:
            cells = (metric.key, metric.better, metric.range, metric.chance, metric.margin, metric.meaning)
            table.add_row(*map(Text, cells))
        console.print(Text(f"\n{name}"))
        console.print(table)


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
