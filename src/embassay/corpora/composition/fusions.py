"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents with two sentences that differ only in punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was
filtered in this way names them in ``filtered_with``.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.samples.composed import SAMPLES, SENTENCES, degenerate, of_document, sample_name
from embassay.core.samples.composition import Composition
from embassay.core.tables.jsonl import first_fields
from embassay.core.tables.rows import FileRow, named_rows
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import corpus_of, rated_text, ratings_of

SHAPE = "composition"
SAMPLE_OF_RESULT = {target: sample_name(name, a, b) for name, a, b, target in SAMPLES if name != "difference"}
"""The overlap or union whose result a sentence or a fusion is: its own ratings are those of that sample."""


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
    texts, ratings = {}, _ratings_of_samples(row)
    for field in SENTENCES:
        texts[field], ratings_of_text = rated_text(row, field)
        if not ratings_of_text:
            continue
        # Two differences have the same result, an overlap or a union has one of its own.
        if field not in SAMPLE_OF_RESULT:
            raise row.error("is the result of two differences; give their ratings in the field 'ratings'", field)
        ratings[SAMPLE_OF_RESULT[field]] = ratings_of_text
    # A difference of equal sentences says nothing.
    if degenerate(texts):
        return []
    return of_document(key, texts, ratings, row.key("unit", key))


def _ratings_of_samples(row: FileRow) -> dict[str, tuple[float, ...]]:
    """Return the ratings of the field ``ratings``, by the name of the sample: ``difference.F12.S2``."""
    if row.values.get("ratings") is None:
        return {}
    by_sample = row.object(row.values["ratings"], "ratings.")
    names = [sample_name(operator, a, b) for operator, a, b, _ in SAMPLES]
    for name in by_sample.values:
        if name not in names:
            raise by_sample.error(f"no such sample; expected {', '.join(names)}", name)
    return {name: ratings_of(by_sample, ratings, name) for name, ratings in by_sample.values.items()}
