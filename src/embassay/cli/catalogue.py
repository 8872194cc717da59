"""``embassay list``: what is available, what is installed, and the command that installs the rest.

Comes in: the kind to list. Goes out: a line for each thing of the kind, or BibTeX entries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.resources import files

from rich.table import Table
from rich.text import Text

from embassay._version import YEAR, __version__
from embassay.core.errors import PluginError
from embassay.core.grouping import grouped
from embassay.core.metric_key import MetricKey
from embassay.core.plugins import BUILDERS, CORPORA, DIAGNOSTICS, ENCODERS, FORMATS, RETRIEVERS, Folder
from embassay.diagnostics.metrics.metric import declared_metrics
from embassay.reports.terminal import stdout
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
SUBSETS = 4
"""Subsets of a metric that are named."""
OURS = f"""@software{{embassay,
  author = {{{{The Embassay developers}}}},
  title = {{Embassay: an assay for sentence embeddings}},
  year = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""
"""The BibTeX entry of this package."""


def show(what: str | None) -> None:
    """Print what there is of one kind, or the plug-ins of all kinds and the profiles."""
    console = stdout()
    for kind in [what] if what else [*KINDS, "profiles"]:
        console.print(Text(kind, style="bold"))
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        for name, text in _lines(kind):
            table.add_row(Text(name), Text(text))
        console.print(table)


def cite() -> None:
    """Print the BibTeX entries of this package, of the paper behind each diagnostic, and of the statistics.

    A diagnostic of another package has one if its module defines ``CITATION``.
    """
    entries = [OURS]
    for name, module in DIAGNOSTICS.modules().items():
        if hasattr(module, "CITATION"):
            entries.append(f"% {name}\n{module.CITATION}")
    entries.append(files("embassay.core.data").joinpath("references.bib").read_text(encoding="utf-8"))
    sys.stdout.write("\n\n".join(entries))


def _lines(kind: str) -> Iterator[tuple[str, str]]:
    """Yield a name and its description, for each thing of a kind."""
    if kind == "metrics":
        yield from _metrics()
    elif kind == "profiles":
        for name, profile in PROFILES.items():
            others = "; and those of other packages" if profile.with_others else ""
            yield name, f"{profile.purpose}\n{'; '.join(profile.diagnostics)}{others}"
    else:
        folder = KINDS[kind]
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


def _metrics() -> Iterator[tuple[str, str]]:
    """Yield the metrics of each diagnostic: those that differ only in their subset are one entry."""
    for diagnostic in DIAGNOSTICS.names():
        alike = grouped(declared_metrics(diagnostic), lambda metric: (metric.name, metric.condition, metric.better))
        for (name, condition, better), metrics in alike.items():
            first = metrics[0]
            subsets = [metric.subset for metric in metrics[:SUBSETS]]
            if len(metrics) > SUBSETS:
                subsets.append(f"{len(metrics) - SUBSETS} more")
            low, high = first.range
            numbers = {"at least": low, "at most": high, "margin": first.margin, "chance": first.chance}
            facts = ["no better direction" if better == "neither" else f"{better} is better"]
            # Where chance depends on the corpus it is a function.
            facts += [f"{label} {value:.3g}" for label, value in numbers.items() if isinstance(value, (int, float))]
            key = MetricKey(name, ", ".join(subsets), condition=condition, diagnostic=diagnostic)
            yield str(key), f"{first.meaning}\n{', '.join(facts)}"
