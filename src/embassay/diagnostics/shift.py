"""How far is a domain from general language, as an encoder measures it?

Roychowdhury et al. (2024), section 2.6: Δ(d) = min over general texts d′ of ‖e(d) − e(d′)‖, for each text d of the
domain, vectors at unit length. The paper compares Δ before and after domain adaptation. Distances of two models have
different scales, so Δ is also divided by the model's own ruler, its mean distance of two general texts. The result also
has the distance of each general text to the nearest general text of another unit: where the two distributions overlap,
the model does not separate the domain. Texts of the same unit (the passages of a document, for example) are left out,
because a text of the domain has no such close relatives among the general ones either.

    -c domain=… -c general=… -d shift,domain=domain,general=general
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any

import numpy as np

from embassay.core.claims import COUNT, Template
from embassay.core.errors import SpecError
from embassay.core.layout import (
    Column,
    Curves,
    EncoderTable,
    Histograms,
    IntervalChart,
    Layout,
    SeriesTable,
)
from embassay.core.randomness import generator
from embassay.core.result import Estimate, Finding, Result, Row, Series
from embassay.core.samples.base import Role, Sample
from embassay.core.samples.two import Side, TwoText
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.published import table
from embassay.stats.correlate import MIN_ITEMS, correlation
from embassay.stats.density import histogram, overlap
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.units import Floats, Ints

NAME = "shift"
SIDES = {"domain": "the domain", "general": "general language"}
"""By option what the corpora are that it compares."""
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
SUBSETS: dict[Role, str] = {"document": "documents", "query": "queries", "text": "texts"}
ROLES = {subset: role for role, subset in SUBSETS.items()}
NEIGHBOURS = 5_000
"""General texts whose own nearest neighbours are searched, at most."""
PAIRS = 20_000
"""Pairs of general texts whose mean distance is the ruler, at most."""
ROUNDING = 1e-5
"""A mean distance of at most this is that of equal vectors, up to the rounding of float32: no ruler."""
BINS = 40
LINES: dict[Side, str] = {"domain": "domain to general", "general": "general to general"}
DISTANCE = Template(
    "{encoder}: the domain's {subset} lie {domain.value:.2f} from the nearest general text, general texts "
    "{general.value:.2f} from theirs (1 is the mean distance of two general texts); the two distributions overlap by "
    "{shared.value:.0%}.",
    "all three are defined; neither is better, and nothing is tested",
    COUNT,
    title="Distance of the domain's {subset}",
    question="How far?",
)
AGAINST = {
    "pair": "text",
    "Spearman of the distances": "number",
    "overlap of the relative distances": "percent",
    "farthest, first encoder": "number",
    "nearest, second encoder": "number",
}
"""The columns of the table of two encoders, with their formats."""


def create(*, domain: str = "", general: str = "") -> Shift:
    """Make the diagnostic.

    Parameters
    ----------
    domain, general
        The labels of two corpora of the run.
    """
    return Shift(domain, general)


@dataclass(frozen=True)
class Shift:
    """The diagnostic; see the module's documentation.

    Attributes
    ----------
    most_searched, pairs
        See ``NEIGHBOURS`` and ``PAIRS``.
    """

    domain: str = ""
    general: str = ""
    shape: str = "two"
    options: str = ""
    most_searched: int = NEIGHBOURS
    pairs: int = PAIRS

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the two corpora.

        Raises
        ------
        SpecError
            If one is missing, or both are the same.
        """
        if self.domain and self.domain == self.general:
            raise SpecError(f"diagnostic 'shift': domain and general are the same corpus, {self.domain!r}")
        if not self.domain or not self.general:
            raise SpecError("diagnostic 'shift' needs two corpora: -d shift,domain=LABEL,general=LABEL")
        return self.domain, self.general

    def join(self, domain: Corpus[Any], general: Corpus[Any]) -> Corpus[TwoText]:
        """Return one corpus with the texts of both.

        Raises
        ------
        SpecError
            If they have no role in common, or one of them is too small.
        """
        for corpus in (domain, general):
            corpus.need_texts("diagnostic 'shift'")
        of_domain, of_general = _members("domain", domain), _members("general", general)
        roles_of_domain = {member.role for member in of_domain}
        general_units = dict[Role, set[str]]()
        for member in of_general:
            general_units.setdefault(member.role, set()).add(member.unit)
        shared = roles_of_domain & set(general_units)
        # A general text is compared with those of other units, so a kind of text needs two of them.
        roles = {role for role in shared if len(general_units[role]) > 1}
        if shared and not roles:
            raise SpecError(
                f"diagnostic 'shift': {general.name!r} is too small to be general language: all its texts of a kind "
                "belong to one unit (document or sample), and at least two are needed"
            )
        if not roles:
            raise SpecError(
                f"diagnostic 'shift': {domain.name!r} ({domain.shape}) and {general.name!r} ({general.shape}) have no "
                "kind of text in common: take two retrieval corpora, or two of plain sentences"
            )
        return Corpus(
            f"{domain.name} vs {general.name}",
            "two",
            tuple(m for m in (*of_domain, *of_general) if m.role in roles),
            licence=" / ".join(dict.fromkeys((domain.licence, general.licence))),
            loader=NAME,
        )

    def score(self, corpus: Corpus[TwoText], vectors: Vectors, origin: Origin) -> ItemScores:
        """Find the nearest general text of each text of the domain, and of each general text in another unit."""
        samples, unit = corpus.samples, corpus.units
        side = np.array([s.side for s in samples])
        role = np.array([s.role for s in samples])
        distance = np.full(len(samples), np.nan)
        scalars = dict[str, float]()
        for name, subset in SUBSETS.items():
            domain = np.flatnonzero((role == name) & (side == "domain"))
            general = np.flatnonzero((role == name) & (side == "general"))
            if not domain.size or not general.size:
                continue
            # The search groups neighbouring rows, so the texts of a unit have to stand together.
            general = general[np.argsort(unit[general], kind="stable")]
            of_domain = vectors.take((samples[i].text for i in domain), name)
            of_general = vectors.take((samples[i].text for i in general), name)
            distance[domain] = _nearest(vectors, of_domain, of_general)
            chosen = _choose(len(general), self.most_searched, corpus.fingerprint, subset)
            distance[general[chosen]] = _nearest_elsewhere(vectors, of_general, chosen, unit[general])
            ruler = mean_pair_distance(of_general, self.pairs, corpus.fingerprint, subset)
            if ruler > ROUNDING:
                scalars[f"ruler/{subset}"] = ruler
        return ItemScores(
            origin,
            similarity_function="l2",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"side": side, "role": role},
            values={"distance": distance},
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one pair of corpora."""
        figures = self.figures(scores)
        views = {view.encoder: view for view in figures.views}
        rows = list[Row]()
        for row in figures.rows(draws):
            # Without a pair of general texts there is nothing to compare an encoder's distances with.
            if "relative" not in row.condition or not np.isnan(views[row.encoder].ruler(row.subset)):
                rows.append(row)
        series, findings = list[Series](), list[Finding]()
        for subset in figures.views[0].subsets:
            series += _series(figures.views, figures.requested, subset)
        for view in figures.requested:
            findings += _findings(view, rows)
        return figures.summarise(draws, rows=rows).result(series, findings)

    def figures(self, scores: Sequence[ItemScores]) -> Figures[ShiftView]:
        """Return the declared metrics of all encoders."""
        subsets = ShiftView(scores[0]).subsets
        metrics = [metric for metric in METRICS if metric.subset in subsets]
        return Figures.of(lambda s: ShiftView(s, self.most_searched), scores, metrics)


@dataclass(frozen=True)
class ShiftView(View):
    """One encoder's distances.

    Attributes
    ----------
    most_searched
        How many general texts were searched, at most.
    """

    most_searched: int = NEIGHBOURS

    @property
    def subsets(self) -> list[str]:
        """The kinds of texts that the corpora contain."""
        roles = set(self.scores.labels["role"].tolist())
        return [subset for role, subset in SUBSETS.items() if role in roles]

    def ruler(self, subset: str) -> float:
        """Return the mean distance of two general texts; NaN where these have no distance."""
        return self.scores.scalars.get(f"ruler/{subset}", float("nan"))

    def places(self, subset: str, side: Side) -> Ints:
        """Return the places of one side's texts of a kind, without general texts that were not searched."""
        labels, unit = self.scores.labels, self.scores.unit
        places = np.flatnonzero((labels["role"] == ROLES[subset]) & (labels["side"] == side))
        if side == "domain":
            return places
        places = places[np.argsort(unit[places], kind="stable")]
        chosen = _choose(len(places), self.most_searched, self.scores.origin.corpus_fingerprint, subset)
        return np.sort(places[chosen])

    def distances(self, subset: str, side: Side) -> Floats:
        """Return (m,) the distances of one side's texts of a kind to the nearest general text; NaN where undefined."""
        return self.scores.values["distance"][self.places(subset, side)]

    def relative(self, subset: str, side: Side) -> Floats:
        """Return (m,) the distances divided by the encoder's ruler."""
        return self.distances(subset, side) / self.ruler(subset)


def _distances(subset: str, side: Side) -> Iterator[Metric]:
    """Yield the mean distances of one side's texts of a kind to the nearest general text, as they are and relative."""
    prefix = "" if side == "domain" else "general "
    # Farther from general language is neither better nor worse.
    distance = partial(
        Metric,
        "distance",
        subset,
        kind="mean",
        better="neither",
        places=lambda view: view.places(subset, side),
        low=0.0,
    )
    yield distance(
        prefix.strip(),
        of=lambda view: view.distances(subset, side),
        high=2.0,
        compared="within one encoder",
        meaning=f"mean distance of the {side} texts to the nearest general text",
    )
    yield distance(
        f"{prefix}relative",
        of=lambda view: view.relative(subset, side),
        # A test would take this one sample of general texts as all there are, and so find differences of nothing.
        compared="never",
        meaning=f"distance of the {side} texts, divided by the mean distance of two general texts",
    )


def _metrics(subset: str) -> Iterator[Metric]:
    """Yield the mean distances of the texts of a kind, and how far the distances of both sides overlap."""
    yield from _distances(subset, "domain")
    yield from _distances(subset, "general")
    yield Metric(
        "overlap",
        subset,
        kind="computed",
        better="neither",
        of=lambda view: _overlap(view, subset),
        low=0.0,
        high=1.0,
        format="percent",
        meaning="overlap of the distributions of domain distances and general distances",
    )


METRICS = tuple(chain.from_iterable(map(_metrics, SUBSETS.values())))


def _members(side: Side, corpus: Corpus[Any]) -> list[TwoText]:
    """Return the distinct texts of a corpus, each in one unit, in the order in which they appear.

    A passage is in the unit of its document; another text is in the unit of the first sample that has it.
    """
    members = dict[tuple[str, str], TwoText]()
    for document in corpus.documents:
        unit = f"{side}:{document.id}"
        for number, passage in enumerate(document.passages):
            name = f"{unit}#{number}"
            member = TwoText(name, side, "document", passage, unit)
            members.setdefault(("document", passage), member)
    samples: Sequence[Sample] = corpus.samples
    for sample, code in zip(samples, corpus.units.tolist(), strict=True):
        unit = f"{side}:unit{code}"
        for place, (role, text) in enumerate(sample.texts()):
            name = f"{side}:{sample.id}:{place}"
            member = TwoText(name, side, role, text, unit)
            members.setdefault((role, text), member)
    return list(members.values())


def _nearest(vectors: Vectors, texts: VectorMatrix, others: VectorMatrix) -> Floats:
    """Return the distance of each text to the nearest of the others, Δ."""
    nearest = vectors.need_search(NAME)(texts, others, k=1, similarity_function="cosine")
    return _distance(nearest.similarity[:, 0])


def _nearest_elsewhere(vectors: Vectors, general: VectorMatrix, chosen: Ints, unit: Ints) -> Floats:
    """Return the distance of some general texts to the nearest general text of another unit.

    Parameters
    ----------
    general
        (n, d) the vectors of all general texts.
    chosen
        (m,) rows of the general texts that are searched.
    unit
        (n,) ascending unit codes.

    Returns
    -------
    (m,) NaN where the text, or every text of the other units, has no vector.
    """
    # Each unit is searched as one document, and its distance is that of its nearest text. At least one of the two
    # nearest units is not the text's own.
    starts = np.flatnonzero(np.diff(unit, prepend=-1))
    unit_of_chosen = np.searchsorted(starts, chosen, side="right") - 1
    nearest = vectors.need_search(NAME)(general[chosen], general, k=2, similarity_function="cosine", starts=starts)
    cosine_of_nearest, cosine_of_second = nearest.similarity.T
    nearest_is_own_unit = nearest.documents[:, 0] == unit_of_chosen
    cosine_elsewhere = np.where(nearest_is_own_unit, cosine_of_second, cosine_of_nearest)
    return _distance(cosine_elsewhere)


def _distance(cosine: Floats) -> Floats:
    """Return the Euclidean distance of two vectors at unit length, √(2 − 2·cosine), in [0, 2]."""
    return np.sqrt(np.maximum(2 - 2 * cosine, 0))


def _choose(number: int, most: int, *purpose: str) -> Ints:
    """Draw at most ``most`` of the indices 0 … ``number`` − 1 without replacement, in ascending order."""
    if number <= most:
        return np.arange(number)
    return np.sort(generator(0, "shift", *purpose).choice(number, most, replace=False))


def mean_pair_distance(general: VectorMatrix, most: int, *purpose: str) -> float:
    """Return the mean distance of pairs of general texts, in [0, 2], called the ruler; NaN if no pair has a distance.

    Parameters
    ----------
    general
        (n, d) vectors.
    most
        Maximum number of pairs; where there are more, this many are drawn at random, with replacement.
    """
    number = general.shape[0]
    if number * (number - 1) // 2 <= most:
        first, second = np.triu_indices(number, 1)
    else:
        stream = generator(0, "shift pairs", *purpose)
        first = stream.integers(0, number, most)
        second = (first + stream.integers(1, number, most)) % number
    distance = _distance(paired_cosine(general[first], general[second]))
    defined = distance[~np.isnan(distance)]
    if not len(defined):
        return float("nan")
    return float(defined.mean())


def _overlap(view: ShiftView, subset: str) -> Estimate:
    """Return the overlap of the distributions of the domain's and the general texts' distances; no interval."""
    domain, general = view.distances(subset, "domain"), view.distances(subset, "general")
    value = overlap(domain, general, 0.0, 2.0)
    # The row's items are the texts of the domain, as in the rows of their distances.
    is_defined = ~np.isnan(domain)
    defined = int(is_defined.sum())
    undefined = len(is_defined) - defined
    units = len(np.unique(view.scores.unit[view.places(subset, "domain")][is_defined]))
    if np.isnan(value):
        return Estimate(None, None, None, defined, units, undefined, "undefined for every text")
    return Estimate(value, None, None, defined, units, undefined)


def _series(views: Sequence[ShiftView], requested: Sequence[ShiftView], subset: str) -> Iterator[Series]:
    """Yield the histograms of relative distances, the domain's distances as they are, and the table of pairs.

    Yields nothing without distances.

    Parameters
    ----------
    views
        Those of all encoders, which the histograms show.
    requested
        The views without baselines, which the table compares.
    """
    corpus = views[0].corpus
    distances = list[tuple[ShiftView, Side, Floats]]()
    for view in views:
        for side in LINES:
            distances.append((view, side, view.relative(subset, side)))

    edges, shares = _binned([values for _, _, values in distances])
    if not shares:
        return
    panels = list[dict[str, object]]()
    for (view, side, _), bars in zip(distances, shares, strict=True):
        panels.append({"encoder": view.encoder, "line": LINES[side], "shares": bars})
    data = {"x": "distance to the nearest, in mean pair distances", "edges": edges.tolist(), "panels": panels}
    yield Series(NAME, corpus, f"distances_{subset}", "histogram", data)

    edges, shares = _binned([view.distances(subset, "domain") for view in views])
    if shares:
        pairs = zip(views, shares, strict=True)
        lines = [{"encoder": view.encoder, "line": LINES["domain"], "y": bars} for view, bars in pairs]
        centres = (edges[:-1] + edges[1:]) / 2
        curve = {"x": "L2 distance to the nearest", "y": "share of texts", "at": centres.tolist(), "lines": lines}
        yield Series(NAME, corpus, f"domain_{subset}", "curve", curve)

    comparisons_of_pairs = [_compare(a, b, subset) for a, b in combinations(requested, 2)]
    if comparisons_of_pairs:
        yield table(NAME, corpus, f"against_{subset}", AGAINST, comparisons_of_pairs, note=_claim(comparisons_of_pairs))


def _binned(distances: Sequence[Floats]) -> tuple[Floats, list[list[float]]]:
    """Return the edges of histograms, the same for all so that encoders can be compared, and the shares of the bars.

    There are no shares where no distance is defined.
    """
    pooled = np.concatenate(distances)
    pooled = pooled[~np.isnan(pooled)]
    if not len(pooled):
        return pooled, []
    # A little beyond the largest distance: the histogram has a width where all distances are equal.
    low, high = float(pooled.min()), float(pooled.max()) + 1e-9
    shares = [histogram(values, low, high, BINS)[1].tolist() for values in distances]
    return np.linspace(low, high, BINS + 1), shares


def _compare(a: ShiftView, b: ShiftView, subset: str) -> list[object]:
    """Return the row of two encoders in the table ``AGAINST``: both measure the distances of the same texts.

    It has Spearman's correlation of their relative distances, in [−1, 1], the overlap of the two distributions, in
    [0, 1], the largest distance of the first encoder and the smallest of the second; None where undefined.
    """
    of_a = a.relative(subset, "domain")
    of_b = b.relative(subset, "domain")
    defined_for_both = ~np.isnan(of_a) & ~np.isnan(of_b)
    rank_correlation = None
    if np.count_nonzero(defined_for_both) >= MIN_ITEMS:
        rank_correlation = _none_if_nan(correlation(of_a, of_b, "spearman"))
    both = np.concatenate([of_a, of_b])
    largest = float(np.nanmax(both, initial=0.0))
    # The range of an overlap must not be empty.
    if largest == 0:
        largest = 1.0
    shared = _none_if_nan(overlap(of_a, of_b, 0.0, largest))
    farthest = _none_if_nan(np.fmax.reduce(a.distances(subset, "domain"), initial=np.nan))
    nearest = _none_if_nan(np.fmin.reduce(b.distances(subset, "domain"), initial=np.nan))
    return [f"{a.encoder} − {b.encoder}", rank_correlation, shared, farthest, nearest]


def _claim(rows: Sequence[Sequence[Any]]) -> str:
    """Say for which pairs of encoders the claim of the paper's figure 3 is true."""
    true = [pair for pair, *_, farthest, nearest in rows if None not in (farthest, nearest) and farthest < nearest]
    return (
        "In the paper's figure 3, the nearest text after adaptation lies farther than the farthest text before it. "
        f"Here this is true of {', '.join(true) or 'no pair'}."
    )


def _none_if_nan(value: float) -> float | None:
    """Return a number as it is written to a result, which refuses NaN."""
    if np.isnan(value):
        return None
    return float(value)


def _findings(view: ShiftView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield for each kind of text how far the domain lies from general texts, and these from each other."""
    row_of = {(r.metric, r.subset, r.condition): r for r in rows if r.encoder == view.encoder}
    for subset in view.subsets:
        domain = row_of.get(("distance", subset, "relative"))
        general = row_of.get(("distance", subset, "general relative"))
        shared = row_of.get(("overlap", subset, ""))
        if domain is None or general is None or shared is None:
            continue
        if domain.value is None or general.value is None or shared.value is None:
            continue
        yield DISTANCE.finding(
            domain, style="number", encoder=view.encoder, subset=subset, domain=domain, general=general, shared=shared
        )


def _columns(*kinds: tuple[str, str, str]) -> tuple[Column, ...]:
    """Return the columns of each kind of text: the heading with ``{}`` for it, the metric and the condition."""
    columns = list[Column]()
    for subset in SUBSETS.values():
        for heading, metric, condition in kinds:
            columns.append(Column(heading.format(subset), metric, subset, condition))
    return tuple(columns)


def _parts(subset: str) -> tuple[IntervalChart | Histograms | Curves | SeriesTable, ...]:
    """Return the charts and tables of one kind of text."""
    distance = Column("distance", "distance", subset, "relative")
    return (
        IntervalChart(f"Relative distance of the {subset}", distance),
        Histograms(f"Distances of the {subset}", f"distances_{subset}"),
        Curves(
            f"Distances of the domain's {subset}, all encoders together",
            f"domain_{subset}",
            note="The paper's figure 3, where the encoders are a model before and after adaptation. The scales of L2 "
            "distances differ between encoders.",
        ),
        SeriesTable(
            f"Two encoders on the same {subset}",
            f"against_{subset}",
            note="Are the same texts far from general ones for both encoders, and equally far relative to "
            "each encoder's own distances? The last two columns are L2 distances to the nearest general text.",
        ),
    )


LAYOUT = Layout(
    title="Shift",
    question="How far is the domain from general language, as each encoder measures it?",
    headline=EncoderTable(
        "Distance of the domain's texts to the nearest general text",
        _columns(
            ("{}: distance, relative", "distance", "relative"),
            ("general {}, relative", "distance", "general relative"),
            ("{}: overlap", "overlap", ""),
        ),
        note="Relative: in units of the encoder's own mean distance of two general texts, so that encoders can be "
        "compared. "
        "General: the same distance of general texts among themselves. Overlap: how much the two distributions "
        "overlap. The intervals take the general texts as given, so two encoders are not tested against each other.",
    ),
    parts=(
        *_parts("documents"),
        *_parts("queries"),
        *_parts("texts"),
        EncoderTable(
            "Distances as they are",
            _columns(("{}", "distance", ""), ("{}, general", "distance", "general")),
            note="At unit length, 0 to 2. Distances of different encoders have different scales.",
        ),
    ),
    source="Roychowdhury et al. (2024), section 2.6",
)
