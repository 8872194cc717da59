"""Do overlap, difference and union of sentences behave like sets?

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings". A sample is two
sentences A and B and what a set operation makes of them: the overlap O, the difference D (what A says and B does not)
or the union U. Six criteria: C1, C3 and C4 compare closenesses (``_set_criteria``), C2, C5 and C6 look at the
projection of the target on the plane of A and B (:mod:`embassay.geometry.plane`).

Beside each criterion stands what it gives by chance, with the target of another unit in the place of the sample's own:
the paper names as a limit that its criteria were never shown to tell models apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics import _composition_page
from embassay.diagnostics._composition_page import series
from embassay.diagnostics._composition_scores import all_unit, measured
from embassay.diagnostics._nulls import other_targets
from embassay.diagnostics._ratings import matrix, rating_rows
from embassay.diagnostics._rows import comparisons, row, unranked, verdict
from embassay.diagnostics._set_criteria import (
    Axes,
    Block,
    Key,
    axes_of,
    bounds,
    margin_criteria,
    numbers,
    yes_no,
)
from embassay.errors import SpecError
from embassay.geometry.closeness import MEASURES
from embassay.result import Comparison, Estimate, Example, Result, Row, Verdict
from embassay.samples import Composition as Sample
from embassay.stats.compare import Difference
from embassay.stats.compare import compare as compare_pairs
from embassay.stats.resample import means
from embassay.stats.shares import shares
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "composition"
HEADLINE = ("share", "c1:TT", "cosine", "excess:eps0")
LAYOUT = _composition_page.LAYOUT
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
        Of the draw of other units' targets; 0 or more.

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
        null = other_targets([s.target for s in samples], corpus.units, kind, self.null_seed, corpus.fingerprint)
        values = measured(samples, null, vectors)
        return ItemScores(
            origin,
            measure="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"operator": operator, "side": side},
            values={**values, "ratings": matrix([s.ratings for s in samples])},
            scalars={"unit_norm": float(all_unit(samples, vectors))},
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: criteria, nulls, margins, and which differences are real."""
        asked = [s for s in scores if not s.origin.baseline] or list(scores)
        # Their digests are worked out once: these are large.
        parts = [s.part(*MEASURES, "plane", "null_plane") for s in scores]
        rows, axes = list[Row](), dict[str, Axes]()
        for name, inside in _sides(scores[0]).items():
            axes[name] = _axes(asked, name, inside)
            rows += _rows(parts, name, inside, axes[name], draws)
        own = _sides(scores[0])
        rated = {name: inside for name, inside in own.items() if name != "right"}
        rows += rating_rows(scores[0], draws, rated, scores[0].origin.corpus_fingerprint)
        found, differences = _compared(scores, own, self.compare, draws)
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(found),
            series=tuple(series(NAME, scores, own)),
            examples=tuple(_examples(asked, own)),
            verdicts=(_verdict(scores, own, differences, rows, draws),),
        )


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
    purpose = (NAME, scores[0].origin.corpus_fingerprint, side)
    differences = np.array([condition.startswith("excess") for *_, condition in keys])
    found = means(tables, unit, draws, *purpose, differences=differences)
    for block, estimates in zip(blocks, found, strict=True):
        of_means = dict(zip(keys, estimates, strict=True))
        answers = dict(yes_no(block))
        of_shares = dict(zip(answers, shares(np.array(list(answers.values())).T, unit), strict=True))
        applies = not block.scores.scalars["unit_norm"]
        for key, estimate in {**of_shares, **of_means}.items():
            told = estimate if applies else _comparable_only(key, estimate)
            yield _row(block.scores, draws, key, _alone(key, told, block), side, axes)
        yield from _spreads(block, unit, draws, side)


def _row(scores: ItemScores, draws: Draws, key: Key, estimate: Estimate, side: str, axes: Axes) -> Row:
    quantity, subset, measure, condition = key
    if side == "right":
        condition = f"right:{condition}".rstrip(":")
    more = {}
    if condition.endswith("grid"):
        grids = axes[subset.split(":")[0], measure]
        more["grid"] = bounds(grids[int(subset.endswith("vsA")) :][:1] if subset.startswith("c4") else grids)
    return row(scores, draws, quantity, subset, estimate, condition, measure, **more)


def _alone(key: Key, estimate: Estimate, block: Block) -> Estimate:
    """Return the estimate, with the reason where no other unit has a target to compare with."""
    about_null = key[3].startswith(("null", "excess")) and estimate.value is None and estimate.undefined > 0
    if about_null and np.isnan(block.raw("cosine", "AN")).all() and not np.isnan(block.raw("cosine", "AT")).all():
        return replace(estimate, reason=ALONE)
    return estimate


def _comparable_only(key: Key, estimate: Estimate) -> Estimate:
    """Return the estimate, or say that it does not apply where all norms are 1."""
    if key[1] in ("c6:longer_a", "c6:longer_b", "c6:near_a", "c6:near_b"):
        return Estimate(None, None, None, 0, 0, 0, NOT_APPLICABLE)
    return estimate


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
        yield _row(block.scores, draws, key, estimate, side, {})


def _compared(
    scores: Sequence[ItemScores], sides: dict[str, NDArray[np.int64]], which: str, draws: Draws
) -> tuple[list[Comparison], tuple[Difference, ...]]:
    """Compare the encoders on what each criterion gives beyond its null."""
    wanted = [HEADLINE]
    if which == "all":
        wanted += [("share", s, "cosine", "excess:eps0") for s in ("c3:TT", "c4:vsB", "c4:vsA")]
        wanted += [("share", s, "angle", "excess") for s in ("c2:between", "c5:within15", "c6:middle")]
    found, headline = list[Comparison](), tuple[Difference, ...]()
    for key in wanted:
        values, unit = _of_figure(scores, sides, key)
        if not values:
            continue
        purpose = (NAME, scores[0].origin.corpus_fingerprint, *key)
        differences = compare_pairs(values, unit, draws, *purpose, of_shares=True)
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
    differences: tuple[Difference, ...],
    rows: Sequence[Row],
    draws: Draws,
) -> Verdict:
    notes = [_finding(s.origin.encoder, rows) for s in scores if not s.origin.baseline]
    values, unit = _of_figure(scores, sides, HEADLINE)
    if not values:
        return unranked(scores, ["Ranking needs overlaps: C1 is what encoders are ranked by", *filter(None, notes)])
    purpose = (NAME, scores[0].origin.corpus_fingerprint, "overlap")
    tables = [np.stack(list(values.values()), axis=1)]
    estimates = means(tables, unit, draws, *purpose, differences=np.full(len(values), True))[0]
    headline = {name: (v, estimate) for (name, v), estimate in zip(values.items(), estimates, strict=True)}
    quantity, subset, _, condition = HEADLINE
    return verdict(
        scores,
        headline,
        quantity,
        differences,
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
