"""Three consecutive sentences and the fusions of neighbours: JSON lines S1, S2, S3, F12, F23.

Bansal et al. (2025), section 5: a document gives nine samples, one overlap, six differences and two unions. Left
out are documents with two sentences that differ only in punctuation, and samples that repeat another. The
paper keeps only differences whose parts hardly overlap, by the cosine of some encoders; a file that was
filtered in this way names them in ``filtered_with``.
"""

from __future__ import annotations

from embassay.core.samples.composed import SENTENCES, degenerate, of_document
from embassay.core.samples.shapes import Composition
from embassay.core.tables.records import has_columns
from embassay.core.tables.rows import Text
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import CompositionRow, corpus_of

SHAPE = "composition"
recognises = has_columns(*SENTENCES, least=3)


class FusionsRow(CompositionRow):
    """Three sentences and two fusions."""

    S1: Text
    S2: Text
    S3: Text
    F12: Text
    F23: Text

    def samples(self) -> list[Composition]:
        """Return the nine samples of the document; none if two of its sentences are equal."""
        texts = {field: getattr(self, field) for field in SENTENCES}
        # A difference of equal sentences says nothing.
        return [] if degenerate(texts) else of_document(self.key, texts, self.unit)


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
