"""``embassay list``: what is available, what is installed, and the command that installs the rest."""

from __future__ import annotations

import sys

from rich.table import Table
from rich.text import Text

from embassay._version import __version__
from embassay.errors import PluginError, UnknownNameError, say
from embassay.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, Folder
from embassay.reports.terminal import stdout
from embassay.run.presets import named, names
from embassay.run.profiles import PROFILES

KINDS = {"encoders": ENCODERS, "corpora": CORPORA, "diagnostics": DIAGNOSTICS, "builders": BUILDERS}
SETS = "sets"
PROFILES_LISTED = "profiles"


def show(what: str | None) -> None:
    """Print the plug-ins of one kind or of all kinds; sets are listed with their encoders only for ``sets``.

    Raises
    ------
    UnknownNameError
        If ``what`` is not a kind.
    """
    if what is not None and what not in (*KINDS, SETS, PROFILES_LISTED):
        raise UnknownNameError("kind of plug-in", what, (*KINDS, SETS, PROFILES_LISTED))
    console = stdout()
    for title, folder in KINDS.items():
        if what in (None, title):
            console.print(Text(title, style="bold"))
            console.print(_table(folder))
    if what in (None, SETS):
        console.print(Text(SETS, style="bold"))
        console.print(_sets(whole=what == SETS))
    if what in (None, PROFILES_LISTED):
        console.print(Text(PROFILES_LISTED, style="bold"))
        console.print(_profiles())


OURS = f"""@software{{embassay,
  title = {{Embassay: an assay for sentence embeddings}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""


def cite() -> None:
    """Print the BibTeX entries of this package and of the paper behind each diagnostic.

    A diagnostic of another package has one if its module defines ``CITATION``.
    """
    entries = [OURS]
    for name in DIAGNOSTICS.names():
        try:
            entry = getattr(DIAGNOSTICS.module(name), "CITATION", "")
        except PluginError as error:
            say(str(error))
            continue
        if entry:
            entries.append(f"% {name}\n{entry}")
    sys.stdout.write("\n\n".join(entries) + "\n")


def _table(folder: Folder) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name in folder.names():
        try:
            lines = _described(folder, name)
        except PluginError as error:
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
        others = "; and those of other packages" if profile.with_others else ""
        table.add_row(Text(name), Text(f"{profile.purpose}\n{'; '.join(profile.diagnostics)}{others}"))
    return table


def _sets(whole: bool) -> Table:
    """Return a table of the named sets of encoders; with ``whole``, list their encoders too."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
    for name in names():
        found = named(name)
        lines = [f"{found.title}: {len(found.members)} encoders"]
        for member in found.members if whole else ():
            more = "; ".join(part for part in (member.parameters, member.note) if part)
            lines.append(f"{member.called}: {member.spec or 'no spec'}" + (f" ({more})" if more else ""))
        table.add_row(Text(f"@{name}"), Text("\n".join(lines)))
    return table
