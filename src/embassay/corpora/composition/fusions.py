"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents with two sentences that differ only in punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was
filtered in this way names them in ``filtered_with``.
"""

from __future__ import annotations

from pathlib import Path

from embassay.corpora.composition.shared import corpus_of, filters_of, rated_text
from embassay.corpora.io.jsonl import Ids, first_fields
from embassay.corpora.io.rows import Row, json_rows
from embassay.errors import SourceError
from embassay.samples.composed import SENTENCES, degenerate, of_document, without_repeats
from embassay.samples.composition import Composition
from embassay.types import Corpus

SHAPE = "composition"


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len(set(SENTENCES) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of fusions.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid document.
    """
    path = Path(source)
    ids = Ids(path)
    read: list[Composition] = []
    filters: list[str] = []
    equal = 0
    for row in json_rows(path):
        samples_of_row = _samples(row, ids)
        # Nine samples or, if two of the sentences are equal, none: a difference of equal sentences says nothing.
        if not samples_of_row:
            equal += 1
        read += samples_of_row
        filters += filters_of(row)
    samples, repeats = without_repeats(read)
    if not samples:
        raise SourceError("the file has no usable documents", path)
    return corpus_of(name, "fusions", samples, licence=licence, filters=filters, equal=equal, repeats=repeats)


def _samples(row: Row, ids: Ids) -> list[Composition]:
    """Return the nine samples of a document; none if two of its sentences are equal."""
    row.require(*SENTENCES)
    name = ids.add(row.key("id", row.number), row.line)
    texts, ratings = {}, {}
    for field in SENTENCES:
        texts[field], ratings[field] = rated_text(row, field)
    if degenerate(texts):
        return []
    return of_document(name, texts, ratings, row.key("unit", name))
