"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents two of whose sentences are equal but for punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was so
filtered names them in ``filtered_with``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from embassay.corpora.composition.shared import dropped_notes, filter_field, in_order, rated_text
from embassay.corpora.io.jsonl import Ids, first_fields, json_lines, key_field, require
from embassay.errors import SourceError
from embassay.samples.composed import SENTENCES, degenerate, of_document, without_repeats
from embassay.samples.composition import Composition
from embassay.types import Corpus

SHAPE = "composition"


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format."""
    return len(set(SENTENCES) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of fusions.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is no such document.
    """
    path = Path(source)
    ids, equal = Ids(path), 0
    found, filters = list[Composition](), list[tuple[str, ...]]()
    for line, row in json_lines(path):
        document = _document(row, ids, path, line)
        equal += not document
        found += document
        filters.append(filter_field(row.get("filtered_with"), path, line))
    samples, repeats = without_repeats(found)
    if not samples:
        raise SourceError("the file has no documents that can be used", path)
    return Corpus(
        name,
        SHAPE,
        samples,
        licence=licence or "unknown",
        loader="fusions",
        notes=dropped_notes(equal, repeats),
        filtered_with=in_order(filters),
    )


def _document(row: dict[str, Any], ids: Ids, path: Path, line: int) -> list[Composition]:
    require(row, SENTENCES, path, line)
    name = ids.add(key_field(row, "id", str(line - 1), path, line), line)
    rated = {field: rated_text(row[field], path, line, field) for field in SENTENCES}
    texts = {field: text for field, (text, _) in rated.items()}
    if degenerate(texts):
        return []
    ratings = {field: given for field, (_, given) in rated.items()}
    return of_document(name, texts, ratings, key_field(row, "unit", name, path, line))
