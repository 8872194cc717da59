"""What the built-in corpora share: their files are in formats of users' files, and are read as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import TypeVar

from embassay.core.samples.base import Sample
from embassay.core.types import Corpus

S = TypeVar("S", bound=Sample)


def handwritten(name: str, file: str, load: Callable[[str, str], Corpus[S]], *, read_again: str) -> Corpus[S]:
    """Return the corpus of a file that ships with the package.

    Parameters
    ----------
    load
        The loader of its format.
    read_again
        What a second reader has read, for ``source``.
    """
    corpus = load(str(files("embassay.core.data") / file), name)
    source = f"hand-written for this package{read_again} re-read by a second reader"
    return replace(corpus, licence="CC-BY-4.0", source=source, builtin=True, notes=())
