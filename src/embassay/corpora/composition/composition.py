"""Composition samples one by one: JSON lines with operator, a, b, target, optionally unit, mirrored, ratings."""

from __future__ import annotations

from pydantic import StrictBool

from embassay.core.samples.shapes import Composition, Operator
from embassay.core.tables.records import has_columns
from embassay.core.tables.rows import Text
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, Ratings, corpus_of

SHAPE = "composition"
recognises = has_columns("operator", "a", "b", "target", least=3)


class SampleRow(CompositionRow):
    """A sample."""

    operator: Operator
    a: Text
    b: Text
    target: Text
    mirrored: StrictBool = False
    ratings: Ratings = ()

    def samples(self) -> list[Composition]:
        """Return its sample."""
        sample = Composition(
            self.key, self.operator, self.a, self.b, self.target, self.unit, self.mirrored, self.ratings
        )
        if problem := sample.contradiction():
            raise self.error(problem, "mirrored")
        return [sample]


def load(source: str, name: str) -> Corpus[Composition]:
    """Read a file of samples.

    Parameters
    ----------
    source
        Path of the JSON lines file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid sample.
    """
    return corpus_of(source, name, SampleRow)
