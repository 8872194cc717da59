"""``embassay list``: what is available, what is installed, and the command that installs the rest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from embassay._version import YEAR, __version__
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
SETS, PROFILES_LISTED, METRICS = "sets", "profiles", "metrics"
OURS = f"""@software{{embassay,
  author = {{{{The Embassay developers}}}},
  title = {{Embassay: an assay for sentence embeddings}},
  year = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""
"""The BibTeX entry of this package."""
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
    if what is not None and what not in titles:
        raise UnknownNameError("kind of plug-in", what, titles)
    console = stdout()
    for title in titles[:-1] if what is None else [what]:
        console.print(Text(title, style="bold"))
        if title == METRICS:
            _print_metrics(console)
            continue
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        for name, text in _lines(title, whole=title == what):
            table.add_row(Text(name), Text(text))
        console.print(table)


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
    entries.append(files("embassay.core.data").joinpath("references.bib").read_text(encoding="utf-8"))
    sys.stdout.write("\n\n".join(entries))


def _lines(title: str, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield a name and what is said of it, for each thing of a kind; with ``whole``, sets with their encoders."""
    if title == SETS:
        for name, encoder_set in sets().items():
            text = f"{encoder_set.title}: {len(encoder_set.members)} encoders"
            yield f"@{name}", "\n".join([text, *(map(_member_line, encoder_set.members) if whole else ())])
    elif title == PROFILES_LISTED:
        for name, profile in PROFILES.items():
            others = "; and those of other packages" if profile.with_others else ""
            yield name, f"{profile.purpose}\n{'; '.join(profile.diagnostics)}{others}"
    else:
        folder = KINDS[title]
        # Those that a search tool uses come first.
        for name in sorted(folder.names(), key=PAPERS_ONLY.__contains__):
            try:
                yield name, _described(folder, name)
            except PluginError as error:
                # A list is where a user looks for the reason, so the plug-in stays in it.
                yield name, str(error)


def _described(folder: Folder, name: str) -> str:
    """Return a plug-in's summary, its options, and the command that installs a missing extra."""
    text, extra = folder.describe(name)
    if options := folder.options(name):
        text += f"\noptions: {', '.join(options)}"
    if extra:
        text += f"\npip install 'embassay[{extra}]'"
    return text


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


def _member_line(member: Member) -> str:
    """Return the line of an encoder of a set: its name and spec, its size and a note."""
    dimensions = f"{member.dim} dimensions" if member.dim else ""
    details = "; ".join(detail for detail in (member.parameters, dimensions, member.group, member.note) if detail)
    return f"{member.called}: {member.spec or 'no spec'}" + (f" ({details})" if details else "")
