"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents with two sentences that differ only in punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was
filtered in this way names them in ``filtered_with``.
"""

from __future__ import annotations

from pathlib import Path

from embassay.corpora.composition.reading import corpus_of, rated_text
from embassay.corpora.io.jsonl import first_fields
from embassay.corpora.io.rows import FileRow, named_rows
from embassay.samples.composed import SENTENCES, degenerate, of_document
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
    return corpus_of(path, name, "fusions", named_rows(path), _samples, "usable documents", licence)


def _samples(key: str, row: FileRow) -> list[Composition]:
    """Return the nine samples of a document; none if two of its sentences are equal."""
    texts, ratings = {}, {}
    for field in SENTENCES:
        texts[field], ratings[field] = rated_text(row, field)
    # A difference of equal sentences says nothing.
    if degenerate(texts):
        return []
    return of_document(key, texts, ratings, row.key("unit", key))
