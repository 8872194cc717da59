"""Do overlap, difference and union of sentences behave like sets?

Bansal, Mahajan, Sinha & Karmaker (2025), "Set-Theoretic Compositionality of Sentence Embeddings". A sample is two
sentences A and B and what a set operation makes of them: the overlap O, the difference D (what A says and B does not)
or the union U. There are six criteria (:mod:`embassay.diagnostics.composition.criteria`): C1, C3 and C4 compare
closenesses, C2, C5 and C6 look at the projection of the target on the plane of A and B
(:mod:`embassay.stats.geometry.plane`).

The paper names as a limit that its criteria were never shown to tell models apart. So each criterion is shown beside
its null: its value by chance, when targets of other units replace the sample's own, averaged over 20 draws (fewer
above 50,000 samples). Encoders are compared by the excess, the observed value less its null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, zip_longest
from operator import itemgetter
from statistics import mean as mean_of
from statistics import stdev
from typing import Any

import numpy as np

from embassay.core.claims import INTERVAL, LIMIT, Template
from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    EncoderTable,
    ExampleColumn,
    Examples,
    Histograms,
    IntervalChart,
    Layout,
    SeriesTable,
)
from embassay.core.metric_key import MetricKey
from embassay.core.result import Estimate, Finding, Row, Series
from embassay.core.samples.shapes import LIKERT, OPERATORS
from embassay.core.samples.shapes import Composition as Sample
from embassay.core.types import Corpus, Draws
from embassay.core.vectors import Vectors
from embassay.diagnostics.composition.criteria import (
    CRITERION,
    MARGINS,
    TARGET,
    OperatorView,
    axes_of,
)
from embassay.diagnostics.composition.scores import measured, other_targets
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored
from embassay.diagnostics.metrics.metric import Direction, Meaning, Metric, declared
from embassay.diagnostics.metrics.summary import Figures, MetricSummary, row
from embassay.diagnostics.published import published, published_name, table
from embassay.stats.agreement import krippendorff
from embassay.stats.density import histogram
from embassay.stats.geometry.closeness import MEASURES, paired_dot
from embassay.stats.grid import CELLS
from embassay.stats.resample import mean, means, undefined_estimate
from embassay.stats.shares import bounded_means
from embassay.stats.units import Floats, Ints, unit_codes

CITATION = """@misc{bansal2025,
  author = {Bansal, Naman and Mahajan, Yash and Sinha, Sanjeev and Karmaker, Santu},
  title = {Set-Theoretic Compositionality of Sentence Embeddings},
  year = {2025},
  eprint = {2502.20975},
  archivePrefix = {arXiv},
  doi = {10.48550/arXiv.2502.20975}
}"""
NAME = "composition"
VERSION = 2
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("overlap above wrong target", "samples")
DRAWS, FEWEST = 20, 2
"""Draws of other units' targets, at most and at least: one alone moves the excess by as much as its standard error."""
KEPT = 1_000_000
"""Samples times draws that are kept in memory: about 150 MB."""
UNIT_NORM = 1e-4
"""Largest deviation from 1 of a norm that still counts as 1."""
RATIOS = (0.0, 2.0)
"""The ends of the histograms of ratios."""
BLOCKS = {"overlap": "overlap", "difference": "difference", "union": "union", "right": "difference, mirrored"}
"""The subset of each block of samples."""

NOT_APPLICABLE = "not applicable: all norms are 1"
NEEDS_NORMS = ("c6:longer_a", "c6:longer_b", "c6:near_a", "c6:near_b")
"""The subsets about samples in which one norm is longer."""
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


class SetView(ItemView):
    """One encoder's samples."""

    @cached_property
    def blocks(self) -> dict[str, OperatorView]:
        """The samples of each operator, and ``right``, the mirrored differences: what B says and A does not."""
        places = {name: np.flatnonzero(self.subset == subset) for name, subset in BLOCKS.items()}
        return {
            name: OperatorView(self.scores, BLOCKS[name].partition(",")[0], of_block)
            for name, of_block in places.items()
            if of_block.size
        }

    def of_block(self, block: str, key: MetricKey) -> Floats | None:
        """Return the (n,) values of a figure, ABSENT for samples of other blocks; None without the block."""
        if block not in self.blocks:
            return None
        return self.at(self.blocks[block].items, self.blocks[block].figures[key])

    @cached_property
    def right(self) -> Floats:
        """(n,) whether each sample satisfies C1, C3 or C6, by its operator."""
        right = self.undefined
        for block in self.blocks.values():
            right[block.items] = block.satisfied()
        return right

    @cached_property
    def margin(self) -> Floats:
        """(n,) the smaller of the two margins of C1 or C3 by cosine; NaN for unions."""
        margin = self.undefined
        for block in self.blocks.values():
            if block.operator != "union":
                margin[block.items] = np.minimum(*block.margins(CRITERION[block.operator], "cosine"))
        return margin

    def shown(self, index: int) -> Shown:
        """Return the cosines between A, B and the target."""
        pairs = {"a": "AT", "b": "BT", "ab": "AB"}
        return {name: self.scores.values[f"cosine/{pair}"][index] for name, pair in pairs.items()}, {}


# Metrics

CLAIMS = {
    "share[c1:TT]{cosine,excess:eps0}": "C1 (overlap nearer to both than they are)",
    "share[c3:TT]{cosine,excess:eps0}": "C3 (difference nearer to A)",
    "share[c4:vsB]{cosine,excess:eps0}": "C4 (A − B nearer to it than to B)",
    "share[c4:vsA]{cosine,excess:eps0}": "C4 against A (A − B nearer to it than to A)",
    "share[c2:between]{angle,excess}": "C2 (overlap between them)",
    "share[c5:within15]{angle,excess}": "C5 (difference near A)",
    "share[c6:middle]{angle,excess}": "C6 (union in the middle)",
}
ABOVE_NULL = {MetricKey.parse(key): claim for key, claim in CLAIMS.items()}
HEADLINE, *_ = ABOVE_NULL
"""The excesses over the null that encoders are compared on, by ``compare=all``, with the words for each claim."""
BLOCK_OF = {"c1": "overlap", "c2": "overlap", "c3": "difference", "c4": "difference", "c5": "difference", "c6": "union"}


def _above_null(key: MetricKey, claim: str) -> Metric:
    """Return the share of a block's samples that satisfy a criterion, less its null."""
    is_headline = key == HEADLINE
    return Metric(
        key.metric,
        key.subset,
        key.condition,
        kind="share",
        better="higher",
        meaning=f"share of samples that satisfy {claim}, minus that with targets of other units",
        of=partial(SetView.of_block, block=BLOCK_OF[key.subset[:2]], key=key),
        level="a wrong target",
        compared="on request",
        chance=0.0,
        low=-1.0,
        format="points",
        undefined_is_wrong=False,
        similarity_function=key.similarity_function,
        headline=is_headline,
        heading="C1 − wrong target" if is_headline else "",
        margin=0.02 if is_headline else None,
    )


def _share(subset: str, better: Direction, meaning: str) -> Iterator[Metric]:
    """Yield a share, whatever its tolerance and similarity function, and before it how far it is above its null."""
    share = partial(Metric, "share", subset, kind="computed", better=better, high=1.0)
    yield share("*excess*", low=-1.0, format="points", meaning=f"{meaning}, minus that with targets of other units")
    yield share("*", low=0.0, format="percent", meaning=meaning)


_neither = partial(Metric, condition="*", kind="computed", better="neither")
_share_of_one = partial(_neither, low=0.0, high=1.0, format="percent")
# What the other targets give describes the corpus and chance.
_null = partial(
    _neither, condition="*null*", meaning="the same with targets of other units: what the corpus alone gives"
)
# Ratings describe the corpus, not an encoder.
_of_corpus = partial(Metric, subset="*", kind="computed", better="neither")
METRICS = (
    *(_above_null(key, claim) for key, claim in ABOVE_NULL.items()),
    _null(
        "share",
        "*",
        format="percent",
        term="Null",
        explanation=(
            "The same share, computed with targets from other units. A share that does not exceed its null shows "
            "nothing about composition."
        ),
    ),
    _null("*", "*"),
    *_share("*:TT", "higher", "share of samples that satisfy both conditions of C1 or C3"),
    *_share("*:FF", "lower", "share of samples that satisfy neither condition of C1 or C3"),
    *_share("*:TF", "neither", "share of samples that satisfy the first condition of C1 or C3 only"),
    *_share("*:FT", "neither", "share of samples that satisfy the second condition of C1 or C3 only"),
    # The cases of C6 depend on the lengths of the vectors.
    _share_of_one("share", "c6:comparable", meaning="share of unions whose A and B are equally long"),
    _share_of_one("share", "c6:longer_*", meaning="share of unions with a longer A, or a longer B"),
    *_share("*", "higher", "share of samples that satisfy C2, C4, C5 or C6"),
    Metric(
        "margin",
        "*",
        "*",
        kind="computed",
        better="higher",
        compared="within one encoder",
        meaning="mean margin of a condition of C1, C3 or C4, in units of the similarity function; met from 0 on",
    ),
    _neither(
        "raw", "*", compared="within one encoder", meaning="mean closeness of a pair of A, B, the target and A − B"
    ),
    _neither("position", "*", meaning="mean position of the target's projection: 0 at A, 1 at B"),
    _share_of_one("in_plane", "*", meaning="how much of the target lies in the plane of A and B"),
    _of_corpus("rating", low=0.0, high=4.0, meaning="mean human rating of the targets"),
    _of_corpus("rating_median", low=0.0, high=4.0, meaning="median of all human ratings"),
    _of_corpus("agreement", high=1.0, meaning="Krippendorff's alpha of the ratings: 1 full agreement, 0 as by chance"),
)


@dataclass(frozen=True, kw_only=True)
class CompositionMethod(ItemMethod):
    """The diagnostic; see the module's documentation.

    Attributes
    ----------
    compare
        Which metrics are compared pair by pair, each less its null: ``headline`` (C1, both conditions at ε = 0)
        or ``all`` (also C2, C3, C4 against B and against A, C5 and C6).
    """

    shape = NAME
    view = SetView
    metrics = METRICS

    def values(self, corpus: Corpus[Sample], vectors: Vectors) -> Stored:
        """Measure each sample, with its own target and with those of other samples (the null).

        Returns
        -------
        See :func:`~embassay.diagnostics.composition.scores.measured`; beside it ``ratings``, (n, annotators), and what
        each sample is. A sample that a value does not apply to has NaN.
        """
        samples = corpus.samples
        operator = np.array([s.operator for s in samples])
        mirrored = np.array([s.mirrored for s in samples])
        # A target replaces one of the same direction only. All draws of many samples would not fit into memory, and
        # fewer are enough.
        others = other_targets(
            [s.target for s in samples],
            corpus.units,
            np.char.add(operator, np.where(mirrored, "right", "")),
            corpus.fingerprint,
            draws=range(min(max(KEPT // len(samples), FEWEST), DRAWS)),
        )
        sides = vectors.take(dict.fromkeys(text for s in samples for text in (s.a, s.b)))
        return {
            **measured(samples, others, vectors),
            "ratings": rating_matrix([s.ratings for s in samples]),
            "subset": np.char.add(operator, np.where(mirrored, ", mirrored", "")),
            "unit_norm": float(np.allclose(np.sqrt(paired_dot(sides, sides)), 1, rtol=0, atol=UNIT_NORM)),
        }

    def rows(self, figures: Figures[SetView], draws: Draws) -> list[Row]:
        """Return the figures of each block of samples, all encoders with the same resamples; and the ratings."""
        first = figures.views[0]
        rows = [row for name in first.blocks for row in block_rows(figures, name, draws)]
        return [*rows, *rating_rows(first, draws)]

    def series(self, figures: Figures[SetView], summary: MetricSummary) -> Iterator[Series]:
        """Yield the paper's histograms of angles (figures 4 and 6) and norms (10), classes, and ratings."""
        for operator in OPERATORS:
            blocks = [view.blocks[operator] for view in figures.views if operator in view.blocks]
            if not blocks:
                continue
            angles = {"A to projection": "from_a", "B to projection": "from_b"}
            yield _histogram(f"angles_{operator}", "angle / angle between A and B", blocks, angles, per="angle")
            if operator == "union":
                yield _histogram("norm_ratio", "‖A‖ / ‖B‖", blocks, {"samples": "norm_ratio"})
        yield from class_series(figures.requested, summary.rows)
        yield from rating_series(figures.views[0])

    def findings(self, figures: Figures[SetView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield which criteria each requested encoder satisfies more often than with a wrong target."""
        if "overlap" not in figures.views[0].blocks:
            yield NOT_RANKED.finding(figures.views[0].scores.origin)
        for view in figures.views:
            if not view.is_baseline:
                yield from _claims(view, summary.rows)


create = CompositionMethod


# Rows


def block_rows(figures: Figures[SetView], block: str, draws: Draws) -> Iterator[Row]:
    """Yield the figures of one block of samples for all encoders.

    The condition of mirrored differences begins with ``right``. The signature of a figure over the grid of tolerances
    has the ends of the block's grids.
    """
    first, axes = figures.views[0], axes_of([view.blocks[block] for view in figures.requested])
    values = {view.encoder: view.blocks[block].figures | view.blocks[block].on_grid(axes) for view in figures.views}
    estimates = {encoder: dict[MetricKey, Estimate]() for encoder in values}
    labels = figures.labels().of_items(first.blocks[block].items)
    keys = list(values[first.encoder])
    grid_keys = set(keys).difference(first.blocks[block].figures)
    # The excess over a null is a difference of two shares.
    excesses = {key for key in keys if declared(replace(key, diagnostic=NAME)).low == -1}
    # Averages over the grid are no yes and no.
    shares = [key for key in keys if key.metric == "share" and key not in excesses and key not in grid_keys]
    for key in shares:
        of_key = {encoder: of_encoder[key] for encoder, of_encoder in values.items()}
        for encoder, share in bounded_means(of_key, labels, figures.roles.base_systems, of_shares=True).items():
            estimates[encoder][key] = share
    others = [key for key in keys if key not in shares]
    differences = np.array([key in excesses for key in others])
    # One table at a time: those of all encoders together would take much memory.
    tables = (np.stack(itemgetter(*others)(of_encoder), axis=1) for of_encoder in values.values())
    of_encoders = means(tables, labels.label_set, draws, *first.stream, differences=differences)
    for encoder, of_encoder in zip(values, of_encoders, strict=True):
        estimates[encoder] |= zip(others, of_encoder, strict=True)

    grids = {"grid": ";".join(grid.ends for grid in chain.from_iterable(axes.values()))}
    for view in figures.views:
        for key, estimate in estimates[view.encoder].items():
            signed = figures.pool if key in shares else {}
            if key in grid_keys:
                signed = grids
            condition = f"right:{key.condition}".rstrip(":") if block == "right" else key.condition
            # Subsets such as "A is longer than B" do not exist where all vectors have length 1.
            if key.subset in NEEDS_NORMS and view.scores.scalars["unit_norm"]:
                estimate = undefined_estimate(0, NOT_APPLICABLE)
            yield row(
                view.scores, draws, key.metric, key.subset, estimate, condition, key.similarity_function, **signed
            )


# Ratings


def rating_matrix(ratings: Sequence[Sequence[float]]) -> Floats:
    """Return the (n, annotators) ratings, NaN where a sample has fewer; one column at least."""
    rows = list(zip_longest(*ratings, fillvalue=np.nan)) or [(np.nan,) * len(ratings)]
    return np.array(rows, dtype=np.float64).T


def _ratings(view: SetView) -> Iterator[tuple[str, Floats, Ints]]:
    """Yield the ratings of each block that has some, and the units of its samples; mirrored ones have none."""
    for name, block in view.blocks.items():
        ratings = view.scores.values["ratings"][block.items]
        rated = ~np.isnan(ratings).all(axis=1)
        if rated.any() and name != "right":
            yield name, ratings[rated], unit_codes(view.scores.unit[block.items][rated])


def rating_rows(view: SetView, draws: Draws) -> Iterator[Row]:
    """Yield mean, median and agreement of the ratings of each block that has some.

    ``rating`` is the mean over items of their annotators' mean, ``rating_median`` the median of all ratings,
    ``agreement`` Krippendorff's alpha for interval data. All are of the corpus, so no encoder is named.
    """
    of_corpus = view.scores.of_corpus("ratings")
    for name, ratings, unit in _ratings(view):
        alpha, compared = krippendorff(ratings), np.count_nonzero(~np.isnan(ratings), axis=1) > 1
        agreement = undefined_estimate(len(unit), "no item with two ratings, or all ratings equal")
        if not np.isnan(alpha):
            agreement = Estimate(alpha, None, None, int(compared.sum()), len(np.unique(unit[compared])))
        estimates = {
            "rating": mean(np.nanmean(ratings, axis=1), unit, draws, *view.stream),
            "rating_median": Estimate(float(np.nanmedian(ratings)), None, None, len(unit), len(np.unique(unit))),
            "agreement": agreement,
        }
        for metric, estimate in estimates.items():
            yield row(of_corpus, draws, metric, name, estimate, similarity_function="rating")


def rating_series(view: SetView) -> Iterator[Series]:
    """Yield how often each rating was given in each block (Bansal et al. 2025, figure 3).

    Every annotator's rating counts. Fractional ratings are rounded to the nearest whole number, halves upwards. Yields
    nothing if no item has a rating.
    """
    lines = list[list[object]]()
    for name, ratings, _unit in _ratings(view):
        whole = np.floor(ratings[~np.isnan(ratings)] + 0.5)
        for rating in range(round(LIKERT[1]) + 1):
            count = int((whole == rating).sum())
            lines.append([name, rating, count, count / len(whole)])
    if lines:
        columns = {"operator": "text", "rating": "count", "ratings given": "count", "share of ratings": "percent"}
        yield table(NAME, view.corpus, "ratings", columns, lines)


# Series


def _histogram(name: str, x: str, blocks: Sequence[OperatorView], lines: Mapping[str, str], per: str = "") -> Series:
    """Return histograms of fields of the plane, each divided by the field ``per`` if there is one."""
    panels = list[dict[str, object]]()
    for block in blocks:
        for line, field in lines.items():
            values = block.planar(field)
            if per:
                values = values / block.planar(per)
            edges, shares = histogram(values, *RATIOS)
            panels.append({"encoder": block.encoder, "line": line, "shares": shares.tolist()})
    return Series(NAME, blocks[0].corpus, name, "histogram", {"x": x, "edges": edges.tolist(), "panels": panels})


def class_series(views: Sequence[SetView], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield the figures of the encoders that the paper has, with mean and standard deviation of each class.

    Nothing if no encoder is in the paper; a spec with other options counts as another model. A mean is left empty if
    one of its encoders has no value, because it would be that of another class.
    """
    paper, columns = published(NAME), LAYOUT.headline.columns
    value_of = {(row.encoder, row.key.within_diagnostic): row.value for row in rows}
    lines = list[list[Any]]()
    for model_class, models in paper["groups"].items():
        members = [view.encoder for view in views if published_name(view.scores.origin) in models]
        values = list[list[float | None]]()
        for encoder in members:
            values.append([value_of.get((encoder, column.key)) for column in columns])
            lines.append([model_class, encoder, *values[-1]])
        of_columns = list(zip(*values, strict=True))
        for name, statistic in (("mean", mean_of), ("standard deviation", stdev)) if len(members) > 1 else ():
            of_class = [None if None in column else statistic(column) for column in of_columns]
            lines.append([model_class, f"{name} of {len(members)}", *of_class])
    if lines:
        headings = {"class": "text", "encoder": "text", columns[0].heading: "points"}
        headings |= {column.heading: "percent" for column in columns[1:]}
        yield table(NAME, views[0].corpus, "classes", headings, lines, note=paper["note"])


# Findings


def _claims(view: SetView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield which criteria an encoder satisfies more often than with a wrong target; nothing without an interval.

    A criterion about margins has two answers, at ε = 0 and averaged over the paper's grid of tolerances. Where they
    differ, the finding says both.
    """
    row_of = {row.key.within_diagnostic: row for row in rows if row.encoder == view.encoder}
    above, in_part, not_above, short = list[str](), list[str](), list[str](), list[str]()
    # The harder variant of C4 is not the paper's.
    claims = {words: key for key, words in ABOVE_NULL.items() if key.subset != "c4:vsA"}
    for words, key in sorted(claims.items()):
        at_zero = row_of.get(key)
        if at_zero is None or at_zero.low is None:
            continue
        # The criteria about the plane have no tolerance, and so no grid.
        on_grid = row_of.get(replace(key, condition="excess:grid"), at_zero)
        answers = {"at ε = 0": at_zero, "on the grid of tolerances": on_grid}
        shown = [where for where, row in answers.items() if (row.low or 0.0) > 0]
        criterion = words.split()[0]
        if not shown:
            not_above.append(words)
        elif len(shown) == len(answers):
            above.append(words)
            short.append(criterion)
        else:
            in_part.append(f"{words} {shown[0]} only")
            short.append(f"{criterion} {shown[0]}")
    if not_above:
        in_part.append(f"this is not shown for {', '.join(not_above)}")
    if short or not_above:
        template = COMBINE if short else NOT_SHOWN_TO_COMBINE
        yield template.finding(
            row_of.get(HEADLINE) or view.scores.origin,
            style="points",
            encoder=view.encoder,
            above=", ".join(above) or "some criteria in part",
            rest="".join(f"; {part}" for part in in_part),
            in_part=f", in part ({', '.join(short)})" if in_part else "",
        )


# Page


def _columns(keys: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns with these headings."""
    columns = []
    for heading, text in keys.items():
        key = MetricKey.parse(text)
        columns.append(Column(heading, key.metric, key.subset, key.condition, key.similarity_function))
    return tuple(columns)


def _cells(criterion: str, condition: str, title: str, note: str) -> EncoderTable:
    """Return the table of a criterion: each cell of its two conditions, and both of them under the null."""
    keys = {cell: f"share[{criterion}:{cell}]{{{condition}}}" for cell in CELLS}
    keys["TT, null"] = f"share[{criterion}:TT]{{null:{condition}}}"
    return EncoderTable(f"{criterion.upper()} {title}", _columns(keys), note, MEASURES)


_HEADLINE = METRICS[0].column
_CONDITIONS = {
    "c1": "Overlap O of A and B. First: O is nearer to A than B is; second: O is nearer to B than A is.",
    "c3": "Difference D = A − B. First: D is nearer to A than to B; second: A is nearer to B than D is.",
}
_NULL = "T holds, F does not. Null: the mean over 20 draws of targets from other units."
_GRID = (
    "Each axis runs from the smallest to the largest margin of all candidates, so a value depends on which encoders "
    "are compared; the signature names the ends of the grid."
)
LAYOUT = Layout(
    title="Set composition",
    question="Do overlap, difference and union of sentences behave like sets?",
    headline=EncoderTable(
        "Share of samples that satisfy each criterion",
        (
            _HEADLINE,
            *_columns(
                {
                    "C1": "share[c1:TT]{cosine,eps0}",
                    "C2": "share[c2:between]{angle,}",
                    "C3": "share[c3:TT]{cosine,eps0}",
                    "C4": "share[c4:vsB]{cosine,eps0}",
                    "C5": "share[c5:within15]{angle,}",
                    "C6": "share[c6:middle]{angle,}",
                }
            ),
        ),
        "C1: the overlap is nearer to A and to B than they are to each other (cosine, both, ε = 0); C1 − wrong target: "
        "minus the mean share with overlaps taken from other units. C2: its projection on the plane of A and B lies "
        "between them (within 1°). C3: the difference A − B is nearer to A than to B, and A is nearer to B than the "
        "difference is. C4: e(A) − e(B) is nearer to the difference than to B. C5: the difference's projection is "
        "within 15° of A. C6: the union's projection lies between A and B where their norms are comparable.",
    ),
    parts=(
        IntervalChart("C1 at ε = 0, less its null", _HEADLINE),
        ComparisonTable(
            "Which differences are shown",
            _HEADLINE,
            "Paired on the same samples, each minus its null; p by exchanging items that share labels, corrected "
            "within each family.",
        ),
        EncoderTable(
            "Beyond a wrong target: each criterion less its null",
            _columns({claim.partition(" (")[0]: key for key, claim in CLAIMS.items()}),
            "In points. If the interval contains 0, no difference from a wrong target is shown. C4 against A is the "
            "harder variant: nearer to the difference than to A (not in the paper).",
        ),
        *(
            _cells(criterion, "eps0", "at ε = 0, by similarity function", f"{conditions} {_NULL}")
            for criterion, conditions in _CONDITIONS.items()
        ),
        EncoderTable(
            "C4: is e(A) − e(B) nearer to the difference?",
            _columns(
                {
                    "than to B": "share[c4:vsB]{eps0}",
                    "null": "share[c4:vsB]{null:eps0}",
                    "than to A": "share[c4:vsA]{eps0}",
                    "null, A": "share[c4:vsA]{null:eps0}",
                    "vs B, grid": "share[c4:vsB]{grid}",
                    "vs A, grid": "share[c4:vsA]{grid}",
                }
            ),
            similarity_functions=MEASURES,
        ),
        EncoderTable(
            "Where the projections fall",
            _columns(
                {
                    "C2: 0 ≤ τ ≤ 1": "share[c2:inside]{angle,}",
                    "τ, overlap": "position[c2]",
                    "τ, difference": "position[c5]",
                    "τ, union": "position[c6]",
                    "in plane, overlap": "in_plane[c2]",
                    "in plane, difference": "in_plane[c5]",
                    "in plane, union": "in_plane[c6]",
                }
            ),
            "τ: mean position of the projection, 0 is A, 1 is B (not in the paper). In plane: mean share of the "
            "target's length that lies in the plane (not in the paper); it means little for a vector that is nearly "
            "orthogonal to the plane.",
        ),
        EncoderTable(
            "C6: the union, by the norms of A and B",
            _columns(
                {
                    "comparable": "share[c6:comparable]",
                    "in the middle": "share[c6:middle]",
                    "A longer": "share[c6:longer_a]",
                    "near A": "share[c6:near_a]",
                    "B longer": "share[c6:longer_b]",
                    "near B": "share[c6:near_b]",
                }
            ),
            "Comparable: ‖A‖/‖B‖ within 1 ± 0.1. Where one is longer, the union should lie within 15° of it.",
        ),
        EncoderTable(
            "Mean margins",
            _columns({subset: f"margin[{subset}]" for subsets in MARGINS.values() for subset in subsets}),
            "Of the first and the second condition of C1 and C3, and of C4. Positive where the condition holds.",
            MEASURES,
        ),
        EncoderTable(
            "Raw similarities, on average",
            _columns(
                {
                    f"{operator}: {pair}": f"raw[{CRITERION[operator]}:{pair}]"
                    for operator, letter in TARGET.items()
                    for pair in (f"A{letter}", f"B{letter}", "AB", "AN")
                }
            ),
            "Between A and the target (O, D or U), B and the target, A and B, and A and another unit's target (N). A "
            "distance is larger when farther.",
            MEASURES,
        ),
        CorpusTable(
            "What people thought of the targets",
            _columns({"mean rating (0-4)": "rating[]", "median": "rating_median[]", "agreement (α)": "agreement[]"}),
            "Krippendorff's alpha for interval data: 1 full agreement, 0 none beyond chance.",
        ),
        Examples(
            "Sample by sample",
            "a",
            prefix="A",
            texts=(("b", "B"), ("overlap", "overlap"), ("difference", "difference A − B"), ("union", "union")),
            columns=(
                ExampleColumn("A with the result", ("a",)),
                ExampleColumn("B with the result", ("b",)),
                ExampleColumn("A with B", ("ab",)),
            ),
            margin="the smaller margin of C1 or C3; unions have none",
            note="Cosines. Right: the overlap is nearer to A and to B than they are to each other (C1); the "
            "difference A − B is nearer to A than to B, and B is nearer to A than to the difference (C3); the "
            "union lies between A and B, or near the longer of them (C6). In mirrored differences A and B are "
            "exchanged.",
        ),
    ),
    source="Bansal, Mahajan, Sinha & Karmaker (2025), Set-Theoretic Compositionality of Sentence Embeddings",
    paper=(
        SeriesTable("Classical encoders and language models", "classes"),
        *(_cells(criterion, "grid", "averaged over the grid of tolerances", _GRID) for criterion in _CONDITIONS),
        *(
            Histograms(
                f"Angles of the {operator}'s projection",
                f"angles_{operator}",
                "The paper's figures 4 and 6: between A and B, both angles are below 1 and their sum is 1.",
            )
            for operator in OPERATORS
        ),
        Histograms("Norm of A over norm of B", "norm_ratio", "The paper's figure 10."),
        SeriesTable(
            "Ratings given",
            "ratings",
            "The paper's figure 3: 0 strongly disagree, 4 strongly agree; every annotator's rating counts.",
        ),
    ),
)
