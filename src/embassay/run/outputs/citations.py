"""BibTeX entries of what a result rests on: this package, the methods, the corpora and the statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from embassay._version import YEAR, __version__
from embassay.core.data import MSRP, MSRP_GROUPED
from embassay.core.errors import PluginError, UnknownNameError
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result
from embassay.diagnostics.metrics.metric import known_metric

OURS = f"""@software{{embassay,
  author = {{{{The Embassay developers}}}},
  title = {{Embassay: an assay for sentence embeddings}},
  year = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""
OF_CORPORA = {MSRP: "dolan2005", MSRP_GROUPED: "dolan2005"}
"""By fingerprint the reference of a corpus that is recognised by its content and has no diagnostic of its own."""
OF_METRICS = {
    ("nDCG@10", "all"): ("jarvelin2002", "mcsherry2008"),
    ("loss_limit", "recommended"): ("bates2021", "clopper1934"),
    ("loss_limit", "recommended_on_average"): ("angelopoulos2024",),
}
"""By metric and subset the references of rows that rest on a publication of their own."""
OF_P_VALUES = ("romano2005", "hartigan1969")
"""The references of p-values and of the intervals that belong to them."""


def other_references() -> dict[str, str]:
    """Return by key the entries of statistics, measures, baselines and corpora, each with a comment on what it is for.

    The diagnostics define their own, as ``CITATION``.
    """
    text = files("embassay.core.data").joinpath("references.bib").read_text(encoding="utf-8")
    entries = {}
    for entry in text.strip().split("\n\n"):
        key = re.search(r"^@\w+\{(\w+),", entry, flags=re.MULTILINE)
        if key:
            entries[key[1]] = entry
    return entries


def citations_of(result: Result) -> dict[str, str]:
    """Return the BibTeX entry of each diagnostic of a result that has one."""
    citations = {}
    for name in dict.fromkeys(verdict.diagnostic for verdict in result.verdicts):
        try:
            citation = getattr(DIAGNOSTICS.module(name), "CITATION", "")
        except (UnknownNameError, PluginError):
            # The diagnostic of another package is not installed. Its tables are exported without a citation.
            continue
        if isinstance(citation, str) and citation:
            citations[name] = citation
    return citations


def references(result: Result, citations: Mapping[str, str]) -> str:
    """Return a BibTeX file of all that a result rests on.

    Parameters
    ----------
    citations
        The entry of each diagnostic that has one.
    """
    others = other_references()
    entries = [OURS, *citations.values()]
    for corpus in result.corpora:
        if corpus.fingerprint in OF_CORPORA:
            entries.append(others[OF_CORPORA[corpus.fingerprint]])
        elif not corpus.builtin:
            entries.append(f"% The corpus {corpus.name}: add its publication, if it has one that is not listed here.")
    entries += [others[key] for key in dict.fromkeys(keys_of(result))]
    return "\n\n".join(dict.fromkeys(entries)) + "\n"


def keys_of(result: Result) -> Iterator[str]:
    """Yield the keys of the statistics, measures and baselines that a result uses; some may be repeated."""
    for row in result.rows:
        yield from OF_METRICS.get((row.metric, row.subset), ())
        if row.interval == "confidence":
            yield "hesterberg2015"
    for verdict in result.verdicts:
        headline = known_metric(verdict.key)
        if headline is not None and headline.is_share:
            yield from ("wilson1927", "kish1965")
    for comparison in result.comparisons:
        if comparison.p is not None:
            yield from OF_P_VALUES
            metric = known_metric(comparison.key)
            if metric is not None and metric.kind == "mean" and not metric.is_bounded:
                yield "hall1992"
    if any(encoder.spec.startswith("bm25") for encoder in result.encoders):
        yield "robertson2009"
