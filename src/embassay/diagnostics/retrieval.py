"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; a document is as near as its nearest passage.
``Success@5`` is the share of all questions with a right document among the nearest five, ``accuracy_l100`` the paper's:
the mean over 500 exams of 100 questions, with the interval of one such exam.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from embassay.diagnostics._retrieval_page import layout, page
from embassay.diagnostics._retrieval_rows import View, correlations, rows_of
from embassay.diagnostics._retrieval_scores import Asked, blind, quantities, similarities, transformed
from embassay.diagnostics._retrieval_series import findings, first_place, scales, series_of
from embassay.diagnostics._rows import comparisons, verdict
from embassay.errors import SpecError
from embassay.result import Example, Result
from embassay.samples import Question
from embassay.stats.compare import compare as compare_pairs
from embassay.stats.compare import units_needed
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "retrieval"
K = 5
LOSS = 0.02
"""The success that a recommended threshold may cost."""
PSI = 5
SHOWN = 12
"""How many of the questions that all encoders miss are shown with their texts."""
LAYOUT = page(K)
__all__ = ["LAYOUT", "NAME", "create", "layout"]


def create(
    *,
    k: int = K,
    psi: int = PSI,
    loss: float = LOSS,
    gap: float = 0.0,
    search: Literal["exact", "approximate"] = "exact",
    compare: Literal["headline", "all"] = "headline",
) -> Retrieval:
    """Make the diagnostic.

    Parameters
    ----------
    k
        How many documents are retrieved.
    psi
        The percentile of the top-k similarities that COE and ROE are taken at, 1 to 99; both are also drawn as curves.
    loss
        The share of success that a recommended threshold may cost: 0.02 is 2 points.
    gap
        A difference between two encoders that matters to you, 0.03 for 3 points: the verdict says how many units it
        would take to see it.
    search
        ``approximate`` finds the top k of large corpora by faiss; its measured recall is said.
    compare
        Which quantities are compared pair by pair: ``headline`` (Success@k) or ``all`` (also R@k, RR, AP and nDCG@10).

    Raises
    ------
    SpecError
        For a number out of range.
    """
    for name, value, low, high in (("k", k, 1, 1000), ("psi", psi, 1, 99), ("loss", loss, 0, 1), ("gap", gap, 0, 1)):
        if not low <= value <= high:
            raise SpecError(f"diagnostic 'retrieval', option {name!r}: must be {low} to {high}, is {value:g}")
    return Retrieval(k, psi, loss, gap, search, compare)


@dataclass(frozen=True)
class Retrieval:
    """The diagnostic; see the module's documentation."""

    k: int = K
    psi: int = PSI
    loss: float = LOSS
    gap: float = 0.0
    search: str = "exact"
    compare: str = "headline"
    shape: str = "retrieval"

    @property
    def options(self) -> str:
        """The options that move a score."""
        given = {"k": (self.k, K), "search": (self.search, "exact")}
        return ",".join(f"{name}={value}" for name, (value, default) in given.items() if value != default)

    def check(self, corpus: Corpus[Question]) -> None:
        """Refuse a corpus in which every document would be retrieved, or no question has an answer.

        Raises
        ------
        SpecError
            With what to do.
        """
        if self.k >= len(corpus.documents):
            raise SpecError(
                f"corpus {corpus.name!r} has {len(corpus.documents)} documents, of which k={self.k} would be "
                f"retrieved: every question would succeed; say retrieval,k= a smaller number"
            )
        if not any(sample.right for sample in corpus.samples):
            raise SpecError(f"corpus {corpus.name!r}: no question has a right document, so nothing can be found")

    def score(self, corpus: Corpus[Question], vectors: Vectors, origin: Origin) -> ItemScores:
        """Find the nearest documents of each question, and where the right ones stand."""
        route = "auto" if self.search == "exact" else "faiss"
        asked = Asked.of(corpus, vectors)
        values, labels = similarities(asked, self.k, route)
        moved, scalars = transformed(asked, self.k, labels["nearest"] != "")
        samples = corpus.samples
        scalars |= {
            "documents": float(len(corpus.documents)),
            "passages": float(sum(len(document.passages) for document in corpus.documents)),
            "dot": float(vectors.similarity == "dot"),
            "chance": blind(corpus, self.k),
        }
        return ItemScores(
            origin,
            measure="similarity",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels=labels,
            values={**values, **moved},
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus."""
        views = [View(s, self.k, self.psi, self.loss) for s in scores]
        rows = [r for view in views for r in rows_of(view, draws)]
        own = [v for v in views if not v.scores.origin.baseline] or views
        headline = f"Success@{self.k}"
        asked = quantities(self.k)[:: 1 if self.compare == "all" else len(quantities(self.k))]
        unit, key = views[0].unit, views[0].corpus_key
        found = {
            name: compare_pairs(
                {v.encoder: v.metric(name) for v in views},
                unit,
                draws,
                NAME,
                key,
                name,
                of_shares=name.startswith(("Success", "R@")),
            )
            for name in asked
        }
        level = {v.encoder: (v.metric(headline), v.estimate(headline, draws)) for v in views}
        notes = [
            *first_place(headline, self.k, {v.encoder: level[v.encoder][1].value for v in own}),
            *self._needed(found[headline], views),
            *(note for v in own for note in findings(v, rows, draws)),
            *scales(views),
        ]
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *correlations(own, rows, draws)),
            comparisons=tuple(c for name, ds in found.items() for c in comparisons(scores[0], name, "all", ds)),
            series=tuple(series_of(views, rows)),
            examples=tuple(_examples(own)),
            verdicts=(
                verdict(scores, level, headline, found[headline], unit=unit, chance=views[0].chance, notes=notes),
            ),
        )

    def _needed(self, found: Sequence[Any], views: Sequence[View]) -> Iterator[str]:
        """Say how many units a difference that the user names would take."""
        errors = [(d.error, d.units) for d in found if d.error is not None]
        if self.gap and not errors:
            yield "How many units a gap would take to be seen is told from two encoders: name another with -e"
        elif self.gap:
            error, units = max(errors)
            needed = units_needed(self.gap, error, units, sum(d.p is not None for d in found))
            per_unit = len(views[0].unit) / max(units, 1)
            yield (
                f"A gap of {100 * self.gap:g} points would take about {needed:,} units like these "
                f"({needed * per_unit:,.0f} questions) to be seen in four cases of five"
            )


def _examples(views: Sequence[View]) -> Iterator[Example]:
    """Show questions that every encoder misses, one of each unit, and what each found instead."""
    taken: set[int] = set()
    missed = np.all([v.metric(v.headline) == 0 for v in views], axis=0)
    for index in np.flatnonzero(missed).tolist():
        unit = int(views[0].unit[index])
        if unit in taken or len(taken) == SHOWN:
            continue
        taken.add(unit)
        for view in views:
            yield Example(
                NAME,
                view.scores.origin.corpus,
                view.encoder,
                view.item(index),
                "missed by all",
                {"found": view.nearest(index)},
                view.shown(index),
            )
