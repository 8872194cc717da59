"""The input of one adaptation: a base, corpora, options, an output folder, and callbacks for messages and progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from embassay.core.types import AnyCorpus
from embassay.training.adaptation.options import AdaptOptions
from embassay.training.trained import Advance

Training = Callable[[str], AbstractContextManager[Advance]]


@dataclass(frozen=True)
class AdaptRequest:
    """One adaptation as it was requested.

    Attributes
    ----------
    base
        Spec of the sentence-transformers model to adapt.
    corpora, general
        Sources or loaded corpora: those of the domain, and those that show the loss elsewhere.
    out
        Folder of the variants, their run and the verdict.
    overwrite
        Replace another adaptation in that folder.
    cache
        Folder of the vector cache; None for no cache.
    quiet
        Print no messages during the assay of the variants.
    say
        Called with each message, one line.
    training
        Called with a variant's name; returns a context that gives the progress callback of its training.
    """

    base: str
    corpora: Sequence[str | AnyCorpus]
    out: Path
    options: AdaptOptions = field(default_factory=AdaptOptions)
    general: Sequence[str | AnyCorpus] = ()
    overwrite: bool = False
    cache: Path | Literal["default"] | None = "default"
    quiet: bool = True
    say: Callable[[str], None] = lambda line: None
    training: Training = lambda label: nullcontext(lambda done, total: None)
