"""What one adaptation takes: a base, corpora, options, a folder, and who hears of the progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from embassay.adaptation.options import AdaptOptions
from embassay.training.shared import Advance
from embassay.types import Corpus

Training = Callable[[str], AbstractContextManager[Advance]]


@dataclass(frozen=True)
class AdaptRequest:
    """One adaptation as it was requested.

    Attributes
    ----------
    base
        Spec of the sentence-transformers model that is adapted.
    corpora, general
        Sources or loaded corpora: those of the domain, and those that show what adaptation loses elsewhere.
    out
        Folder of the variants, their run and the verdict.
    overwrite
        Replace another adaptation in that folder.
    cache, use_cache
        Folder of the vector cache, None for the user's own; whether vectors are cached at all.
    quiet
        Keep the assay of the variants from writing messages.
    say
        Called with each message, one line.
    training
        Called with a variant's name; returns a context that gives the progress callback of its training.
    """

    base: str
    corpora: Sequence[str | Corpus[Any]]
    out: Path
    options: AdaptOptions = field(default_factory=AdaptOptions)
    general: Sequence[str | Corpus[Any]] = ()
    overwrite: bool = False
    cache: Path | None = None
    use_cache: bool = True
    quiet: bool = True
    say: Callable[[str], None] = lambda line: None
    training: Training = lambda label: nullcontext(lambda done, total: None)
