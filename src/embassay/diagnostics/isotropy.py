"""How evenly do an encoder's vectors fill their space?

Roychowdhury et al. (2024), section 3: I_A (Mu & Viswanath 2018) and IsoScore (Rudman et al. 2022) of the distinct texts
of any corpus, as they are and, where they are dense, after three transforms fitted on them. A description of these
texts' vectors, not a verdict: that isotropy makes an encoder better has not been shown.

Every figure depends on how many texts there are. The number of dimensions used, ``participation_ratio``, is estimated
without that bias; a finding states it only where there are ``TEXTS_PER_DIMENSION`` times as many texts.

The paper's two columns are labelled the wrong way round: the first is IsoScore (``docs/isotropy.md``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.diagnostics.base import Meaning, row, unranked
from embassay.geometry import transforms
from embassay.geometry.isotropy import WIDEST, Isotropy, isotropy
from embassay.layout import Column, EncoderTable, IntervalChart, Layout
from embassay.result import Estimate, Result, Row
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "isotropy"
VERSION = 2
MEANING = Meaning(lower=("mean_cosine",))
"""To be raised with each change after which the same vectors have other scores or figures."""
SUBSETS = {"text": "texts", "query": "queries", "document": "documents"}
TRANSFORMED = ("i_a", "isoscore", "participation_ratio_plugin", "mean_cosine")
"""What is measured after a transform too. It is fitted on the same texts, so that their vectors are no longer
independent of each other, and an estimate that counts on it would be wrong: after whitening, 1,000 texts of 384
dimensions would seem to use 622."""
UNBIASED = ("isoscore_unbiased", "participation_ratio")
QUANTITIES = ("i_a", "isoscore", *UNBIASED, "participation_ratio_plugin", "mean_cosine")
TEXTS_PER_DIMENSION = 5
"""So many texts for each dimension used are needed before the number of them is stated."""
DIGITS = 6
"""Significant digits that are kept: what float32 vectors and their products are good for."""


def create() -> IsotropyDiagnostic:
    """Make the diagnostic."""
    return IsotropyDiagnostic()


@dataclass(frozen=True)
class IsotropyDiagnostic:
    """The diagnostic; see the module's documentation."""

    shape: str = "any"
    options: str = ""

    def score(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin) -> ItemScores:
        """Measure the vectors of each role's texts, untransformed and transformed."""
        texts = corpus.texts()
        scalars: dict[str, float] = {}
        for role, subset in SUBSETS.items():
            rows = [vectors.row[text] for text in texts if text[0] == role]
            if rows:
                scalars |= _measured(vectors.matrix[rows], subset)
        return ItemScores(
            origin,
            measure="isotropy",
            item=np.array([str(place) for place in range(len(texts))]),
            unit=np.arange(len(texts)),
            labels={"role": np.array([role for role, _ in texts])},
            values={},
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Lay out the figures of all encoders on one corpus."""
        rows = tuple(r for s in scores for r in _rows(s, draws))
        notes = [note for s in scores if not s.origin.baseline for note in _findings(s)]
        return Result(draws.seed, draws.resamples, rows=rows, verdicts=(unranked(scores, notes),))


def _measured(vectors: Any, subset: str) -> dict[str, float]:
    """Return the figures of one role's vectors by ``subset/condition/quantity``; undefined ones are missing."""
    found = _named(isotropy(vectors), subset, "", QUANTITIES)
    found |= {f"{subset}//width": float(vectors.shape[1]), f"{subset}//dense": float(not issparse(vectors))}
    for name in () if issparse(vectors) else transforms.NAMES:
        try:
            fitted = transforms.fit(name, vectors)
        except ValueError:
            continue  # too few different vectors to fit it on: its figures are undefined
        moved = fitted.apply(vectors)
        found |= _named(isotropy(moved[~np.isnan(moved).any(axis=1)]), subset, name, TRANSFORMED)
        found[f"{subset}/{name}/rank"] = float(fitted.rank)
    return found


def _named(figures: Isotropy, subset: str, condition: str, quantities: Sequence[str]) -> dict[str, float]:
    values = {name: float(f"{getattr(figures, name):.{DIGITS}g}") for name in quantities}
    values |= {"rows": float(figures.rows), "zeros": float(figures.zeros)}
    return {f"{subset}/{condition}/{name}": value for name, value in values.items() if np.isfinite(value)}


def _rows(scores: ItemScores, draws: Draws) -> Iterator[Row]:
    for role, subset in SUBSETS.items():
        there = int((scores.labels["role"] == role).sum())
        if not there:
            continue
        transformed = transforms.NAMES if scores.scalars.get(f"{subset}//dense") else ()
        for condition in ("", *transformed):
            quantities = (*TRANSFORMED, "rank") if condition else QUANTITIES
            of = {q: scores.scalars.get(f"{subset}/{condition}/{q}") for q in (*quantities, "rows")}
            for quantity in quantities:
                estimate = _estimate(of[quantity], of, there, quantity)
                yield row(scores, draws, quantity, subset, estimate, condition)


def _estimate(value: float | None, of: Mapping[str, float | None], texts: int, quantity: str) -> Estimate:
    rows = of["rows"]
    if value is None:
        return Estimate(None, None, None, 0, 0, texts, _reason(of, quantity))
    used = int(rows or texts)
    return Estimate(value, None, None, used, used, texts - used)


def _reason(of: Mapping[str, float | None], quantity: str) -> str:
    rows = of["rows"]
    if rows is None:
        return "fewer than two texts whose vectors differ"
    if quantity == "i_a" and rows > WIDEST:
        return f"needs all singular values, which are worked out up to {WIDEST:,} texts or dimensions"
    if quantity in UNBIASED and of["participation_ratio"] is None and of["participation_ratio_plugin"] is not None:
        if rows < 4:
            return f"{rows:.0f} texts are too few to estimate it without bias; that takes 4"
        return "no two differences of these few texts have a direction in common; more texts are needed"
    return "fewer than two texts whose vectors differ, or one dimension"


def _findings(scores: ItemScores) -> Iterator[str]:
    """Say how many dimensions an encoder uses, and warn where there are too few texts for that or to whiten by."""
    name = scores.origin.encoder
    for subset in SUBSETS.values():
        width, plugin = (scores.scalars.get(f"{subset}//{q}") for q in ("width", "participation_ratio_plugin"))
        if width is None or plugin is None:
            continue
        rows = scores.scalars.get(f"{subset}//rows", 0.0)
        ratio = scores.scalars.get(f"{subset}//participation_ratio")
        cosine = scores.scalars.get(f"{subset}//mean_cosine", 0.0)
        yield f"{name}: {_dimensions(subset, rows, width, ratio)}; two of them have a mean cosine of {cosine:.2f}"
        rank = scores.scalars.get(f"{subset}/whiten/rank")
        if rank is not None and rows < 2 * width:
            yield (
                f"{name}: whitening rests on {rows:,.0f} {subset} for {width:,.0f} dimensions (rank {rank:,.0f}); "
                "with fewer than twice as many it overfits"
            )


def _dimensions(subset: str, rows: float, width: float, ratio: float | None) -> str:
    """Say how many dimensions the texts use, or how many texts it takes to say so."""
    # By chance the estimate may be above the number of dimensions; without one, all of them may be in use.
    used = width if ratio is None else min(ratio, width)
    needed = math.ceil(TEXTS_PER_DIMENSION * used)
    if rows >= needed and ratio is not None:
        return f"the {subset} use {used:.0f} of {width:,.0f} dimensions (participation ratio)"
    return (
        f"{rows:,.0f} {subset} are too few to say how many of {width:,.0f} dimensions they use: "
        f"that takes about {needed:,} (participation ratio)"
    )


_ISOSCORE = Column("IsoScore", "isoscore", "texts", "number")
_COLUMNS = tuple(
    Column(f"{heading}{', ' + subset if subset != 'texts' else ''}", quantity, subset, "number")
    for subset in SUBSETS.values()
    for heading, quantity in (
        ("dimensions used", "participation_ratio"),
        ("IsoScore, unbiased", "isoscore_unbiased"),
        ("IsoScore", "isoscore"),
        ("dimensions used, plug-in", "participation_ratio_plugin"),
        ("I_A", "i_a"),
        ("mean cosine", "mean_cosine"),
    )
)
LAYOUT = Layout(
    title="Isotropy",
    question="How evenly do the vectors fill their space?",
    headline=EncoderTable(
        "Isotropy of the distinct texts, at unit length",
        _COLUMNS,
        note="Dimensions used: the participation ratio, estimated without the bias of few texts; by chance it may be "
        "above the number of dimensions. IsoScore: 1 when all directions vary equally, 0 when one does; as published "
        "and as plug-in it is too low where there are few texts. I_A: 1 when no direction carries more, the mean "
        "included. No intervals.",
    ),
    parts=(
        IntervalChart("IsoScore", _ISOSCORE),
        *(
            EncoderTable(
                f"After the transform {name}",
                (
                    *(
                        Column(c.heading, c.quantity, c.subset, c.format, name)
                        for c in _COLUMNS
                        if c.quantity in ("i_a", "isoscore", "mean_cosine")
                    ),
                    *(Column(f"rank, {subset}", "rank", subset, "count", name) for subset in SUBSETS.values()),
                ),
                note={
                    "standardize": "Each dimension to mean 0 and variance 1.",
                    "whiten": "Covariance to the identity; rank: the directions that are left.",
                    "remove_pcs": "Centred, without the top d // 100 principal components (one at least).",
                }[name],
            )
            for name in transforms.NAMES
        ),
    ),
    source="Mu & Viswanath (2018); Rudman et al. (2022), IsoScore; Roychowdhury et al. (2024), section 3; Chen, Zhang "
    "& Zhong (2010), unbiased traces",
)
