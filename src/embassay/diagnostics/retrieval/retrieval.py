"""Which model finds the right document, how sure is that, and from what similarity on?

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain". Every
question is compared with every document by the model's own similarity; a document is as near as its nearest passage.
``Success@5`` is the share of all questions with a right document among the nearest five, ``accuracy_l100`` the paper's:
the mean over 500 exams of 100 questions, with the interval of one such exam.

What the paper prints wrong is listed in ``docs/retrieval.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Meaning, candidates_of, comparisons, roles_of, verdict
from embassay.diagnostics.retrieval.page import layout, page
from embassay.diagnostics.retrieval.published import beside_published
from embassay.diagnostics.retrieval.rows import View, correlations, rows_of, shares_of
from embassay.diagnostics.retrieval.scores import Asked, blind, quantities, similarities, transformed
from embassay.diagnostics.retrieval.series import findings, first_place, scales, series_of
from embassay.errors import SpecError
from embassay.result import Example, Result
from embassay.samples.retrieval import Question
from embassay.stats.best import rank_means
from embassay.stats.detectable import precision_of
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.noninferiority import Headline
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "retrieval"
VERSION = 2
"""To be raised with each change after which the same vectors have other scores or figures."""
K = 5
LOSS = 0.02
"""The success that a recommended threshold may lose."""
MEANING = Meaning("retrieval", "questions", 0.02, lower=("roe",), neither=("tau", "kept", "rank"))
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
        The success that a recommended threshold may lose: 0.02 is 2 points. With 95 % confidence where there are
        questions enough (149 independent ones at 2 points), else on average (49).
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
        shares = shares_of(views, draws)
        rows = [r for view in views for r in rows_of(view, shares[view.encoder], draws)]
        own = [v for v in views if not v.scores.origin.baseline] or views
        across = tuple(correlations(own, rows, draws))
        headline = f"Success@{self.k}"
        asked = quantities(self.k)[:: 1 if self.compare == "all" else len(quantities(self.k))]
        unit, key = views[0].unit, views[0].corpus_key
        roles = roles_of(scores, all_pairs=self.compare == "all")
        found = {
            name: compare_means(
                {v.encoder: v.metric(name) for v in views},
                unit,
                roles,
                draws,
                NAME,
                key,
                of_shares=name.startswith(("Success", "R@")),
            )
            for name in asked
        }
        level = {
            v.encoder: (v.metric(headline), shares[v.encoder].estimates[headline, "all", ""].estimate) for v in views
        }
        candidates = candidates_of(scores, {v.encoder: v.metric(headline) for v in views})
        standings = rank_means(candidates, unit, draws, NAME, key)
        notes = [
            *first_place(headline, self.k, {v.encoder: level[v.encoder][1].value for v in own}),
            *self._needed(found[headline], candidates, unit),
            *(note for v in own for note in findings(v, rows)),
            *scales(views),
        ]
        return Result(
            draws.seed,
            draws.resamples,
            rows=(*rows, *across),
            comparisons=tuple(c for name, ds in found.items() for c in comparisons(scores[0], name, "all", ds)),
            series=(*series_of(views, rows), *beside_published(views, (*rows, *across))),
            examples=tuple(_examples(own)),
            verdicts=(
                verdict(
                    scores,
                    level,
                    headline,
                    found[headline],
                    standings,
                    unit=unit,
                    chance=views[0].chance,
                    notes=notes,
                ),
            ),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline:
        """Return the item values of the headline, which a test of "not worse" rests on."""
        views = [View(s, self.k, self.psi, self.loss) for s in scores]
        name = f"Success@{self.k}"
        values = {v.encoder: v.metric(name) for v in views}
        return Headline(name, MEANING.margin, values, views[0].unit, (NAME, views[0].corpus_key))

    def _needed(
        self, found: Sequence[PairedDifference], candidates: Mapping[str, Floats], unit: NDArray[np.int64]
    ) -> Iterator[str]:
        """Say how many units a difference that the user names would take."""
        if not self.gap:
            return
        precision = precision_of(found, candidates, unit, of_shares=True)
        if precision is None:
            yield "How many units a difference takes cannot be estimated: no candidate has two units with an answer"
            return
        yield (
            f"A difference of {100 * self.gap:g} points takes about {precision.units_needed(self.gap):,} units like "
            f"these ({precision.items_needed(self.gap):,} questions) to be seen with 80% power; there are "
            f"{precision.units:,}"
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
