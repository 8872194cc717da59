"""Built in: hand-written three-sentence documents with fusions of neighbouring sentences, nine samples each.

A substitute for the generated fusions of Bansal et al. (2025): each fusion says everything that its two sentences
say, and nothing else. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.core.samples.composed import SENTENCES, of_document
from embassay.core.samples.shapes import Composition
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import builtin_corpus, rows_of

SHAPE = "composition"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Composition]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    samples = []
    for row in rows_of("vignettes.tsv"):
        samples += of_document(row["id"], {field: row[field] for field in SENTENCES})
    source = ", each document re-read by a second reader"
    return builtin_corpus(name, SHAPE, samples, source=source)
