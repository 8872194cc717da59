"""Reading composition samples: ratings, the encoders that samples were filtered with, and the corpus of all rows."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Strict

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.composed import without_repeats
from embassay.core.samples.shapes import Composition, Rating
from embassay.core.tables.records import Table, read_table
from embassay.core.tables.rows import Key, TableRow, Text
from embassay.core.types import Corpus

Ratings = tuple[Annotated[Rating, Strict()], ...]
"""Human ratings from 0 to 4, one for each annotator."""


Verbalised = Annotated[Text, BeforeValidator(lambda value: value.get("text") if isinstance(value, dict) else value)]
"""A text, or an object with ``text``."""


class CompositionRow(TableRow):
    """What the rows of all formats may have: an id, a unit, and the encoders that the samples were filtered with."""

    id: Key = ""
    unit: Key = ""
    filtered_with: tuple[Text, ...] = ()

    def samples(self) -> list[Composition]:
        """Return the samples of the row; none if two of its three sentences are equal."""
        raise NotImplementedError


def corpus_of(
    source: str | Table, name: str, model: type[CompositionRow], *, keep_repeats: bool = False
) -> Corpus[Composition]:
    """Return the corpus of the rows of a file, with notes on what was left out; raise SourceError if there is none.

    Parameters
    ----------
    keep_repeats
        Whether samples that repeat an earlier one are kept.
    """
    table = source if isinstance(source, Table) else read_table(Path(source))
    rows = list(table.select(model))
    of_rows = [row.samples() for row in rows]
    samples = tuple(chain.from_iterable(of_rows))
    kept = samples if keep_repeats else without_repeats(samples)
    equal, repeats = of_rows.count([]), len(samples) - len(kept)
    notes = []
    if equal:
        notes.append(f"{counted(equal, 'document')} left out: two of the three sentences differ only in punctuation")
    if repeats:
        notes.append(f"{counted(repeats, 'sample')} left out: repeats of an earlier one")
    if not kept:
        raise SourceError(f"the file has no samples; {notes[0]}", table.path)
    # Each spec once, in order.
    filters = dict.fromkeys(chain.from_iterable(row.filtered_with for row in rows))
    return Corpus(name, "composition", kept, notes=tuple(notes), filtered_with=tuple(filters))
