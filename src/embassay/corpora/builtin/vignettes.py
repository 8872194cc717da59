"""Built in: hand-written three-sentence documents with fusions of neighbouring sentences, nine samples each.

A substitute for the generated fusions of Bansal et al. (2025): each fusion says everything that its two sentences
say, and nothing else. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.core.samples.shapes import Composition
from embassay.core.types import Corpus
from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.composition import fusions

SHAPE = "composition"
BUILTIN = True


def load(source: str, name: str) -> Corpus[Composition]:
    """Read the corpus that ships with the package; ``source`` is its name."""
    del source
    return handwritten(name, "vignettes.tsv", fusions.load, read_again=", each document")
