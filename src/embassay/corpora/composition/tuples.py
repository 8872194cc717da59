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
MIRRORED = "B_minus_A"
"""B − A is A − B with the sentences swapped."""
TARGETS: dict[str, Operator] = {
    "overlap": "overlap",
    "A_minus_B": "difference",
    MIRRORED: "difference",
    "union": "union",
}
"""The operator of each field."""
recognises = has_columns("A", "B", *TARGETS, least=3)


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
        for field, operator in TARGETS.items():
            mirrored = field == MIRRORED
            a, b = (self.B, self.A) if mirrored else (self.A, self.B)
            if target := getattr(self, field):
                name, unit = f"{self.key}.{field}", self.unit or self.key
                samples.append(Composition(name, operator, a, b, target, unit, mirrored))
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
