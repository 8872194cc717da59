"""The nine samples of three consecutive sentences and two fusions, and the samples that are left out.

Bansal et al. (2025), "Set-Theoretic Compositionality of Sentence Embeddings", section 5. Loaders of corpora and the
builder of test sets make the same samples of the same five sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from embassay.core.grouping import grouped
from embassay.core.samples.shapes import Composition, Operator

SENTENCES = ("S1", "S2", "S3", "F12", "F23")
SAMPLES: tuple[tuple[Operator, str, str, str], ...] = (
    ("overlap", "F12", "F23", "S2"),
    ("difference", "F12", "S1", "S2"),
    ("difference", "F12", "S2", "S1"),
    ("difference", "F12", "F23", "S1"),
    ("difference", "F23", "S3", "S2"),
    ("difference", "F23", "S2", "S3"),
    ("difference", "F23", "F12", "S3"),
    ("union", "S1", "S2", "F12"),
    ("union", "S2", "S3", "F23"),
)
"""Operator, a, b and target of the nine samples of a document (Bansal et al. 2025, section 5)."""


def of_document(name: str, texts: Mapping[str, str], unit: str = "") -> list[Composition]:
    """Return the nine samples of three consecutive sentences and the fusions of neighbours.

    Parameters
    ----------
    texts
        S1, S2, S3, F12 and F23.
    unit
        The key of the unit of independence; by default the name of the document.
    """
    return [
        Composition(f"{name}.{operator}.{a}.{b}", operator, texts[a], texts[b], texts[target], unit or name)
        for operator, a, b, target in SAMPLES
    ]


def degenerate(texts: Mapping[str, str]) -> bool:
    """Return whether two of S1, S2 and S3 are equal when only letters and digits are compared.

    Bansal et al. (2025), section 5, leave out equal neighbours. We also leave out equal S1 and S3: both fusions say
    the same then, so there is no difference between them, and their overlap is more than S2.
    """
    bare = [re.sub(r"\W|_", "", texts[name]).lower() for name in ("S1", "S2", "S3")]
    return len(set(bare)) < 3


def without_repeats(samples: Iterable[Composition]) -> tuple[Composition, ...]:
    """Return the samples without those that repeat an earlier one: same operator, same three texts."""
    samples_of_texts = grouped(samples, lambda sample: (sample.operator, sample.a, sample.b, sample.target))
    return tuple(repeats[0] for repeats in samples_of_texts.values())
