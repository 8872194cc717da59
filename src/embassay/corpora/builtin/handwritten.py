"""What the built-in corpora share: their files are in formats of users' files, and are read as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import TypeVar

from embassay.core.samples.base import Sample
from embassay.core.types import Corpus

S = TypeVar("S", bound=Sample)
Loader = Callable[[str, str], Corpus[S]]


def handwritten(file: str, load_format: Loader[S], read_again: str, *notes: str) -> Loader[S]:
    """Return the loader of a file that ships with the package.

    Parameters
    ----------
    load_format
        The loader of its format.
    read_again
        What a second reader has read, for the corpus's ``source``.
    notes
        What is said of the corpus, instead of the notes of the loader of its format.
    """

    def load(source: str, name: str) -> Corpus[S]:
        """Read the corpus that ships with the package; ``source`` is its name."""
        del source
        corpus = load_format(str(files("embassay.core.data") / file), name)
        origin = f"hand-written for this package{read_again} re-read by a second reader"
        return replace(corpus, licence="CC-BY-4.0", source=origin, builtin=True, notes=notes)

    return load
