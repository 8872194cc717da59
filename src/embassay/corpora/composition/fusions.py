"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents with two sentences that differ only in punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was
filtered in this way names them in ``filtered_with``.
"""

from __future__ import annotations

from pydantic import Field

from embassay.core.samples.composed import SAMPLES, SENTENCES, degenerate, of_document, sample_name
from embassay.core.samples.composition import Composition
from embassay.core.tables.records import has_columns
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, Rated, Ratings, corpus_of

SHAPE = "composition"
recognises = has_columns(*SENTENCES, least=3)
NAMES = tuple(sample_name(operator, a, b) for operator, a, b, _ in SAMPLES)
SAMPLE_OF_RESULT = {target: sample_name(name, a, b) for name, a, b, target in SAMPLES if name != "difference"}
"""The overlap or union whose result a sentence or a fusion is: its own ratings are those of that sample."""


class FusionsRow(CompositionRow):
    """Three sentences and two fusions; ``ratings`` are those of samples, by name: ``difference.F12.S2``."""

    S1: Rated
    S2: Rated
    S3: Rated
    F12: Rated
    F23: Rated
    ratings: dict[str, Ratings] = Field(default_factory=dict)

    def samples(self) -> list[Composition]:
        """Return the nine samples of the document; none if two of its sentences are equal."""
        texts, ratings = {}, dict(self.ratings)
        for field in SENTENCES:
            rated = getattr(self, field)
            texts[field] = rated.text
            if rated.ratings:
                # Two differences have the same result, an overlap or a union has one of its own.
                ratings[SAMPLE_OF_RESULT.get(field, f"{field}, the result of two differences")] = rated.ratings
        for name in ratings:
            if name not in NAMES:
                raise self.error(f"no sample is named {name!r}; expected {', '.join(NAMES)}", "ratings")
        # A difference of equal sentences says nothing.
        return [] if degenerate(texts) else of_document(self.key, texts, ratings, self.unit or self.key)


def load(source: str, name: str) -> Corpus[Composition]:
    """Read a file of fusions.

    Parameters
    ----------
    source
        Path of the JSON lines file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid document.
    """
    return corpus_of(source, name, FusionsRow)
