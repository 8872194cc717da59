"""Built in: hand-written originals with six one-word edits each, as in HEROS.

For trying things out: too small for choosing a model. The ``random_mlm`` edits were chosen by hand;
HEROS takes them from a masked language model.
"""

from __future__ import annotations

from embassay.corpora.builtin.handwritten import handwritten
from embassay.corpora.minimal_pairs import minimal_pairs

SHAPE = "minimal_pairs"
BUILTIN = True
load = handwritten("edits.jsonl", minimal_pairs.load, " (the random word too), each row")
