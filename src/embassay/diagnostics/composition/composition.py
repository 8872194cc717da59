"""Do overlap, difference and union of sentences behave like sets?

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings". A sample is two
sentences A and B and what a set operation makes of them: the overlap O, the difference D (what A says and B does not)
or the union U. There are six criteria (:mod:`embassay.diagnostics.composition.criteria`): C1, C3 and C4 compare
closenesses, C2, C5 and C6 look at the projection of the target on the plane of A and B
(:mod:`embassay.stats.geometry.plane`).

The paper names as a limit that its criteria were never shown to tell models apart. So each criterion is shown beside
its null: its value by chance, when targets of other units replace the sample's own, averaged over 20 draws (fewer
above 20,000 samples, see :func:`draws_needed`). Encoders are compared by the excess, the observed value less its null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from embassay.core.claims import COUNT, INTERVAL, LIMIT, Template
from embassay.core.errors import SpecError
from embassay.core.layout import Layout
from embassay.core.metric_key import MetricKey
from embassay.core.result import MIN_UNITS, Estimate, Example, Finding, Result, Row
from embassay.core.samples.composition import Composition as Sample
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.composition.classes import class_series
from embassay.diagnostics.composition.criteria import (
    LIMITS,
    NEAR_A,
    PLANAR,
    PLANE_CRITERION,
    RAW,
    Axes,
    OperatorView,
    axes_of,
    bounds,
    criterion_of,
    main_claim,
    margin_criteria,
    margin_names,
    near_written,
    numbers,
    satisfied,
    smaller_margin,
    stretches,
    yes_no,
)
from embassay.diagnostics.composition.layout import page, series
from embassay.diagnostics.composition.metrics import ABOVE_NULL, HEADLINE, METRICS, blocks_of
from embassay.diagnostics.composition.nulls import other_targets
from embassay.diagnostics.composition.ratings import rating_matrix, rating_rows, rating_series
from embassay.diagnostics.composition.scores import all_unit, measured, null_measured
from embassay.diagnostics.findings import written
from embassay.diagnostics.metrics.metric import Meaning, with_options
from embassay.diagnostics.metrics.scoreboard import (
    View,
    item_example,
    of_requested,
    pool_of,
    roles_of,
    stream_of,
)
from embassay.diagnostics.metrics.summary import Figures, row
from embassay.stats.geometry.closeness import MEASURES
from embassay.stats.labels import Labels
from embassay.stats.resample import means
from embassay.stats.shares import bounded_means
from embassay.stats.units import Floats, Ints, ratio_variance, unit_codes

CITATION = """@misc{bansal2025,
  author = {Bansal, Naman and Mahajan, Yash and Sinha, Sanjeev and Karmaker, Santu},
  title = {Set-Theoretic Compositionality of Sentence Embeddings},
  year = {2025},
  eprint = {2502.20975},
  archivePrefix = {arXiv},
  doi = {10.48550/arXiv.2502.20975}
}"""
NAME = "composition"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
CLAIMS = {claim: key for key, claim in ABOVE_NULL.items() if key.subset != "c4:vsA"}
"""What the finding of an encoder reports, by the words for it: the criteria of the paper."""
MEANING = Meaning("overlap above wrong target", "samples")
DRAWS = 20
"""Draws of other units' targets: one alone moves the excess by as much as its standard error."""
MANY = 20_000
"""Above this number of samples fewer draws may suffice."""
PILOT = 2
"""Draws from which the number of draws is estimated."""
TENTH = 0.1
"""The null's own error, as a share of the observed share's standard error, above ``MANY`` samples."""
KEPT = 1_000_000
"""Samples times draws that are kept in memory, at most, above ``MANY`` samples."""
ALONE = "no other unit has a target to compare with"
STRETCHED = 2
"""An encoder sets a grid of tolerances if it is at least this many times as long as without it."""

NOT_RANKED = Template(
    "Encoders are not ranked: they are ranked by C1, which needs overlaps.",
    "the corpus has no overlaps",
    LIMIT,
    title="Not ranked",
    severity="medium",
)
COMBINE = Template(
    "{encoder} satisfies {above} more often than with a wrong target{rest}.",
    "the interval of the excess of one criterion or more lies above 0; each criterion has its own interval",
    INTERVAL,
    title="Sentences combine like sets{in_part}",
    kind="headline",
    question="Like sets?",
)
NOT_SHOWN_TO_COMBINE = Template(
    "{encoder} is not shown to satisfy any criterion more often than with a wrong target.",
    "no interval of an excess lies above 0",
    INTERVAL,
    "not shown",
    title="Sentences are not shown to combine like sets",
    kind="headline",
    question="Like sets?",
    severity="medium",
    consequence="The mean or the difference of two vectors need not stand for what the texts share or not.",
)
ONE_SETS_THE_GRID = Template(
    "{encoder} makes the grid of tolerances up to {times:,.0f} times as long as the other encoders do ({measures}).",
    f"it makes the grid {STRETCHED} times as long or more",
    COUNT,
    title="One encoder sets the grid of tolerances",
    severity="medium",
    consequence="On such a grid the others differ little. Compare them at ε = 0, or in a run without it.",
)
NOT_APPLICABLE = "not applicable: all norms are 1"
BLOCK_LABELS = {"right": "difference, mirrored"}
"""What a block of samples is called, where that is not its name."""
NEEDS_NORMS = ("c6:longer_a", "c6:longer_b", "c6:near_a", "c6:near_b")
"""The subsets about samples in which one norm is longer."""


def create(
    *,
    compare: Literal["headline", "all"] = "headline",
    null_seed: int = 0,
    between: float = LIMITS["between"],
    near: float = LIMITS["near"],
    comparable: float = LIMITS["comparable"],
) -> CompositionDiagnostic:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which metrics are compared pair by pair, each less its null: ``headline`` (C1, both conditions at ε = 0)
        or ``all`` (also C2, C3, C4 against B and against A, C5 and C6).
    null_seed
        Of the draws of other units' targets; 0 or more.
    between
        C2: by how many degrees the angles of the overlap to A and to B may miss the angle between A and B.
    near
        C5, C6: the largest angle, in degrees, at which a projection is near a vector.
    comparable
        C6: the norms of A and B are comparable where their ratio is within 1 ± this.

    Raises
    ------
    SpecError
        For a number out of range.
    """
    if null_seed < 0:
        raise SpecError(f"null_seed must be 0 or more, is {null_seed}")
    for name, value, high in (("between", between, 180), ("near", near, 180), ("comparable", comparable, 1)):
        if not 0 < value <= high:
            raise SpecError(f"diagnostic {NAME!r}, option {name!r}: must be above 0, at most {high}, is {value:g}")
    return CompositionDiagnostic(compare, null_seed, between, near, comparable)


@dataclass(frozen=True)
class CompositionDiagnostic:
    """The diagnostic; see the module's documentation.

    Attributes
    ----------
    between, near, comparable
        See ``LIMITS``.
    many, kept
        See ``MANY`` and ``KEPT``.
    """

    compare: str = "headline"
    null_seed: int = 0
    between: float = LIMITS["between"]
    near: float = LIMITS["near"]
    comparable: float = LIMITS["comparable"]
    shape: str = "composition"
    many: int = MANY
    kept: int = KEPT

    @property
    def options(self) -> str:
        """The seed of the null and the limits, where they are not the defaults."""
        seed = {"null_seed": self.null_seed} if self.null_seed else {}
        return ",".join(f"{name}={value:g}" for name, value in {**seed, **self.limits}.items())

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are not those of the paper, by name."""
        return {name: getattr(self, name) for name in LIMITS if getattr(self, name) != LIMITS[name]}

    def score(self, corpus: Corpus[Sample], vectors: Vectors, origin: Origin) -> ItemScores:
        """Measure each sample, with its own target and with those of other samples (the null).

        Returns
        -------
        ItemScores
            Values by name: each of the five measures (n, 6) with columns ``RAW``, ``plane`` (n, 6) with columns
            ``PLANAR``, ``ratings``, and those of the null, (n, draws) each, see :func:`null_name`. A sample that a
            value does not apply to has NaN.
        """
        samples = corpus.samples
        values = measured(samples, vectors)
        scores = ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={
                "operator": np.array([s.operator for s in samples]),
                "side": np.array(["right" if s.mirrored else "" for s in samples]),
            },
            values={**values, "ratings": rating_matrix([s.ratings for s in samples])},
            scalars={"unit_norm": float(all_unit(samples, vectors)), **self.limits},
        )
        if len(samples) <= self.many:
            null = self._null(scores, corpus, vectors, range(DRAWS))
            return replace(scores, values={**scores.values, **null})

        # With many samples all draws would not fit into memory, and fewer are enough. Two draws estimate how many.
        null = self._null(scores, corpus, vectors, range(PILOT))
        number = draws_needed(replace(scores, values={**scores.values, **null}), self.kept)
        if number > PILOT:
            more = self._null(scores, corpus, vectors, range(PILOT, number))
            null = {name: np.concatenate([null[name], more[name]], axis=1) for name in null}
        return replace(scores, values={**scores.values, **null})

    def _null(self, scores: ItemScores, corpus: Corpus[Sample], vectors: Vectors, draws: range) -> dict[str, Floats]:
        """Return the measures and projections with targets of other units, (n, draws) each, by name.

        Parameters
        ----------
        draws
            The numbers of the draws: draw 5 has the same targets whichever draws are made with it.
        """
        samples = corpus.samples
        targets = [s.target for s in samples]
        # The differences of both directions are two groups: a target replaces one of its own direction only.
        group = np.char.add(scores.labels["operator"], scores.labels["side"])
        purpose = corpus.fingerprint
        null = other_targets(targets, corpus.units, group, self.null_seed, purpose, draws=draws)
        angle = scores.values["plane"][:, PLANAR.index("angle")]
        return null_measured(samples, null, vectors, angle)

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: criteria, nulls, margins, and which differences are shown."""
        requested = of_requested(scores)
        # Made once, because each part computes a digest of its arrays, which are large.
        parts = [s.part(*(name for name in s.values if name != "ratings")) for s in scores]
        blocks = blocks_of(scores[0])
        # The paper has ratings of the differences A − B only.
        rated = {name: block for name, block in blocks.items() if name != "right"}
        rows = list[Row]()
        for name, items in blocks.items():
            rows += _rows(parts, requested, name, items, draws)
        rows += rating_rows(scores[0], draws, rated)

        summary = self.figures(scores).summarise(draws, on_request=self.compare == "all", rows=rows)
        return summary.result(
            series=(
                *series(NAME, scores, blocks),
                *class_series([s.origin for s in requested], rows, page(near_written(scores[0])).headline.columns),
                *rating_series(scores[0], rated),
            ),
            findings=_findings(scores, blocks, rows),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[View]:
        """Return the declared metrics of all encoders."""
        return Figures.of(View, scores, with_options(METRICS, NEAR=near_written(scores[0])))

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return whether each sample satisfies C1, C3 or C6, by its operator; subsets are operators."""
        requested = of_requested(scores)
        samples = len(scores[0].item)
        subset = np.full(samples, "", dtype="U32")
        correct = np.full((len(requested), samples), np.nan)
        for block, items in blocks_of(scores[0]).items():
            operator = operator_of(block)
            subset[items] = BLOCK_LABELS.get(block, block)
            for place, encoder_scores in enumerate(requested):
                correct[place, items] = satisfied(OperatorView(encoder_scores, operator, items))
        return Outcomes(subset, correct)

    def examples(self, corpus: Corpus[Sample], scores: Sequence[ItemScores], items: Ints) -> Iterator[Example]:
        """Yield each sample with the cosines between A, B and the target, and whether they satisfy its criterion."""
        correct = np.empty((len(scores), len(scores[0].item)))
        margin = np.empty_like(correct)
        for block, members in blocks_of(scores[0]).items():
            for place, encoder_scores in enumerate(scores):
                view = OperatorView(encoder_scores, operator_of(block), members)
                correct[place, members] = satisfied(view)
                margin[place, members] = smaller_margin(view)
        subsets = self.outcomes(scores).subset
        for index in items.tolist():
            subset = str(subsets[index])
            texts = corpus.shown(str(scores[0].item[index]))
            yield item_example(scores[0], index, texts, subset)
            for place, encoder_scores in enumerate(scores):
                cosine_of_pair = dict(zip(RAW, encoder_scores.values["cosine"][index], strict=True))
                yield View(encoder_scores).outcome(
                    index,
                    {"a": cosine_of_pair["AT"], "b": cosine_of_pair["BT"], "ab": cosine_of_pair["AB"]},
                    correct=correct[place, index],
                    margin=margin[place, index],
                    subset=subset,
                )


def draws_needed(scores: ItemScores, kept: int = KEPT) -> int:
    """Return how many draws keep the null's own error under a tenth of the observed share's standard error.

    Let v be the mean over samples of the variance of a claim between draws. The mean over n samples and D draws has the
    variance v/(n·D). It is (SE/10)² for D = v/(n·(SE/10)²), with SE the standard error of the observed share. The
    operator that needs most draws decides.

    Parameters
    ----------
    scores
        With the first draws of the null.
    kept
        Samples times draws, at most.

    Returns
    -------
    At least ``PILOT`` and at most ``DRAWS``.
    """
    needed = 0.0
    for name, items in blocks_of(scores).items():
        view = OperatorView(scores, operator_of(name), items)
        observed, drawn = main_claim(view), main_claim(view, null=True)
        defined = ~(np.isnan(observed) | np.isnan(drawn).any(axis=0))
        unit = unit_codes(scores.unit[items][defined])
        if len(np.unique(unit)) < MIN_UNITS:
            continue
        variance_between_draws = float(drawn[:, defined].var(axis=0, ddof=1).mean())
        if variance_between_draws == 0:
            continue
        largest_variance = ratio_variance(observed[defined], unit) * TENTH**2
        if largest_variance == 0:
            # The observed share has no error, so no number of draws keeps the null's below a tenth of it.
            needed = np.inf
        else:
            needed = max(needed, variance_between_draws / int(defined.sum()) / largest_variance)
    most = min(DRAWS, kept // len(scores.item))
    return int(max(PILOT, min(most, np.ceil(needed))))


def layout(result: Result) -> Layout:
    """Return the page, with the angle of C5 that the result was made with."""
    # The options are not stored in a result.
    before = NEAR_A.partition("{")[0]
    angles = [row.subset.removeprefix(before) for row in result.rows if row.subset.startswith(before)]
    return page(angles[0] if angles else f"{LIMITS['near']:g}")


def operator_of(block: str) -> str:
    """Return the operator of a block's samples."""
    if block == "right":
        return "difference"
    return block


def _rows(
    parts: Sequence[ItemScores], requested: Sequence[ItemScores], block: str, items: Ints, draws: Draws
) -> Iterator[Row]:
    """Yield the figures of one block for all encoders, all with the same resamples.

    Parameters
    ----------
    parts
        The scores of all encoders, without ratings.
    requested
        The encoders whose margins the grid of tolerances spans.
    """
    operator = operator_of(block)
    views = [OperatorView(s, operator, items) for s in parts]
    spanning = [OperatorView(s, operator, items) for s in requested]
    axes: Axes = {}
    for criterion in margin_criteria(operator):
        for measure in MEASURES:
            axes[criterion, measure] = axes_of(criterion, measure, spanning)

    labels = Labels.of(parts[0].unit, parts[0].unit_labels).of_items(items)
    unit = labels.label_set
    # Every encoder has the same metrics in the same order.
    keys = [key for key, _ in numbers(views[0], axes)]
    # An excess is a share less its null: it lies in [−1, 1].
    is_difference = np.array([key.condition.startswith("excess") for key in keys])
    # Transposed, not stacked along axis 1: columns are then contiguous, which the sums over units read one by one.
    tables = (np.array([values for _, values in numbers(view, axes)]).T for view in views)
    estimates = means(tables, unit, draws, *stream_of(parts[0]), differences=is_difference)
    shares = _shares(views, labels, roles_of(parts).base_systems)
    pool = pool_of(parts) if labels.partners else ""
    for view, means_of_encoder in zip(views, estimates, strict=True):
        for key, share in shares[view.encoder].items():
            yield _row(view, draws, key, _with_reason(view, key, share), block, axes, pool)
        # The limits of a mean do not depend on other encoders.
        for key, mean in zip(keys, means_of_encoder, strict=True):
            yield _row(view, draws, key, _with_reason(view, key, mean), block, axes)
        for key, estimate in _standard_deviations(view, unit):
            yield _row(view, draws, key, estimate, block, axes)


def _shares(
    views: Sequence[OperatorView], labels: Labels, base_systems: Sequence[str]
) -> dict[str, dict[MetricKey, Estimate]]:
    """Return the shares of each encoder."""
    values = {view.encoder: dict(yes_no(view)) for view in views}
    keys = dict.fromkeys(key for of_encoder in values.values() for key in of_encoder)
    shares: dict[str, dict[MetricKey, Estimate]] = {encoder: {} for encoder in values}
    for key in keys:
        of_key = {encoder: of_encoder[key] for encoder, of_encoder in values.items() if key in of_encoder}
        for encoder, estimate in bounded_means(of_key, labels, base_systems, of_shares=True).items():
            shares[encoder][key] = estimate
    return shares


def _row(
    view: OperatorView, draws: Draws, key: MetricKey, estimate: Estimate, block: str, axes: Axes, pool: str = ""
) -> Row:
    """Return the row of a figure; the signature of a figure over the grid of tolerances has the grid's ends.

    Parameters
    ----------
    block
        The block of samples, by its name in :func:`blocks_of`; with ``right`` the condition begins with it.
    axes
        The grids of the operator's criteria.
    pool
        What the limits depend on besides; see :func:`~embassay.diagnostics.metrics.scoreboard.pool_of`.
    """
    condition = key.condition
    if block == "right":
        condition = f"right:{condition}".rstrip(":")
    signed = {"pool": pool} if pool else {}
    if condition.endswith("grid"):
        criterion = criterion_of(key)
        grids = axes[criterion, key.similarity_function]
        if criterion == "c4":
            # The two margins of c4 are two figures, each over its own axis.
            against_b, against_a = grids
            grids = (against_b,)
            if key.subset == "c4:vsA":
                grids = (against_a,)
        signed["grid"] = bounds(grids)
    return row(view.scores, draws, key.metric, key.subset, estimate, condition, key.similarity_function, **signed)


def _with_reason(view: OperatorView, key: MetricKey, estimate: Estimate) -> Estimate:
    """Return the figure, with the reason where it does not apply or where there is no null."""
    # Subsets such as "A is longer than B" do not exist where all vectors have length 1.
    if key.subset in NEEDS_NORMS and view.scores.scalars["unit_norm"]:
        return Estimate(None, None, None, 0, 0, 0, NOT_APPLICABLE)
    about_null = key.condition.startswith(("null", "excess"))
    if about_null and estimate.value is None and estimate.undefined > 0:
        # The null needs targets of other units.
        no_null = np.isnan(view.raw("cosine", "AN")).all()
        has_targets = not np.isnan(view.raw("cosine", "AT")).all()
        if no_null and has_targets:
            return replace(estimate, reason=ALONE)
    return estimate


def _standard_deviations(view: OperatorView, unit: Ints) -> Iterator[tuple[MetricKey, Estimate]]:
    """Yield the standard deviations of margins and positions over samples; without intervals."""
    figures = dict[MetricKey, Floats]()
    for criterion in margin_criteria(view.operator):
        for measure in MEASURES:
            margins = view.margins(criterion, measure)
            for name, margin in zip(margin_names(criterion), margins, strict=True):
                figures[MetricKey("margin_sd", name, measure, "")] = margin
    position = MetricKey("position_sd", PLANE_CRITERION[view.operator], "angle", "")
    figures[position] = view.planar("position")
    for key, values in figures.items():
        defined = values[~np.isnan(values)]
        units = len(np.unique(unit[~np.isnan(values)]))
        undefined = len(values) - len(defined)
        if len(defined) > 1:
            value = float(defined.std(ddof=1))
            yield key, Estimate(value, None, None, len(defined), units, undefined)
        else:
            reason = "fewer than two samples are defined"
            yield key, Estimate(None, None, None, len(defined), units, undefined, reason)


def _findings(scores: Sequence[ItemScores], blocks: Mapping[str, Ints], rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield for each encoder that was asked for which criteria are above their null, and whether it sets the grid."""
    if "overlap" not in blocks:
        yield NOT_RANKED.finding(scores[0].origin)
    for s in scores:
        if not s.origin.baseline:
            yield from _claims(s, rows)
    yield from _stretched_grids(scores, blocks)


@dataclass
class _Claims:
    """The claims about an encoder in words: those above their null, in part above it, and not shown to be.

    Attributes
    ----------
    short
        The names of the criteria that are above their null, and where.
    """

    above: list[str] = field(default_factory=list)
    in_part: list[str] = field(default_factory=list)
    not_above: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)

    def add(self, words: str, at_zero: Row, on_grid: Row) -> None:
        """Add a claim by its excess over the null at ε = 0, and averaged over the grid of tolerances."""
        criterion = words.split()[0]
        if _is_above_null(at_zero) and _is_above_null(on_grid):
            self.above.append(words)
            self.short.append(criterion)
        elif _is_above_null(at_zero):
            excess_on_grid = written(on_grid, "points")
            self.in_part.append(f"{words} at ε = 0, not shown on the paper's grid of tolerances ({excess_on_grid})")
            self.short.append(f"{criterion} at ε = 0")
        elif _is_above_null(on_grid):
            excess_at_zero = written(at_zero, "points")
            self.in_part.append(f"{words} on the paper's grid of tolerances, not shown at ε = 0 ({excess_at_zero})")
            self.short.append(f"{criterion} on the grid")
        else:
            self.not_above.append(words)


def _is_above_null(excess: Row) -> bool:
    """Return whether the interval of an excess over the null lies above 0."""
    return excess.low is not None and excess.low > 0


def _claims(scores: ItemScores, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield which criteria an encoder satisfies more often than with a wrong target; nothing without an interval.

    A criterion about margins has two answers, at ε = 0 and averaged over the paper's grid of tolerances. Where they
    differ, the finding says both.
    """
    encoder = scores.origin.encoder
    row_of = {row.key.within_diagnostic: row for row in rows if row.encoder == encoder}
    claims, near = _Claims(), near_written(scores)
    for words, key in sorted(CLAIMS.items()):
        key = replace(key, subset=key.subset.format(NEAR=near))
        row = row_of.get(key)
        if row is not None and row.low is not None:
            # The criteria about the plane have no tolerance, and so no grid.
            claims.add(words, row, row_of.get(replace(key, condition="excess:grid"), row))
    of_headline = row_of.get(HEADLINE)
    if claims.short:
        rest = claims.in_part
        if claims.not_above:
            rest = [*rest, f"this is not shown for {', '.join(claims.not_above)}"]
        in_part = f", in part ({', '.join(claims.short)})" if rest else ""
        yield COMBINE.finding(
            of_headline or scores.origin,
            style="points",
            encoder=encoder,
            above=", ".join(claims.above) or "some criteria in part",
            rest="".join(f"; {part}" for part in rest),
            in_part=in_part,
        )
    elif claims.not_above:
        yield NOT_SHOWN_TO_COMBINE.finding(of_headline or scores.origin, style="points", encoder=encoder)


def _stretched_grids(scores: Sequence[ItemScores], blocks: Mapping[str, Ints]) -> Iterator[Finding]:
    """Yield for each encoder whether it alone makes a grid of tolerances at least ``STRETCHED`` times as long."""
    requested = [s for s in scores if not s.origin.baseline]
    stretch_of = dict[tuple[int, str], float]()
    for block, items in blocks.items():
        operator = operator_of(block)
        views = [OperatorView(s, operator, items) for s in requested]
        for criterion in margin_criteria(operator):
            for measure in MEASURES:
                for place, stretch in enumerate(stretches(criterion, measure, views)):
                    stretch_of[place, measure] = max(stretch, stretch_of.get((place, measure), 0.0))
    for place, s in enumerate(requested):
        measures = [measure for measure in MEASURES if stretch_of.get((place, measure), 0.0) >= STRETCHED]
        if not measures:
            continue
        times = max(stretch_of[place, measure] for measure in measures)
        yield ONE_SETS_THE_GRID.finding(s.origin, encoder=s.origin.encoder, times=times, measures=", ".join(measures))
