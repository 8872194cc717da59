"""What the diagnostics share: figures and differences to flat rows, and the verdict on a headline.

At the end, what a diagnostic may do beyond :class:`~embassay.types.Diagnostic`: one protocol for each optional ability.
A diagnostic has an ability when it has the method of that name; it need not inherit from anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.engine.pending import Pending, Submit
from embassay.plugins import DIAGNOSTICS
from embassay.result import MIN_UNITS, Comparison, Estimate, Row, Verdict
from embassay.stats.best import Standings
from embassay.stats.detectable import precision_of
from embassay.stats.families import Family, PairedDifference, Roles
from embassay.stats.noninferiority import Headline
from embassay.stats.shares import PooledShare
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin, content_hash, is_chance
from embassay.vectors import Vectors

LEXICAL = ("bm25", "tfidf")
"""The encoders that a candidate has to beat to be worth its price: those that only count words."""


@dataclass(frozen=True)
class Meaning:
    """What the quantities of a diagnostic mean, for all who choose between encoders by them: its ``MEANING``.

    Attributes
    ----------
    title
        What the headline quantity says of a model, in a few words; empty where there is no headline.
    items
        What one item is called.
    margin
        From what loss of the headline quantity on one encoder counts as worse than another; 0 where there is none.
    points
        Whether the headline is a share, told in points of a hundred; else it is told as a number.
    lower
        Beginnings of the quantities of which lower is better: near to what means something else, near to everything.
        Quantities are named as ``ea.evaluator`` names them: quantity, subset, condition, joined by ``_``.
    neither
        Beginnings of those of which neither is better by itself. Of all others higher is better.
    """

    title: str = ""
    items: str = "items"
    margin: float = 0.0
    points: bool = True
    lower: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()


def meaning_of(diagnostic: str) -> Meaning:
    """Return what the quantities of a diagnostic mean; of one that does not say it, that higher is better."""
    found: Meaning = getattr(DIAGNOSTICS.module(diagnostic), "MEANING", Meaning())
    return found


def row(
    scores: ItemScores,
    draws: Draws,
    quantity: str,
    subset: str,
    estimate: Estimate,
    condition: str = "",
    measure: str = "",
    interval: str = "confidence",
    **more: str,
) -> Row:
    """Make a row of an estimate.

    Parameters
    ----------
    measure
        The scores' own measure by default.
    interval
        What its low and high are, where there are some: ``confidence`` or ``exams``.
    more
        What else the figure depends on, for its signature.
    """
    origin = scores.origin
    return Row(
        origin.diagnostic,
        origin.corpus,
        origin.encoder,
        subset,
        measure or scores.measure,
        condition,
        quantity,
        **vars(estimate),
        signature=scores.signature(draws, measure, **more),
        interval="none" if estimate.low is None else interval,
    )


def share_row(
    scores: ItemScores,
    draws: Draws,
    quantity: str,
    subset: str,
    share: PooledShare,
    pool: str,
    condition: str = "",
    measure: str = "",
    **more: str,
) -> Row:
    """Make a row of a share; its signature names the pool where its limits rest on the other encoders.

    Parameters
    ----------
    pool
        What :func:`pools_of` gives for this encoder.
    """
    if share.pooled:
        more["pool"] = pool
    return row(scores, draws, quantity, subset, share.estimate, condition, measure, **more)


def pools_of(scores: Sequence[ItemScores]) -> dict[str, str]:
    """Name the other encoders of each one: a hash of their labels and of the digests of their scores."""
    known = {s.origin.encoder: s.digest for s in scores}
    return {name: content_hash(sorted([*pair] for pair in known.items() if pair[0] != name)) for name in known}


def roles_of(scores: Sequence[ItemScores], all_pairs: bool = False) -> Roles:
    """Say what each encoder is compared as.

    Candidates are those that were asked for; one that gives random vectors is none. bm25 and tfidf are lexical
    baselines, whether they joined by themselves or were asked for.
    """
    heads = {s.origin.encoder: s.origin.spec.split(",")[0] for s in scores}
    candidates = [s.origin for s in scores if not s.origin.baseline and not is_chance(s.origin.spec)]
    lexical = [name for head in LEXICAL for name in heads if heads[name] == head]
    return Roles(
        tuple(origin.encoder for origin in candidates),
        next((origin.encoder for origin in candidates if origin.reference), None),
        tuple(lexical),
        all_pairs=all_pairs,
    )


def candidates_of(scores: Sequence[ItemScores], values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the values of the candidates only."""
    return {name: values[name] for name in roles_of(scores).candidates if name in values}


def comparisons(
    scores: ItemScores,
    quantity: str,
    subset: str,
    found: Sequence[PairedDifference],
    condition: str = "",
    measure: str = "",
) -> tuple[Comparison, ...]:
    """Make the rows of the families of differences of one quantity; ``scores`` are any encoder's."""
    return tuple(
        Comparison(
            scores.origin.diagnostic,
            scores.origin.corpus,
            subset,
            measure or scores.measure,
            condition,
            quantity,
            d.a,
            d.b,
            d.difference,
            d.low,
            d.high,
            d.p,
            d.p_adjusted,
            d.tests,
            d.items,
            d.units,
            d.family,
            d.p_method,
            d.p_error,
        )
        for d in found
    )


def verdict(
    scores: Sequence[ItemScores],
    headline: Mapping[str, tuple[Floats, Estimate]],
    quantity: str,
    differences: Sequence[PairedDifference],
    standings: Standings,
    *,
    unit: NDArray[np.int64] | None = None,
    subset: str = "all",
    condition: str = "",
    chance: float | None = None,
    of_shares: bool = True,
    leader: str = "Best",
    notes: Iterable[str] = (),
) -> Verdict:
    """Say which candidates may be the best on a headline quantity, and how they stand to reference and baseline.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus.
    headline
        The (m,) item values of the quantity, larger is better, and their estimate, by encoder.
    differences
        The answers of all families on this quantity.
    standings
        Of the candidates on this quantity.
    unit
        (m,) the units of these items; those of the scores by default.
    of_shares
        Whether the items are yes or no, so that a small difference needs items that differ.
    """
    roles = roles_of(scores)
    estimates = {name: headline[name][1] for name in roles.candidates}
    defined = [name for name in roles.candidates if estimates[name].value is not None]
    best = standings.best_set[0] if standings.best_set else None
    of_best = estimates[best] if best else None
    units_of_items = scores[0].unit if unit is None else unit
    values = {name: headline[name][0] for name in defined}
    precision = precision_of(differences, values, units_of_items, of_shares=of_shares)
    # Under so many units nothing is called better or worse, so no difference can be detected.
    detectable = precision if precision and precision.units >= MIN_UNITS else None
    reference, against_reference = _against("reference", differences)
    baseline, against_baseline = _against("baseline", differences)
    return Verdict(
        scores[0].origin.diagnostic,
        scores[0].origin.corpus,
        quantity,
        items=len(scores[0].unit),
        units=len(np.unique(scores[0].unit)),
        subset=subset,
        measure=scores[0].measure,
        condition=condition,
        candidates=_ordered(defined, standings, estimates),
        undefined=tuple(name for name in roles.candidates if name not in defined),
        best=best,
        value=of_best.value if of_best else None,
        low=of_best.low if of_best else None,
        high=of_best.high if of_best else None,
        best_set=standings.best_set,
        rank_low=dict(standings.rank_low),
        rank_high=dict(standings.rank_high),
        left_out=tuple(name for name in standings.left_out if name in defined),
        undefined_as_wrong=dict(standings.undefined_as_wrong),
        reason=standings.reason,
        reference=reference,
        against_reference=against_reference,
        baseline=baseline,
        against_baseline=against_baseline,
        chance=chance,
        smallest_difference=detectable.minimum_detectable_difference if detectable else None,
        smallest_units=detectable.units if detectable else None,
        leader=leader,
        notes=tuple(notes),
    )


def _ordered(names: Sequence[str], standings: Standings, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return encoders by their values on the common items, highest first; those without one follow by their own."""
    ranked = [name for name in standings.values if name in names]
    others = [name for name in names if name not in standings.values]
    others.sort(key=lambda name: -(estimates[name].value or 0.0))
    return (*ranked, *others)


def _against(
    family: Family, differences: Sequence[PairedDifference]
) -> tuple[str | None, dict[str, dict[str, float | None]]]:
    """Return whom a family compares with, and how far each candidate is above it."""
    members = [d for d in differences if d.family == family]
    gaps = {d.a: {"difference": d.difference, "low": d.low, "high": d.high, "p": d.p_adjusted} for d in members}
    return (members[0].b if members else None), gaps


def unranked(scores: Sequence[ItemScores], notes: Iterable[str]) -> Verdict:
    """Return the verdict of a diagnostic that puts no encoder before another."""
    origin, unit = scores[0].origin, scores[0].unit
    return Verdict(
        origin.diagnostic,
        origin.corpus,
        "",
        items=len(unit),
        units=len(np.unique(unit)),
        candidates=roles_of(scores).candidates,
        notes=tuple(notes),
    )


class ChecksCorpus(Protocol):
    """Cannot work with every corpus of its shape."""

    def check(self, corpus: Corpus[Any]) -> None:
        """Refuse a corpus before any text is encoded.

        Raises
        ------
        InputError
            With what is wrong, and what to do.
        """
        ...


class ScoresInParallel(Protocol):
    """Has work for other processes, which go on while the next encoder encodes."""

    def begin(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin, submit: Submit) -> Pending[ItemScores]:
        """Hand out work with ``submit``, and say how the scores are put together; called in place of ``score``."""
        ...


class SetsSideBySide(Protocol):
    """Looks at two corpora together; it runs only when it is asked for by name."""

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the two corpora."""
        ...

    def join(self, a: Corpus[Any], b: Corpus[Any], /) -> Corpus[Any]:
        """Return one corpus of both, of the diagnostic's own shape."""
        ...


class HasHeadline(Protocol):
    """Has a figure that is a mean over items, so that ``embassay adapt`` can test whether something was lost on it."""

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return the item values of the headline of all encoders; None where there are none on this corpus."""
        ...
