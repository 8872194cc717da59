"""Sets in words: JSON lines A, B, overlap, A_minus_B, B_minus_A, union, each a text or an object with ``text``.

Targets written by people for known sets, such as WebNLG's verbalisations of triples, are exact: no generator, no
filter. A target may be null if the set is empty. B_minus_A gives the mirrored difference, which is reported
separately.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.samples.composition import Composition, Operator
from embassay.core.tables.jsonl import first_fields
from embassay.core.tables.rows import FileRow, named_rows
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import corpus_of, rated_text

SHAPE = "composition"
TARGETS: tuple[tuple[str, Operator, bool], ...] = (
    ("overlap", "overlap", False),
    ("A_minus_B", "difference", False),
    ("B_minus_A", "difference", True),
    ("union", "union", False),
)
"""Field, operator, and whether a and b are swapped."""
FIELDS = ("A", "B", *(field for field, *_ in TARGETS))


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len(set(FIELDS) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of tuples.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid tuple.
    """
    path = Path(source)
    return corpus_of(path, name, "tuples", named_rows(path), _samples, "tuples", licence, keep_repeats=True)


def _samples(key: str, row: FileRow) -> list[Composition]:
    """Return a sample for each target that is not null."""
    a, _ = rated_text(row, "A")
    b, _ = rated_text(row, "B")
    unit = row.key("unit", key)
    samples = []
    for field, operator, mirrored in TARGETS:
        if row.value(field) is None:
            continue
        target, ratings = rated_text(row, field)
        first, second = a, b
        # B − A is A − B with the sentences swapped.
        if mirrored:
            first, second = b, a
        samples.append(Composition(f"{key}.{field}", operator, first, second, target, unit, mirrored, ratings))
    if not samples:
        raise SourceError("every target is null", row.path, row.line)
    return samples
