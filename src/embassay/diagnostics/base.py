"""What a diagnostic may do beyond its two steps: methods with defaults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import Example
from embassay.core.types import Corpus, Diagnostic, ItemScores, Origin
from embassay.core.vectors import Neighbours
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.units import Floats

NEAREST = "nearest"
"""Item values of this name are (n, m) documents, the nearest first: two encoders are compared by them without labels.

The first ten, and those that are exactly as near as the last of these, by their places in the corpus; NaN after them.
"""


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


class BaseDiagnostic(Diagnostic):
    """A diagnostic. It has an ability when it overrides the method; by default it has none."""

    shows_items: bool = False
    """Whether it shows single items: then it has ``outcomes`` and ``examples``."""
    scores_rankings: bool = False
    """Whether it asks only for rankings, so that it scores retrievers also; then it has ``score_rankings``."""
    ranks_passages: bool = False
    """Whether these are rankings of passages, so that only retrievers that are built on others are scored."""

    @property
    def k(self) -> int:
        """How many of the nearest documents count for its headline, where it scores rankings."""
        return 0

    @property
    def pair(self) -> tuple[str, str] | None:
        """The labels of the two corpora that it compares: then it has ``join`` and runs only when it is named."""
        return None

    def suits(self, corpus: Corpus[Any]) -> bool:
        """Return whether a corpus of its shape has what it reads; where not, it runs only when it is named."""
        return True

    def check(self, corpus: Corpus[Any]) -> None:
        """Check a corpus before any text is encoded.

        Raises
        ------
        InputError
            If the diagnostic cannot use the corpus; the message says what to do.
        """

    def searched(self, corpus: Corpus[Any]) -> Corpus[Any]:
        """Return the corpus whose documents retrievers are to list, with the same questions."""
        return corpus

    def score_rankings(self, corpus: Corpus[Any], nearest: Neighbours, origin: Origin) -> ItemScores:
        """Look at the lists of a retriever, instead of ``score``; no statistics.

        Parameters
        ----------
        nearest
            Its lists, as long as they are, and the ranks of each question's right documents in them. Similarities are
            the retriever's own scores, NaN where it has none.
        """
        raise NotImplementedError

    def join(self, a: Corpus[Any], b: Corpus[Any], /) -> Corpus[Any]:
        """Return one corpus made of both, of the diagnostic's own shape."""
        raise NotImplementedError

    def figures(self, scores: Sequence[ItemScores]) -> Figures[Any] | None:
        """Return the declared metrics of all encoders, so that every command can test, plan and gate them."""
        return None

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which of the encoders that were asked for are right about each item."""
        raise NotImplementedError

    def examples(
        self, corpus: Corpus[Any], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterable[Example]:
        """Return the record of each of these items, and after it one of each encoder.

        Parameters
        ----------
        items
            Indices of the items to show.
        """
        return ()


class ForeignDiagnostic(BaseDiagnostic):
    """A diagnostic of another package that has no base: its own members, and defaults for what it lacks."""

    def __init__(self, own: Diagnostic) -> None:
        """Keep the diagnostic, and see which abilities it has."""
        self.own = own
        self.shows_items = hasattr(own, "outcomes") and hasattr(own, "examples")
        self.scores_rankings = hasattr(own, "score_rankings")

    def __getattribute__(self, name: str) -> Any:
        """Return a member of the diagnostic, else the default."""
        own = object.__getattribute__(self, "own")
        if name == "own":
            return own
        return getattr(own, name) if hasattr(own, name) else object.__getattribute__(self, name)
