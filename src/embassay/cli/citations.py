"""BibTeX entries of what results are based on: this package, the methods, the statistics, measures and baselines."""

from __future__ import annotations

import re
from importlib.resources import files

from embassay._version import YEAR, __version__

OURS = f"""@software{{embassay,
  author = {{{{The Embassay developers}}}},
  title = {{Embassay: an assay for sentence embeddings}},
  year = {{{YEAR}}},
  version = {{{__version__}}},
  license = {{Apache-2.0}}
}}"""


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
