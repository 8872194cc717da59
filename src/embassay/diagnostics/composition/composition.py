"""Do overlap, difference and union of sentences behave like sets?

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings". A sample is two
sentences A and B and what a set operation makes of them: the overlap O, the difference D (what A says and B does not)
or the union U. Six criteria: C1, C3 and C4 compare closenesses (``_set_criteria``), C2, C5 and C6 look at the
projection of the target on the plane of A and B (:mod:`embassay.geometry.plane`).

Beside each criterion stands what it gives by chance, with targets of other units in the place of the sample's own, the
mean over 20 draws (fewer above 20,000 samples, see :func:`draws_needed`):
the paper names as a limit that its criteria were never shown to tell models apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import (
    Meaning,
    candidates_of,
    comparisons,
    pools_of,
    roles_of,
    share_row,
    unranked,
    verdict,
)
from embassay.diagnostics.composition import page as composition_page
from embassay.diagnostics.composition.criteria import (
    PLANAR,
    Axes,
    Block,
    Key,
    axes_of,
    bounds,
    main_claim,
    margin_criteria,
    numbers,
    yes_no,
)
from embassay.diagnostics.composition.nulls import other_targets
from embassay.diagnostics.composition.page import series
from embassay.diagnostics.composition.ratings import matrix, rating_rows, rating_series
from embassay.diagnostics.composition.scores import all_unit, measured, null_measured
from embassay.errors import SpecError
from embassay.geometry.closeness import MEASURES
from embassay.result import MIN_UNITS, Comparison, Estimate, Example, Result, Row, Verdict
from embassay.samples.composition import Composition as Sample
from embassay.stats.best import rank_means
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.noninferiority import Headline
from embassay.stats.resample import means
from embassay.stats.shares import PooledShare, shares_of_encoders
from embassay.stats.units import Floats, ratio_variance
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "composition"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
HEADLINE = ("share", "c1:TT", "cosine", "excess:eps0")
MEANING = Meaning("overlap above chance", "samples", 0.02)
LAYOUT = composition_page.LAYOUT
DRAWS = 20
"""Draws of other units' targets: one alone moves the excess by as much as its standard error."""
MANY = 20_000
"""Above so many samples fewer draws will do."""
PILOT = 2
"""Draws that say how many it takes."""
TENTH = 0.1
"""The null's own error, as a share of the observed share's standard error, above ``MANY`` samples."""
KEPT = 1_000_000
"""Samples times draws that are kept in memory, at most, above ``MANY`` samples."""
SHOWN = 8
"""How many overlaps that fail for all encoders are shown."""
ALONE = "no other unit has a target to compare with"
NOT_APPLICABLE = "not applicable: all norms are 1"


def create(*, compare: Literal["headline", "all"] = "headline", null_seed: int = 0) -> CompositionDiagnostic:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which quantities are compared pair by pair, each less its null: ``headline`` (C1, both conditions at ε = 0)
        or ``all`` (also C2, C3, C4 against B and against A, C5 and C6).
    null_seed
        Of the draws of other units' targets; 0 or more.

    Raises
    ------
    SpecError
        For a negative seed.
    """
    if null_seed < 0:
        raise SpecError(f"null_seed must be 0 or more, is {null_seed}")
    return CompositionDiagnostic(compare, null_seed)


@dataclass(frozen=True)
class CompositionDiagnostic:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    null_seed: int = 0
    shape: str = "composition"

    @property
    def options(self) -> str:
        """The seed of the null, where it is not 0."""
        return f"null_seed={self.null_seed}" if self.null_seed else ""

    def score(self, corpus: Corpus[Sample], vectors: Vectors, origin: Origin) -> ItemScores:
        """Measure each sample: five measures of A, B, target and the null's target, and both projections."""
        samples = corpus.samples
        operator = np.array([s.operator for s in samples])
        side = np.array(["right" if s.mirrored else "" for s in samples])
        kind = np.char.add(operator, side)
        values = measured(samples, vectors)
        angle = values["plane"][:, PLANAR.index("angle")]
        targets = [s.target for s in samples]

        def null_of(draws: range) -> dict[str, Floats]:
            null = other_targets(targets, corpus.units, kind, self.null_seed, corpus.fingerprint, draws=draws)
            return null_measured(samples, null, vectors, angle)

        scores = ItemScores(
            origin,
            measure="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"operator": operator, "side": side},
            values={**values, "ratings": matrix([s.ratings for s in samples])},
            scalars={"unit_norm": float(all_unit(samples, vectors))},
        )
        if len(samples) <= MANY:
            return replace(scores, values={**scores.values, **null_of(range(DRAWS))})
        null = null_of(range(PILOT))
        number = draws_needed(replace(scores, values={**scores.values, **null}))
        if number > PILOT:
            more = null_of(range(PILOT, number))
            null = {name: np.concatenate([null[name], more[name]], axis=1) for name in null}
        return replace(scores, values={**scores.values, **null})

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: criteria, nulls, margins, and which differences are real."""
        asked = [s for s in scores if not s.origin.baseline] or list(scores)
        # Their digests are worked out once: these are large.
        parts = [s.part(*(name for name in s.values if name != "ratings")) for s in scores]
        rows, axes = list[Row](), dict[str, Axes]()
        for name, inside in _sides(scores[0]).items():
            axes[name] = _axes(asked, name, inside)
            rows += _rows(parts, name, inside, axes[name], draws)
        own = _sides(scores[0])
        rated = {name: inside for name, inside in own.items() if name != "right"}
        rows += rating_rows(scores[0], draws, rated)
        found, differences = _compared(scores, own, self.compare, draws)
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(found),
            series=(*series(NAME, scores, own), *rating_series(scores[0], rated)),
            examples=tuple(_examples(asked, own)),
            verdicts=(_verdict(scores, own, differences, rows, draws),),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return the item values of the headline, which a test of "not worse" rests on; None without overlaps."""
        values, unit = _of_figure(scores, _sides(scores[0]), HEADLINE)
        if not values:
            return None
        quantity, subset, _, condition = HEADLINE
        purpose = (NAME, scores[0].origin.corpus_fingerprint)
        return Headline(quantity, MEANING.margin, values, unit, purpose, subset, condition)


def draws_needed(scores: ItemScores) -> int:
    """Return how many draws keep the null's own error under a tenth of the observed share's standard error.

    With v the mean over samples of a claim's variance between draws, the mean over n samples and D draws has the
    variance v/(n·D); so D = v/(n·(SE/10)²), for the operator that needs most, at least ``PILOT`` and at most ``DRAWS``,
    and so many that no more than ``KEPT`` numbers of each kind are kept.

    Parameters
    ----------
    scores
        With the first draws of the null.
    """
    needed = 0.0
    for side, inside in _sides(scores).items():
        block = Block(scores, _operator(side), inside)
        observed, drawn = main_claim(block), main_claim(block, null=True)
        both = ~(np.isnan(observed) | np.isnan(drawn).any(axis=0))
        unit = np.unique(scores.unit[inside][both], return_inverse=True)[1].astype(np.int64)
        if len(np.unique(unit)) < MIN_UNITS:
            continue
        between_draws = float(drawn[:, both].var(axis=0, ddof=1).mean())
        largest_variance = ratio_variance(observed[both], unit) * TENTH**2
        if between_draws:
            needed = max(needed, between_draws / int(both.sum()) / largest_variance if largest_variance else np.inf)
    most = min(DRAWS, KEPT // len(scores.item))
    return int(max(PILOT, min(most, np.ceil(needed))))


def _sides(scores: ItemScores) -> dict[str, NDArray[np.int64]]:
    """Return the items of each operator; ``right`` are the mirrored differences."""
    operator, side = scores.labels["operator"], scores.labels["side"]
    found = {name: np.flatnonzero((operator == name) & (side == "")) for name in ("overlap", "difference", "union")}
    found["right"] = np.flatnonzero(side == "right")
    return {name: rows for name, rows in found.items() if rows.size}


def _operator(side: str) -> str:
    return "difference" if side == "right" else side


def _axes(scores: Iterable[ItemScores], side: str, inside: NDArray[np.int64]) -> Axes:
    operator = _operator(side)
    blocks = [Block(s, operator, inside) for s in scores]
    return {(c, m): axes_of(c, m, blocks) for c in margin_criteria(operator) for m in MEASURES}


def _rows(
    scores: Sequence[ItemScores], side: str, inside: NDArray[np.int64], axes: Axes, draws: Draws
) -> Iterator[Row]:
    """Yield the figures of one operator for all encoders, all with the same resamples."""
    unit = np.unique(scores[0].unit[inside], return_inverse=True)[1].astype(np.int64)
    blocks = [Block(s, _operator(side), inside) for s in scores]
    keys = [key for key, _ in numbers(blocks[0], axes)]
    tables = (np.array([values for _, values in numbers(block, axes)]).T for block in blocks)
    purpose = (NAME, scores[0].origin.corpus_fingerprint)
    differences = np.array([condition.startswith("excess") for *_, condition in keys])
    found = means(tables, unit, draws, *purpose, differences=differences)
    of_shares = shares_of_encoders((dict(yes_no(block)) for block in blocks), unit)
    pools = pools_of(scores)
    for block, estimates, shares in zip(blocks, found, of_shares, strict=True):
        pool = pools[block.scores.origin.encoder]
        applies = not block.scores.scalars["unit_norm"]
        of_means = {key: PooledShare(e, pooled=False) for key, e in zip(keys, estimates, strict=True)}
        for key, figure in {**shares, **of_means}.items():
            told = figure if applies else _comparable_only(key, figure)
            yield _row(block.scores, draws, key, _alone(key, told, block), side, axes, pool)
        yield from _spreads(block, unit, draws, side)


def _row(scores: ItemScores, draws: Draws, key: Key, share: PooledShare, side: str, axes: Axes, pool: str = "") -> Row:
    quantity, subset, measure, condition = key
    if side == "right":
        condition = f"right:{condition}".rstrip(":")
    more = {}
    if condition.endswith("grid"):
        grids = axes[subset.split(":")[0], measure]
        more["grid"] = bounds(grids[int(subset.endswith("vsA")) :][:1] if subset.startswith("c4") else grids)
    return share_row(scores, draws, quantity, subset, share, pool, condition, measure, **more)


def _alone(key: Key, share: PooledShare, block: Block) -> PooledShare:
    """Return the figure, with the reason where no other unit has a target to compare with."""
    estimate = share.estimate
    about_null = key[3].startswith(("null", "excess")) and estimate.value is None and estimate.undefined > 0
    if about_null and np.isnan(block.raw("cosine", "AN")).all() and not np.isnan(block.raw("cosine", "AT")).all():
        return replace(share, estimate=replace(estimate, reason=ALONE))
    return share


def _comparable_only(key: Key, share: PooledShare) -> PooledShare:
    """Return the figure, or say that it does not apply where all norms are 1."""
    if key[1] in ("c6:longer_a", "c6:longer_b", "c6:near_a", "c6:near_b"):
        return PooledShare(Estimate(None, None, None, 0, 0, 0, NOT_APPLICABLE), pooled=False)
    return share


def _spreads(block: Block, unit: NDArray[np.int64], draws: Draws, side: str) -> Iterator[Row]:
    """Yield the standard deviations of margins and positions over samples."""
    found: list[tuple[Key, Floats]] = []
    for criterion in margin_criteria(block.operator):
        names = ("vsB", "vsA") if criterion == "c4" else ("1", "2")
        for measure in MEASURES:
            margins = block.margins(criterion, measure)
            pairs = zip(names, margins, strict=True)
            found += [(("margin_sd", f"{criterion}:{name}", measure, ""), margin) for name, margin in pairs]
    criterion = {"overlap": "c2", "difference": "c5", "union": "c6"}[block.operator]
    found.append((("position_sd", criterion, "angle", ""), block.planar("position")))
    for key, values in found:
        defined = values[~np.isnan(values)]
        units = int(np.count_nonzero(np.bincount(unit[~np.isnan(values)])))
        value = float(defined.std(ddof=1)) if len(defined) > 1 else None
        reason = None if value is not None else "fewer than two samples are defined"
        estimate = Estimate(value, None, None, len(defined), units, len(values) - len(defined), reason)
        yield _row(block.scores, draws, key, PooledShare(estimate, pooled=False), side, {})


def _compared(
    scores: Sequence[ItemScores], sides: dict[str, NDArray[np.int64]], which: str, draws: Draws
) -> tuple[list[Comparison], tuple[PairedDifference, ...]]:
    """Compare the encoders on what each criterion gives beyond its null."""
    wanted = [HEADLINE]
    if which == "all":
        wanted += [("share", s, "cosine", "excess:eps0") for s in ("c3:TT", "c4:vsB", "c4:vsA")]
        wanted += [("share", s, "angle", "excess") for s in ("c2:between", "c5:within15", "c6:middle")]
    found, headline = list[Comparison](), tuple[PairedDifference, ...]()
    roles = roles_of(scores, all_pairs=which == "all")
    for key in wanted:
        values, unit = _of_figure(scores, sides, key)
        if not values:
            continue
        purpose = (NAME, scores[0].origin.corpus_fingerprint)
        differences = compare_means(values, unit, roles, draws, *purpose, of_shares=True)
        headline = differences if key == HEADLINE else headline
        found += comparisons(scores[0], key[0], key[1], differences, key[3], key[2])
    return found, headline


def _of_figure(
    scores: Sequence[ItemScores], sides: dict[str, NDArray[np.int64]], key: Key
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """Return the (m,) item values of a figure less its null by encoder, and the items' units."""
    side = {"c1": "overlap", "c2": "overlap", "c6": "union"}.get(key[1].split(":")[0], "difference")
    if side not in sides:
        return {}, np.zeros(0, dtype=np.int64)
    inside = sides[side]
    values = {s.origin.encoder: _excess(Block(s, side, inside), key) for s in scores}
    return values, np.unique(scores[0].unit[inside], return_inverse=True)[1].astype(np.int64)


def _excess(block: Block, key: Key) -> Floats:
    null = (*key[:3], "null:eps0" if key[3].endswith("eps0") else "null")
    observed = (*key[:3], "eps0" if key[3].endswith("eps0") else "")
    found: dict[Key, Floats] = {}
    for name, values in yes_no(block):
        if name in (observed, null):
            found[name] = values
        if len(found) == 2:
            break
    with np.errstate(invalid="ignore"):
        return found[observed] - found[null]


def _verdict(
    scores: Sequence[ItemScores],
    sides: dict[str, NDArray[np.int64]],
    differences: tuple[PairedDifference, ...],
    rows: Sequence[Row],
    draws: Draws,
) -> Verdict:
    notes = [_finding(s.origin.encoder, rows) for s in scores if not s.origin.baseline]
    values, unit = _of_figure(scores, sides, HEADLINE)
    if not values:
        return unranked(scores, ["Ranking needs overlaps: C1 is what encoders are ranked by", *filter(None, notes)])
    purpose = (NAME, scores[0].origin.corpus_fingerprint)
    tables = [np.stack(list(values.values()), axis=1)]
    estimates = means(tables, unit, draws, *purpose, differences=np.full(len(values), True))[0]
    headline = {name: (v, estimate) for (name, v), estimate in zip(values.items(), estimates, strict=True)}
    quantity, subset, _, condition = HEADLINE
    standings = rank_means(candidates_of(scores, values), unit, draws, *purpose, wrong=None)
    return verdict(
        scores,
        headline,
        quantity,
        differences,
        standings,
        unit=unit,
        subset=subset,
        condition=condition,
        leader="Highest",
        notes=filter(None, notes),
    )


def _finding(encoder: str, rows: Sequence[Row]) -> str:
    """Say in one sentence what holds for an encoder beyond its null, and what does not."""
    claims = {
        "C1 (overlap nearer to both than they are)": ("c1:TT", "excess:eps0"),
        "C2 (overlap between them)": ("c2:between", "excess"),
        "C3 (difference nearer to A)": ("c3:TT", "excess:eps0"),
        "C4 (A − B nearer to it than to B)": ("c4:vsB", "excess:eps0"),
        "C5 (difference near A)": ("c5:within15", "excess"),
        "C6 (union in the middle)": ("c6:middle", "excess"),
    }
    above, not_above = list[str](), list[str]()
    for name, (subset, condition) in claims.items():
        measure = "cosine" if condition == "excess:eps0" else "angle"
        found = [
            r for r in rows if (r.encoder, r.subset, r.measure, r.condition) == (encoder, subset, measure, condition)
        ]
        if found and found[0].low is not None:
            (above if found[0].low > 0 else not_above).append(name)
    if not above and not not_above:
        return ""
    told = f"{encoder} is above chance on {', '.join(above)}" if above else f"{encoder} is above chance on no criterion"
    return told + (f"; not on {', '.join(not_above)}" if not_above and above else "")


def _examples(scores: Sequence[ItemScores], sides: dict[str, NDArray[np.int64]]) -> Iterator[Example]:
    """Show overlaps that are farther from A and from B than these are from each other, for all encoders."""
    if "overlap" not in sides:
        return
    blocks = [Block(s, "overlap", sides["overlap"]) for s in scores]
    with np.errstate(invalid="ignore"):
        worst = np.max([np.maximum(*b.margins("c1", "cosine")) for b in blocks], axis=0)
    failed = np.flatnonzero(worst < 0)
    taken = set[int]()
    for place in failed[np.argsort(worst[failed], kind="stable")].tolist():
        index = int(sides["overlap"][place])
        if int(scores[0].unit[index]) in taken or len(taken) == SHOWN:
            continue
        taken.add(int(scores[0].unit[index]))
        for block in blocks:
            raw = {"a": "AT", "b": "BT", "overlap": "AB"}
            values = {field: float(block.raw("cosine", name)[place]) for field, name in raw.items()}
            origin = block.scores.origin
            yield Example(NAME, origin.corpus, origin.encoder, str(block.scores.item[index]), "c1 fails", {}, values)
