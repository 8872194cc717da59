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

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from embassay.core.claims import COUNT, Template
from embassay.core.errors import SpecError
from embassay.core.layout import Curves, Drawings
from embassay.core.randomness import generator
from embassay.core.result import Estimate, Finding, Series
from embassay.core.samples.base import Role
from embassay.core.samples.shapes import Side, TwoText
from embassay.core.types import Corpus, ItemScores
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.diagnostics.method import Method, Stored
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.stats.density import histogram, overlap
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.resample import ABSENT
from embassay.stats.units import Floats, Ints

NAME = "shift"
VERSION = 2
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
SIDES: tuple[Side, ...] = ("domain", "general")
DISTANCE = Template(
    "{encoder}: the domain's {subset} lie {domain.value:.2f} from the nearest general text, general texts "
    "{general.value:.2f} from theirs (1 is the mean distance of two general texts); the two distributions overlap by "
    "{shared.value:.0%}.",
    "all three are defined; neither is better, and nothing is tested",
    COUNT,
    title="Distance of the domain's {subset}",
    kind="headline",
    question="How far?",
)


COMPARED = (("domain", "distance", "relative"), ("general", "distance", "general relative"), ("shared", "overlap", ""))
"""The figures of a finding: what the sentence calls each, its metric and its condition."""


class ShiftView(View):
    """One encoder's distances."""

    resamples_apart = True

    @property
    def subsets(self) -> list[str]:
        """The kinds of texts that the corpora contain."""
        return [subset for role, subset in SUBSETS.items() if role in self.scores.labels["role"]]

    def ruler(self, subset: str) -> float:
        """Return the mean distance of two general texts; NaN where these have no distance."""
        return self.scores.scalars.get(f"ruler/{subset}", float("nan"))

    def distances(self, subset: str, side: Side) -> Floats:
        """Return (n,) the distances of one side's texts of a kind to the nearest general text, ABSENT for others.

        NaN is undefined. General texts that were not searched are of no side.
        """
        labels = self.scores.labels
        inside = (labels["role"] == ROLES[subset]) & (labels["side"] == side)
        return np.where(inside, self.scores.values["distance"], ABSENT)

    def relative(self, subset: str, side: Side) -> Floats:
        """Return the distances divided by the encoder's ruler."""
        distances = self.distances(subset, side)
        return np.where(distances == ABSENT, ABSENT, distances / self.ruler(subset))


def _mean(subset: str, side: Side, is_relative: bool) -> Metric:
    """Return the mean distance of one side's texts of a kind to the nearest general text."""
    words = ["general"] * (side == "general") + ["relative"] * is_relative
    # A test of relative distances would take this one sample of general texts as all there are, and so find differences
    # of nothing.
    return Metric(
        "distance",
        subset,
        " ".join(words),
        kind="mean",
        # Farther from general language is neither better nor worse.
        better="neither",
        of=partial(ShiftView.relative if is_relative else ShiftView.distances, subset=subset, side=side),
        low=0.0,
        high=None if is_relative else 2.0,
        compared="never" if is_relative else "within one encoder",
        meaning=f"distance of the {side} texts to the nearest general text"
        + ", divided by the mean distance of two general texts" * is_relative,
    )


def _metrics(subset: str) -> Iterator[Metric]:
    """Yield the mean distances of the texts of a kind, and how far the distances of both sides overlap."""
    for side in SIDES:
        yield _mean(subset, side, is_relative=False)
        yield _mean(subset, side, is_relative=True)
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


METRICS = tuple(metric for subset in SUBSETS.values() for metric in _metrics(subset))


def _members(side: Side, corpus: Corpus[Any]) -> list[TwoText]:
    """Return the distinct texts of a corpus, each in one unit, in the order in which they appear.

    A passage is in the unit of its document; another text is in the unit of the first sample that has it.
    """
    members = dict[tuple[str, str], TwoText]()
    for document in corpus.documents:
        for number, passage in enumerate(document.passages):
            member = TwoText(f"{side}:{document.id}#{number}", side, "document", passage, f"{side}:{document.id}")
            members.setdefault(("document", passage), member)
    for sample, code in zip(corpus.samples, corpus.units.tolist(), strict=True):
        for place, (role, text) in enumerate(sample.texts()):
            member = TwoText(f"{side}:{sample.id}:{place}", side, role, text, f"{side}:unit{code}")
            members.setdefault((role, text), member)
    return list(members.values())


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
    nearest = vectors.search(general[chosen], general, k=2, similarity_function="cosine", starts=starts)
    cosine_of_nearest, cosine_of_second = nearest.similarity.T
    nearest_is_own_unit = nearest.documents[:, 0] == unit_of_chosen
    cosine_elsewhere = np.where(nearest_is_own_unit, cosine_of_second, cosine_of_nearest)
    return _distance(cosine_elsewhere)


def _distance(cosine: Floats) -> Floats:
    """Return the Euclidean distance of two vectors at unit length, √(2 − 2·cosine), in [0, 2]."""
    return np.sqrt(np.maximum(2 - 2 * cosine, 0))


def _choose(number: int, *purpose: str) -> Ints:
    """Draw at most ``NEIGHBOURS`` of the indices 0 … ``number`` − 1 without replacement, in ascending order."""
    if number <= NEIGHBOURS:
        return np.arange(number)
    return np.sort(generator(0, "shift", *purpose).choice(number, NEIGHBOURS, replace=False))


def mean_pair_distance(general: VectorMatrix, *purpose: str) -> float:
    """Return the mean distance of pairs of general texts, in [0, 2], called the ruler; NaN if no pair has a distance.

    Where there are more than ``PAIRS`` pairs of the (n, d) vectors, as many are drawn at random, with replacement.
    """
    number = general.shape[0]
    if number * (number - 1) // 2 <= PAIRS:
        first, second = np.triu_indices(number, 1)
    else:
        stream = generator(0, "shift pairs", *purpose)
        first = stream.integers(0, number, PAIRS)
        second = (first + stream.integers(1, number, PAIRS)) % number
    distance = _distance(paired_cosine(general[first], general[second]))
    return float("nan") if np.isnan(distance).all() else float(np.nanmean(distance))


def _overlap(view: ShiftView, subset: str) -> Estimate:
    """Return the overlap of the distributions of the domain's and the general texts' distances; no interval."""
    domain, general = view.distances(subset, "domain"), view.distances(subset, "general")
    value = overlap(domain[domain != ABSENT], general[general != ABSENT], 0.0, 2.0)
    # The row's items are the texts of the domain, as in the rows of their distances.
    is_defined = np.isfinite(domain)
    defined, undefined = int(is_defined.sum()), int(np.isnan(domain).sum())
    units = len(np.unique(view.scores.unit[is_defined]))
    reason = "undefined for every text" if np.isnan(value) else None
    return Estimate(None if reason else value, None, None, defined, units, undefined, reason)


DRAWINGS = Drawings(
    "Roychowdhury et al. (2024), section 2.6",
    tuple(
        Curves(
            f"Distances of the domain's {subset}, all encoders together",
            f"domain_{subset}",
            note="The paper's figure 3, where the encoders are a model before and after adaptation.",
        )
        for subset in SUBSETS.values()
    ),
    note="The intervals take the general texts as given, so two encoders are not tested against each other.",
)


@dataclass(frozen=True, kw_only=True)
class Shift(Method):
    """The diagnostic; see the module's documentation."""

    domain: str = ""
    general: str = ""
    shape = "two"
    similarity_function = "l2"

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the two corpora; SpecError if one is missing, or both are the same."""
        if not self.domain or not self.general or self.domain == self.general:
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
        # A general text is compared with those of other units, so a kind of text needs two of them.
        units = {(member.role, member.unit) for member in of_general}
        units_of_role = Counter(role for role, _ in units)
        roles = {member.role for member in of_domain if units_of_role[member.role] > 1}
        if not roles:
            raise SpecError(
                f"diagnostic 'shift': {domain.name!r} ({domain.shape}) and {general.name!r} ({general.shape}) have no "
                "kind of text in common of which the general corpus has two units (documents or samples) at least: "
                "take two retrieval corpora, or two of plain sentences"
            )
        return Corpus(
            f"{domain.name} vs {general.name}",
            "two",
            tuple(m for m in (*of_domain, *of_general) if m.role in roles),
            licence=" / ".join(dict.fromkeys((domain.licence, general.licence))),
            loader=NAME,
        )

    def values(self, corpus: Corpus[TwoText], vectors: Vectors) -> Stored:
        """Find the nearest general text of each text of the domain, and of each general text in another unit."""
        samples, unit, purpose = corpus.samples, corpus.units, corpus.fingerprint
        side, role = np.array([s.side for s in samples]), np.array([s.role for s in samples])
        text = np.array([s.text for s in samples], dtype=object)
        distance = np.full(len(samples), np.nan)
        stored: dict[str, Any] = {"side": side, "role": role, "distance": distance}
        for name, subset in SUBSETS.items():
            domain = np.flatnonzero((role == name) & (side == "domain"))
            general = np.flatnonzero((role == name) & (side == "general"))
            if not domain.size:
                continue
            # The search groups neighbouring rows, so the texts of a unit have to stand together.
            general = general[np.argsort(unit[general], kind="stable")]
            of_domain, of_general = vectors.take(text[domain], name), vectors.take(text[general], name)
            nearest = vectors.search(of_domain, of_general, k=1, similarity_function="cosine")
            distance[domain] = _distance(nearest.similarity[:, 0])
            chosen = _choose(len(general), purpose, subset)
            side[np.delete(general, chosen)] = ""
            distance[general[chosen]] = _nearest_elsewhere(vectors, of_general, chosen, unit[general])
            ruler = mean_pair_distance(of_general, purpose, subset)
            if ruler > ROUNDING:
                stored[f"ruler/{subset}"] = ruler
        return stored

    def figures(self, scores: Sequence[ItemScores]) -> Figures[ShiftView]:
        """Return the metrics of the kinds of texts that there are."""
        subsets = ShiftView(scores[0]).subsets
        return Figures.of(ShiftView, scores, [metric for metric in METRICS if metric.subset in subsets])

    def findings(self, figures: Figures[ShiftView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield for each kind of text how far the domain lies from general texts, and these from each other."""
        for view in figures.requested:
            for subset in view.subsets:
                fields: dict[str, Any] = {
                    name: summary.row_of.get((view.encoder, metric, subset, condition))
                    for name, metric, condition in COMPARED
                }
                if all(row is not None and row.value is not None for row in fields.values()):
                    about = fields["domain"]
                    yield DISTANCE.finding(about, style="number", encoder=view.encoder, subset=subset, **fields)

    def series(self, figures: Figures[ShiftView], summary: MetricSummary) -> Iterator[Series]:
        """Yield the curve of the domain's distances."""
        corpus, views = figures.views[0].corpus, figures.views
        for subset in views[0].subsets:
            distances = np.stack([view.distances(subset, "domain") for view in views])
            defined = distances[np.isfinite(distances)]
            if not defined.size:
                continue
            # A little beyond the largest distance: the histogram has a width where all distances are equal.
            low, high = float(defined.min()), float(defined.max()) + 1e-9
            lines = []
            for view, values in zip(views, distances, strict=True):
                edges, shares = histogram(values[values != ABSENT], low, high, BINS)
                lines.append({"encoder": view.encoder, "line": "domain to general", "y": shares.tolist()})
            at = ((edges[:-1] + edges[1:]) / 2).tolist()
            curve = {"x": "L2 distance to the nearest", "y": "share of texts", "at": at, "lines": lines}
            yield Series(NAME, corpus, f"domain_{subset}", "curve", curve)


def create(*, domain: str = "", general: str = "") -> Shift:
    """Make the diagnostic; ``domain`` and ``general`` are the labels of two corpora of the run."""
    return Shift(domain=domain, general=general)
