"""What a diagnostic may do beyond its two steps: optional abilities.

``isinstance(diagnostic, ShowsItems)`` tells whether a diagnostic has one. It has the ability when it has the method of
that name; it need not inherit from anything here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from embassay.core.processes.pending import Pending, Submit
from embassay.core.result import Example
from embassay.core.types import Corpus, ItemScores, Origin
from embassay.core.vectors import Neighbours, Vectors
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.units import Floats

NEAREST = "nearest"
"""Item values of this name are (n, m) documents, the nearest first: two encoders are compared by them without labels.

The first ten, and those that are exactly as near as the last of these, by their places in the corpus; NaN after them.
"""


@runtime_checkable
class ChecksCorpus(Protocol):
    """Refuses some corpora of its shape."""

    def check(self, corpus: Corpus[Any]) -> None:
        """Check a corpus before any text is encoded.

        Raises
        ------
        InputError
            If the diagnostic cannot use the corpus; the message says what to do.
        """
        ...


@runtime_checkable
class ScoresInParallel(Protocol):
    """Gives work to other processes, which continue while the next encoder encodes."""

    def begin(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin, submit: Submit) -> Pending[ItemScores]:
        """Start the work with ``submit`` and return how the scores are put together; called instead of ``score``."""
        ...


@runtime_checkable
class ScoresRankings(Protocol):
    """Asks only for rankings, so that it scores retrievers, too; they are left out of all other diagnostics."""

    @property
    def k(self) -> int:
        """How many of the nearest documents count for its headline."""
        ...

    def score_rankings(self, corpus: Corpus[Any], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Look at the lists of a retriever, instead of ``score``; no statistics.

        Parameters
        ----------
        nearest
            Its lists, as long as they are, and the ranks of each question's right documents in them. Similarities are
            the retriever's own scores, NaN where it has none.
        """
        ...


@runtime_checkable
class SetsSideBySide(Protocol):
    """Compares two corpora; it runs only when it is requested by name."""

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the two corpora."""
        ...

    def join(self, a: Corpus[Any], b: Corpus[Any], /) -> Corpus[Any]:
        """Return one corpus made of both, of the diagnostic's own shape."""
        ...


@dataclass(frozen=True)
class Outcomes:
    """What the n items of a corpus are grouped by when a sample of them is drawn.

    Attributes
    ----------
    subset
        (n,) the part of the corpus that each item belongs to; empty for none.
    correct
        (encoders, n) 1 right, 0 wrong; anything else is undecided: NaN, or the share of a tie.
    """

    subset: NDArray[np.str_]
    correct: Floats


@runtime_checkable
class ShowsItems(Protocol):
    """Shows single items: their texts, and what each encoder made of them."""

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which of the encoders that were asked for are right about each item."""
        ...

    def examples(
        self, corpus: Corpus[Any], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield the record of each of these items, and after it one of each encoder.

        Parameters
        ----------
        items
            Indices of the items to show.
        """
        ...


@runtime_checkable
class DeclaresMetrics(Protocol):
    """Declares its metrics, so that every command can test, plan and gate them."""

    def figures(self, scores: Sequence[ItemScores]) -> Figures[Any]:
        """Return the declared metrics of all encoders, with the values of the options."""
        ...
