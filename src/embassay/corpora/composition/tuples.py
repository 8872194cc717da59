"""Sets in words: JSON lines A, B, overlap, A_minus_B, B_minus_A, union, each a text or an object with ``text``.

Targets written by people for known sets, such as WebNLG's verbalisations of triples, are exact: no generator, no
filter. A target may be null if the set is empty. B_minus_A gives the mirrored difference, which is reported
separately.
"""

from __future__ import annotations

from embassay.core.samples.shapes import Composition, Operator
from embassay.core.tables.records import has_columns
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, Verbalised, corpus_of

SHAPE = "composition"
TARGETS: tuple[tuple[str, Operator, bool], ...] = (
    ("overlap", "overlap", False),
    ("A_minus_B", "difference", False),
    ("B_minus_A", "difference", True),
    ("union", "union", False),
)
"""Field, operator, and whether a and b are swapped."""
recognises = has_columns("A", "B", *(field for field, *_ in TARGETS), least=3)


class TupleRow(CompositionRow):
    """Two sets in words, and the result of each operation; null if it is empty."""

    A: Verbalised
    B: Verbalised
    overlap: Verbalised | None
    A_minus_B: Verbalised | None
    B_minus_A: Verbalised | None
    union: Verbalised | None

    def samples(self) -> list[Composition]:
        """Return a sample for each target that is not null."""
        samples = []
        for field, operator, mirrored in TARGETS:
            target = getattr(self, field)
            if target:
                # B − A is A − B with the sentences swapped.
                a, b = (self.B, self.A) if mirrored else (self.A, self.B)
                samples.append(
                    Composition(f"{self.key}.{field}", operator, a, b, target, self.unit or self.key, mirrored)
                )
        if not samples:
            raise self.error("every target is null", "union")
        return samples


def load(source: str, name: str) -> Corpus[Composition]:
    """Read a file of tuples.

    Parameters
    ----------
    source
        Path of the JSON lines file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid tuple.
    """
    return corpus_of(source, name, TupleRow, keep_repeats=True)
