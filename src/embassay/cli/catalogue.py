"""``embassay list``: what is available, what is installed, and the command that installs the rest."""

from __future__ import annotations

import sys

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
            console.print(_table(KINDS[title]))


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


def _table(folder: Folder) -> Table:
    """Return a table of the plug-ins of one kind."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name in folder.names():
        try:
            lines = _described(folder, name)
        except PluginError as error:
            # A list is where a user looks for the reason, so the plug-in stays in it.
            lines = [str(error)]
        table.add_row(Text(name), Text("\n".join(lines)))
    return table


def _described(folder: Folder, name: str) -> list[str]:
    """Return a plug-in's summary, its options, and the command that installs a missing extra."""
    summary, extra, usable = folder.describe(name)
    lines = [summary]
    if options := folder.options(name):
        lines.append(f"options: {', '.join(options)}")
    if not usable:
        lines.append(f"pip install 'embassay[{extra}]'")
    return lines


def _profiles() -> Table:
    """Return a table of the profiles with their diagnostics."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name, profile in PROFILES.items():
        diagnostics = "; ".join(profile.diagnostics)
        if profile.with_others:
            diagnostics += "; and those of other packages"
        table.add_row(Text(name), Text(f"{profile.purpose}\n{diagnostics}"))
    return table


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
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name, encoder_set in sets().items():
        lines = [f"{encoder_set.title}: {len(encoder_set.members)} encoders"]
        if whole:
            lines += map(_member_line, encoder_set.members)
        table.add_row(Text(f"@{name}"), Text("\n".join(lines)))
    return table


def _member_line(member: Member) -> str:
    """Return the line of an encoder of a set: its name and spec, its size and a note."""
    line = f"{member.called}: {member.spec or 'no spec'}"
    dimensions = f"{member.dim} dimensions" if member.dim else ""
    details = [detail for detail in (member.parameters, dimensions, member.group, member.note) if detail]
    if details:
        line += f" ({'; '.join(details)})"
    return line
