"""Encoders of planted vectors and of any name, and the rows of a result, for tests of diagnostics."""

import numpy as np

from embassay.core.samples.shapes import Choice
from embassay.core.types import Card, Corpus
from embassay.core.vectors import Vectors
from embassay.models.lexical.hashing import HashingEncoder


class Table:
    """An encoder that reads its vectors from a dictionary, by text or by role and text.

    ``make`` turns its (n, d) array into another kind of matrix.
    """

    def __init__(self, name, vectors, make=np.asarray, similarity="cosine"):
        self.name, self.vectors, self.make, self.fingerprint = name, vectors, make, f"table-{name}"
        self.card = Card("table", cached=False, similarity=similarity)

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        rows = [self.vectors[text] if text in self.vectors else self.vectors[role, text] for text in texts]
        return self.make(np.array(rows, dtype=np.float32))


class Labelled(HashingEncoder):
    """A hashing encoder under any name."""

    def __init__(self, name, dim=64):
        super().__init__(dim, name)


def hostile(name, evil):
    """Return a corpus whose texts, labels, licence and source are all what a page must not take for its own code."""
    samples = (Choice(f"{n}", *(f"{evil} {k}{n}" for k in "iapq"), "adjective", f"{evil}pair", evil) for n in range(12))
    return Corpus(name, "choice", tuple(samples), licence=evil, source=evil)


def vectors_of(corpus, vectors, make=np.array, **more):
    """Return planted vectors, a dictionary by text, as a diagnostic scores them."""
    texts = corpus.texts()
    return Vectors(make([vectors[text] for _, text in texts]), {text: i for i, text in enumerate(texts)}, **more)


def rows(result, encoder="t", diagnostic=""):
    """Return the rows of an encoder by metric, subset and condition; of one diagnostic where there are several."""
    chosen = [r for r in result.rows if r.encoder == encoder and diagnostic in ("", r.diagnostic)]
    return {(r.metric, r.subset, r.condition): r for r in chosen}


def rows_of(result, encoder, metric="accuracy", condition=""):
    """Return the rows of an encoder and metric by subset."""
    return {subset: row for (q, subset, c), row in rows(result, encoder).items() if (q, c) == (metric, condition)}
