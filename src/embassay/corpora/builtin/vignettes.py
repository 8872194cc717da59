"""Built in: hand-written three-sentence documents with fusions of neighbouring sentences, nine samples each.

A substitute for the generated fusions of Bansal et al. (2025): each fusion says everything that its two sentences
say, and nothing else. For trying things out: too small for choosing a model.
"""

from __future__ import annotations

from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.composition import fusions

SHAPE = "composition"
BUILTIN = True
load = handwritten("vignettes.tsv", fusions.load, ", each document")
