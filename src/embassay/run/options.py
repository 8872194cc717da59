"""The options of a run: each is declared here, once.

Its field in :class:`RunOptions` makes its flag and the help of ``embassay run``, its key in a config file, its value in
``run.json`` and its row in the guide. ``ea.assay`` writes its keywords out for type checkers; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from annotated_types import Ge, Gt, Lt

Place = Literal["file", "python", "record"]
"""Where else an option can be set, beside the command line, or is kept."""
FILE: Place = "file"
"""It is a setting in a config file."""
PYTHON: Place = "python"
"""It is a keyword of ``ea.assay``."""
RECORD: Place = "record"
"""It is kept in ``run.json`` and identifies the run: another value makes another run."""


Positive = Annotated[int, Gt(0)]
Count = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of a run.

    Attributes
    ----------
    profile
        Which diagnostics run without -d: default, search, dedup, classification or research; see 'embassay list'.
    seed
        Seed for all random numbers; 0 by default.
    resamples
        Number of bootstrap resamples; 1000 by default. Affects intervals, not p-values (9,999 sign flips or more).
    limit
        Keep at most N randomly chosen units (groups of dependent items) of each corpus.
    reference
        Label of the encoder that the others are compared with; the first -e by default.
    accept
        Loss at which a cheaper encoder is still used: 0.05 is 5 points; by default the margin of the headline.
    device
        Device of neural encoders: auto (default), cpu, cuda, cuda:1 or mps.
    backend
        How neural encoders run: auto (default), light or torch.
    dry_run
        Print what would be encoded, and stop.
    baselines
        Add the baselines tfidf, random and, for retrieval, bm25.
    examples
        Show N items of each diagnostic and corpus with their texts, or all; 100 by default, drawn with the seed.
    texts
        Write sentences of the corpora into result and report.
    robustness
        Check how far vectors depend on the batch.
    follow_links
        Follow symbolic links in the folder of a corpus; by default they are skipped.
    cache
        Folder of the vector cache.
    overwrite
        Replace the run in the folder.
    quiet
        Print only the result.
    trust_remote_code
        Label of an encoder that may run code from its repository, repeatable.
    """

    profile: Annotated[str, FILE, PYTHON] = "default"
    seed: Annotated[Count, FILE, PYTHON, RECORD] = 0
    resamples: Annotated[Positive, FILE, PYTHON, RECORD] = 1000
    limit: Annotated[Positive | None, FILE, PYTHON] = None
    reference: Annotated[str, FILE, PYTHON, RECORD] = ""
    accept: Annotated[Share | None, FILE, PYTHON, RECORD] = None
    device: Annotated[str, FILE, PYTHON] = "auto"
    backend: Annotated[str, FILE, PYTHON] = "auto"
    dry_run: bool = False
    baselines: Annotated[bool, FILE, PYTHON] = True
    examples: Annotated[Count | Literal["all"], FILE, PYTHON, RECORD] = 100
    texts: Annotated[bool, FILE, RECORD] = True
    robustness: bool = False
    follow_links: bool = False
    # "default" is the user's own cache, None is no cache.
    cache: Annotated[Path | Literal["default"] | None, PYTHON] = None
    overwrite: bool = False
    quiet: bool = False
    trust_remote_code: tuple[str, ...] = ()


def options_in(place: Place) -> dict[str, Any]:
    """Return the types, with their limits, of the options that belong to a place, by name."""
    types = get_type_hints(RunOptions, include_extras=True)
    return {name: kind for name, kind in types.items() if place in getattr(kind, "__metadata__", ())}
