"""Differences whose parts hardly overlap, by the cosine of some encoders (Bansal et al. 2025, section 5).

The paper keeps differences where the cosine is under 0.25 under every one of some encoders; which two sentences are
compared was lost on the way. ``bd``: the second sentence and the difference. ``neighbours``: the two sentences that the
first one was fused of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.errors import SpecError
from embassay.geometry.closeness import paired_cosine
from embassay.samples.composition import Composition
from embassay.testsets.base import Advance
from embassay.types import Encoder

Which = Literal["bd", "neighbours"]
BLOCK = 512
"""Texts that are encoded at once, between two reports of progress."""
_NEIGHBOURS = {"F12": ("S1", "S2"), "F23": ("S2", "S3")}


@dataclass(frozen=True)
class Filter:
    """How differences are chosen.

    Attributes
    ----------
    encoders
        All of them must agree; none keeps everything.
    which
        Which two sentences are compared.
    below
        The cosine that they have to be under.
    """

    encoders: tuple[Encoder, ...] = ()
    which: Which = "bd"
    below: float = 0.25

    def __post_init__(self) -> None:
        """Check the choice, as :func:`check` does."""
        check(self.encoders, self.which, self.below)


@dataclass(frozen=True)
class Filtered:
    """What a filter kept, how many it dropped by reason, and what each encoder would have dropped."""

    samples: tuple[Composition, ...]
    rejected: Counter[str]
    notes: tuple[str, ...] = ()


def check(encoders: Sequence[object], which: str, below: float) -> None:
    """Refuse what nothing can pass or fail by.

    Parameters
    ----------
    encoders
        Encoders, or what names them.

    Raises
    ------
    SpecError
        For an unknown pair, a bound that is no cosine, or a choice of either without an encoder.
    """
    if which not in ("bd", "neighbours"):
        raise SpecError(f"filter must be bd or neighbours, is {which!r}")
    if not -1 < below <= 1:
        raise SpecError(f"below must be above -1 and at most 1, is {below:g}")
    if not encoders and (which, below) != (Filter.which, Filter.below):
        raise SpecError(
            f"filter {which} and below {below:g} choose nothing without an encoder: "
            "name one with -e, in Python with filters="
        )


def filtered(
    documents: Sequence[tuple[Mapping[str, str], Sequence[Composition]]], chosen: Filter, advance: Advance
) -> Filtered:
    """Return the samples of documents without the differences whose parts are near each other.

    Overlaps and unions pass. Each distinct text is encoded once by each encoder, which has learnt from all of them.

    Parameters
    ----------
    documents
        The five texts of each, and its samples.

    Returns
    -------
    The samples in their order. A difference without a cosine, as that of a text whose vector is zero, is dropped.
    """
    samples = [sample for _, own in documents for sample in own]
    pairs = [pair for texts, own in documents for pair in _pairs(texts, own, chosen.which)]
    if not chosen.encoders or not pairs:
        return Filtered(tuple(samples), Counter())
    cosines = _cosines(pairs, chosen.encoders, advance)
    with np.errstate(invalid="ignore"):
        near = cosines >= chosen.below
    drop, undefined = near.any(axis=0), np.isnan(cosines).any(axis=0)
    dropped = iter(np.logical_or(drop, undefined).tolist())
    kept = tuple(sample for sample in samples if sample.operator != "difference" or not next(dropped))
    rejected = Counter(
        {
            f"difference whose parts are near each other (cosine {chosen.below:g} or more)": int(drop.sum()),
            "difference without a cosine (a vector is zero)": int((undefined & ~drop).sum()),
        }
    )
    of = f"of {len(pairs):,} differences have a cosine of {chosen.below:g} or more"
    counts = np.count_nonzero(near, axis=1).tolist()
    notes = (f"{e.card.spec}: {n:,} {of}." for e, n in zip(chosen.encoders, counts, strict=True))
    return Filtered(kept, +rejected, tuple(notes))


def _cosines(pairs: Sequence[tuple[str, str]], encoders: Sequence[Encoder], advance: Advance) -> NDArray[np.float64]:
    """Return the (encoders, pairs) cosines; NaN where one is not defined."""
    texts = tuple(dict.fromkeys(text for pair in pairs for text in pair))
    row = {text: place for place, text in enumerate(texts)}
    a, b = np.array([(row[first], row[second]) for first, second in pairs]).T
    found = np.empty((len(encoders), len(pairs)))
    for turn, encoder in enumerate(encoders):
        vectors = _encoded(encoder.fit(texts), texts, _part(advance, turn, len(encoders)))
        found[turn] = paired_cosine(vectors[a], vectors[b])
    return found


def _pairs(texts: Mapping[str, str], samples: Iterable[Composition], which: Which) -> Iterable[tuple[str, str]]:
    """Yield the two sentences of each difference that are compared."""
    fused = {texts[name]: name for name in _NEIGHBOURS if name in texts}
    for sample in samples:
        if sample.operator != "difference":
            continue
        if which == "bd":
            yield sample.b, sample.target
        else:
            first, second = _NEIGHBOURS[fused[sample.a]]
            yield texts[first], texts[second]


def _encoded(encoder: Encoder, texts: Sequence[str], advance: Advance) -> Any:
    """Return the (n, d) vectors, dense or CSR."""
    from scipy import sparse

    blocks = []
    for start in range(0, len(texts), BLOCK):
        blocks.append(encoder.encode(texts[start : start + BLOCK], "text"))
        advance(min(start + BLOCK, len(texts)), len(texts))
    return sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)


def _part(advance: Advance, turn: int, turns: int) -> Advance:
    """Return an advance that counts the texts of one encoder among those of all."""
    return lambda done, total: advance(turn * total + done, turns * total)
