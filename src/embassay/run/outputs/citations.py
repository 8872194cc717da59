"""BibTeX entries of what results are based on: this package, the methods, the statistics, measures and baselines."""

from __future__ import annotations

import re
from importlib.resources import files

from embassay._version import YEAR, __version__
from embassay.core.errors import PluginError, UnknownNameError
from embassay.core.plugins import DIAGNOSTICS

OURS = f"""@software{{embassay,
  author = {{{{The Embassay developers}}}},
  title = {{Embassay: an assay for sentence embeddings}},
  year = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""
KEY = re.compile(r"^\s*@\w+\s*\{\s*([^,\s]+)\s*,", flags=re.MULTILINE)
"""The beginning of a BibTeX entry, with its key."""


def other_references() -> dict[str, str]:
    """Return by key the entries of statistics, measures, baselines and corpora, each with a comment on what it is for.

    The diagnostics define their own, as ``CITATION``.
    """
    text = files("embassay.core.data").joinpath("references.bib").read_text(encoding="utf-8")
    entries = {citation_key(entry): entry for entry in text.strip().split("\n\n")}
    # A comment has no key.
    entries.pop("", None)
    return entries


def citation_of(diagnostic: str) -> str:
    """Return the BibTeX entry of a diagnostic; an empty text if it has none, or is of a package not installed here."""
    try:
        citation = getattr(DIAGNOSTICS.module(diagnostic), "CITATION", "")
    except (UnknownNameError, PluginError):
        return ""
    return citation if isinstance(citation, str) else ""


def citation_key(citation: str) -> str:
    """Return the key of a BibTeX entry; an empty text if it has none."""
    match = KEY.search(citation)
    return match[1] if match else ""
