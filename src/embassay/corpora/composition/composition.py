"""Composition samples one by one: JSON lines with operator, a, b, target, optionally unit, mirrored, ratings."""

from __future__ import annotations

from pydantic import StrictBool

from embassay.core.samples.composition import Composition, Operator
from embassay.core.tables.records import columns_in
from embassay.core.tables.rows import Text
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, Ratings, corpus_of

SHAPE = "composition"
FIELDS = frozenset({"operator", "a", "b", "target"})


class SampleRow(CompositionRow):
    """A sample."""

    operator: Operator
    a: Text
    b: Text
    target: Text
    mirrored: StrictBool = False
    ratings: Ratings = ()


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len(FIELDS & columns_in(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of samples.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid sample.
    """
    return corpus_of(source, name, "composition", SampleRow, _samples, licence)


def _samples(row: SampleRow) -> list[Composition]:
    """Return the sample of a line."""
    if row.mirrored and row.operator != "difference":
        raise row.error("can be true only for a difference", "mirrored")
    return [Composition(row.key, row.operator, row.a, row.b, row.target, row.unit, row.mirrored, row.ratings)]
