"""How far does a domain lie from general language, in an encoder's eyes?

Roychowdhury et al. (2024), section 2.6: Δ(d) = min over general texts d′ of ‖e(d) − e(d′)‖, for each text d of the
domain, vectors at unit length. The paper compares Δ before and after domain adaptation; distances of two models are two
different rulers, so Δ is also divided by each model's own mean distance of two general texts. Beside it stands the
distance of each general text to the nearest general text of another unit: where the two overlap, the domain is nothing
special to the model. Texts of the same unit (the passages of a document, for example) are left out, because a text of
the domain has no such close relatives among the general ones either.

    -c domain=… -c general=… -d shift,domain=domain,general=general
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import Meaning, comparisons, roles_of, row, unranked
from embassay.errors import SpecError
from embassay.geometry.closeness import paired_cosine
from embassay.layout import Column, ComparisonTable, EncoderTable, Histograms, IntervalChart, Layout, SeriesTable
from embassay.randomness import generator
from embassay.result import Estimate, Result, Row, Series
from embassay.samples.base import Role, Sample
from embassay.samples.two import Member, Side
from embassay.stats.correlate import MIN_ITEMS, correlation
from embassay.stats.density import histogram, overlap
from embassay.stats.families import PairedDifference, compare_means
from embassay.stats.resample import mean
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Search, Vectors

NAME = "shift"
VERSION = 1
MEANING = Meaning(neither=("distance", "overlap"))
"""To be raised with each change after which the same vectors have other scores or figures."""
SUBSETS: dict[Role, str] = {"document": "documents", "query": "queries", "text": "texts"}
NEIGHBOURS = 5_000
"""General texts whose own nearest neighbours are looked up, at most."""
PAIRS = 20_000
"""Pairs of general texts whose mean distance is the ruler, at most."""
ROUNDING = 1e-5
"""A mean distance that is no more is that of equal vectors, up to the rounding of float32: no ruler."""
BINS = 40


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
    """The diagnostic; see the module's documentation."""

    domain: str = ""
    general: str = ""
    shape: str = "two"
    options: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the corpora that it sets side by side.

        Raises
        ------
        SpecError
            If one is not given.
        """
        if self.domain and self.domain == self.general:
            raise SpecError(f"diagnostic 'shift': domain and general are the same corpus, {self.domain!r}")
        if not self.domain or not self.general:
            raise SpecError("diagnostic 'shift' needs two corpora: -d shift,domain=LABEL,general=LABEL")
        return self.domain, self.general

    def join(self, domain: Corpus[Any], general: Corpus[Any]) -> Corpus[Member]:
        """Put two corpora side by side.

        Raises
        ------
        SpecError
            If they have no role in common, or one of them is too small.
        """
        sides: dict[Side, list[Member]] = {
            "domain": list(_members("domain", domain)),
            "general": list(_members("general", general)),
        }
        shared = {m.role for m in sides["domain"]} & {m.role for m in sides["general"]}
        # A general text is compared with those of other units, so a kind of text needs two of them.
        roles = {role for role in shared if len({m.unit for m in sides["general"] if m.role == role}) > 1}
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
            tuple(m for side in sides.values() for m in side if m.role in roles),
            licence=" / ".join(dict.fromkeys((domain.licence, general.licence))),
            loader=NAME,
        )

    def score(self, corpus: Corpus[Member], vectors: Vectors, origin: Origin) -> ItemScores:
        """Find the nearest general text of each text of the domain, and of each general text in another unit."""
        samples, unit = corpus.samples, corpus.units
        side, role = (np.array([getattr(s, name) for s in samples]) for name in ("side", "role"))
        distance, scalars = np.full(len(samples), np.nan), dict[str, float]()
        for name, subset in SUBSETS.items():
            own, other = (np.flatnonzero((role == name) & (side == s)) for s in ("domain", "general"))
            if not own.size or not other.size:
                continue
            # The search groups neighbouring rows, so the texts of a unit have to stand together.
            other = other[np.argsort(unit[other], kind="stable")]
            general = vectors.take((samples[i].text for i in other), name)
            distance[own] = _nearest(vectors, vectors.take((samples[i].text for i in own), name), general)
            drawn = _drawn(len(other), NEIGHBOURS, corpus.fingerprint, subset)
            distance[other[drawn]] = _nearest_elsewhere(vectors, general, drawn, unit[other])
            ruler = _ruler(general, corpus.fingerprint, subset)
            if ruler > ROUNDING:
                scalars[f"ruler/{subset}"] = ruler
        return ItemScores(
            origin,
            measure="l2",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={"side": side, "role": role},
            values={"distance": distance},
            scalars=scalars,
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one pair of corpora."""
        rows = [r for s in scores for r in _rows(s, draws)]
        found = {subset: _compared(scores, subset, draws) for subset in _subsets(scores[0])}
        own = [s for s in scores if not s.origin.baseline] or list(scores)
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(
                c for subset, ds in found.items() for c in comparisons(scores[0], "distance", subset, ds, "relative")
            ),
            series=tuple(_series(scores, own)),
            verdicts=(unranked(scores, [note for s in own for note in _findings(s, rows)]),),
        )


def _members(side: Side, corpus: Corpus[Any]) -> Iterator[Member]:
    """Yield the distinct texts of a corpus: passages by document, others by the unit of the first sample with it."""
    seen: set[tuple[str, str]] = set()
    for document in corpus.documents:
        for number, passage in enumerate(document.passages):
            if ("document", passage) not in seen:
                seen.add(("document", passage))
                yield Member(f"{side}:{document.id}#{number}", side, "document", passage, f"{side}:{document.id}")
    samples: Sequence[Sample] = corpus.samples
    for sample, unit in zip(samples, corpus.units.tolist(), strict=True):
        for place, (role, text) in enumerate(sample.texts()):
            if (role, text) not in seen:
                seen.add((role, text))
                yield Member(f"{side}:{sample.id}:{place}", side, role, text, f"{side}:unit{unit}")


def _nearest(vectors: Vectors, own: Any, others: Any) -> Floats:
    """Return the distance of each own vector to the nearest of the others, at unit length: √(2 − 2·cosine)."""
    return _distance(_search(vectors)(own, others, k=1, measure="cosine").similarity[:, 0])


def _nearest_elsewhere(vectors: Vectors, general: Any, drawn: NDArray[np.int64], unit: NDArray[np.int64]) -> Floats:
    """Return the distance of some general texts to the nearest general text of another unit.

    Parameters
    ----------
    general
        (n, d) the vectors of all general texts.
    drawn
        (m,) which of them are looked up.
    unit
        (n,) ascending unit codes.

    Returns
    -------
    (m,) NaN where the text, or every text of the other units, has no vector.
    """
    # Each unit is searched as one document, which is as near as its nearest text: of the two nearest units at least
    # one is another one.
    starts = np.flatnonzero(np.diff(unit, prepend=-1))
    place = np.searchsorted(starts, drawn, side="right") - 1
    found = _search(vectors)(general[drawn], general, k=2, measure="cosine", starts=starts)
    first_is_itself = found.documents[:, 0] == place
    return _distance(np.where(first_is_itself, found.similarity[:, 1], found.similarity[:, 0]))


def _search(vectors: Vectors) -> Search:
    if vectors.search is None:
        raise ValueError("shift needs vectors that can be searched: Vectors(…, search=engine.topk.search)")
    return vectors.search


def _distance(cosine: Floats) -> Floats:
    return np.sqrt(np.maximum(2 - 2 * cosine, 0))


def _drawn(number: int, most: int, *purpose: str) -> NDArray[np.int64]:
    """Return ``most`` places of ``number``, drawn without repetition; all of them where there are no more."""
    if number <= most:
        return np.arange(number)
    return np.sort(generator(0, "shift", *purpose).choice(number, most, replace=False))


def _ruler(general: Any, *purpose: str) -> float:
    """Return the mean distance of two general texts: of all pairs where they are few, else of 20,000."""
    number = general.shape[0]
    if number * (number - 1) // 2 <= PAIRS:
        first, second = np.triu_indices(number, 1)
    else:
        stream = generator(0, "shift pairs", *purpose)
        first = stream.integers(0, number, PAIRS)
        second = (first + stream.integers(1, number, PAIRS)) % number
    distance = _distance(paired_cosine(general[first], general[second]))
    return float(distance[~np.isnan(distance)].mean()) if not np.isnan(distance).all() else float("nan")


def _subsets(scores: ItemScores) -> list[str]:
    there = set(scores.labels["role"].tolist())
    return [subset for role, subset in SUBSETS.items() if role in there]


def _part(scores: ItemScores, subset: str, side: Side) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distances and units of one side's texts of one role; general texts not looked up are left out."""
    role = next(role for role, name in SUBSETS.items() if name == subset)
    inside = (scores.labels["role"] == role) & (scores.labels["side"] == side)
    values, unit = scores.values["distance"][inside], scores.unit[inside]
    if side == "general" and len(values) > NEIGHBOURS:
        values, unit = values[~np.isnan(values)], unit[~np.isnan(values)]
    return values, np.unique(unit, return_inverse=True)[1].astype(np.int64)


def _rows(scores: ItemScores, draws: Draws) -> Iterator[Row]:
    key = scores.origin.corpus_fingerprint
    for subset in _subsets(scores):
        ruler = scores.scalars.get(f"ruler/{subset}")
        sides: dict[Side, str] = {"domain": "", "general": "general"}
        for side, condition in sides.items():
            values, unit = _part(scores, subset, side)
            yield row(scores, draws, "distance", subset, mean(values, unit, draws, NAME, key), condition)
            if ruler is not None:
                found = mean(values / ruler, unit, draws, NAME, key)
                yield row(scores, draws, "distance", subset, found, f"{condition}{' ' if condition else ''}relative")
        yield row(scores, draws, "overlap", subset, _overlap(scores, subset))


def _overlap(scores: ItemScores, subset: str) -> Estimate:
    """Return how far the domain's distances and the general texts' own are the same; no interval."""
    (domain, unit), (general, _) = (_part(scores, subset, side) for side in ("domain", "general"))
    value, defined = overlap(domain, general, 0.0, 2.0), int((~np.isnan(domain)).sum())
    units = len(np.unique(unit[~np.isnan(domain)]))
    undefined = len(domain) - defined
    if np.isnan(value):
        return Estimate(None, None, None, defined, units, undefined, "undefined for every text")
    return Estimate(value, None, None, defined, units, undefined)


def _relative(scores: ItemScores, subset: str) -> Floats:
    return _part(scores, subset, "domain")[0] / scores.scalars.get(f"ruler/{subset}", float("nan"))


def _compared(scores: Sequence[ItemScores], subset: str, draws: Draws) -> tuple[PairedDifference, ...]:
    values = {s.origin.encoder: _relative(s, subset) for s in scores}
    unit = _part(scores[0], subset, "domain")[1]
    return compare_means(values, unit, roles_of(scores), draws, NAME, scores[0].origin.corpus_fingerprint)


def _series(scores: Sequence[ItemScores], own: Sequence[ItemScores]) -> Iterator[Series]:
    corpus = scores[0].origin.corpus
    for subset in _subsets(scores[0]):
        lines: tuple[tuple[Side, str], ...] = (("domain", "domain to general"), ("general", "general to general"))
        sets = [
            (s.origin.encoder, line, _part(s, subset, side)[0] / s.scalars.get(f"ruler/{subset}", float("nan")))
            for s in scores
            for side, line in lines
        ]
        every = np.concatenate([values[~np.isnan(values)] for *_, values in sets])
        if not len(every):
            continue
        low, high = float(every.min()), float(every.max()) + 1e-9
        edges = np.linspace(low, high, BINS + 1)
        panels = [
            {"encoder": encoder, "line": line, "shares": histogram(values, low, high, BINS)[1].tolist()}
            for encoder, line, values in sets
        ]
        data = {"x": "distance to the nearest, in mean pair distances", "edges": edges.tolist(), "panels": panels}
        yield Series(NAME, corpus, f"distances_{subset}", "histogram", data)
        if pairs := [_against(a, b, subset) for a, b in combinations(own, 2)]:
            columns = ("pair", "Spearman of the distances", "overlap of the relative distances")
            table = {"columns": columns, "formats": ("text", "number", "percent"), "rows": pairs}
            yield Series(NAME, corpus, f"against_{subset}", "table", table)


def _against(a: ItemScores, b: ItemScores, subset: str) -> list[Any]:
    """Compare two models' distances of the same texts: their order, and their spread on each model's own ruler."""
    x, y = (_relative(s, subset) for s in (a, b))
    defined = ~(np.isnan(x) | np.isnan(y))
    rank = correlation(x, y, "spearman") if defined.sum() >= MIN_ITEMS else float("nan")
    top = float(max(np.nanmax(x, initial=0), np.nanmax(y, initial=0))) or 1.0
    shared = overlap(x, y, 0.0, top)
    return [f"{a.origin.encoder} − {b.origin.encoder}", *(None if np.isnan(v) else float(v) for v in (rank, shared))]


def _findings(scores: ItemScores, rows: Sequence[Row]) -> Iterator[str]:
    at = {(r.quantity, r.subset, r.condition): r.value for r in rows if r.encoder == scores.origin.encoder}
    for subset in _subsets(scores):
        domain, general = (at.get(("distance", subset, c)) for c in ("relative", "general relative"))
        shared = at.get(("overlap", subset, ""))
        if domain is None or general is None or shared is None:
            continue
        yield (
            f"{scores.origin.encoder}: the domain's {subset} lie {domain:.2f} mean pair distances from the nearest "
            f"general ones, which lie {general:.2f} from each other; the two overlap by {shared:.0%}"
        )


_COLUMNS = tuple(
    column
    for subset in SUBSETS.values()
    for column in (
        Column(f"{subset}: distance, relative", "distance", subset, "number", "relative"),
        Column(f"general {subset}, relative", "distance", subset, "number", "general relative"),
        Column(f"{subset}: overlap", "overlap", subset),
    )
)
LAYOUT = Layout(
    title="Shift",
    question="How far does the domain lie from general language, in each encoder's eyes?",
    headline=EncoderTable(
        "Distance of the domain's texts to the nearest general text",
        _COLUMNS,
        note="Relative: in units of the encoder's own mean distance of two general texts, so that encoders compare. "
        "General: the same distance of general texts among themselves. Overlap: how far the two are distributed alike.",
    ),
    parts=(
        *(
            part
            for subset in SUBSETS.values()
            for part in (
                IntervalChart(
                    f"Relative distance of the {subset}",
                    Column("distance", "distance", subset, "number", "relative"),
                ),
                Histograms(f"Distances of the {subset}", f"distances_{subset}"),
                ComparisonTable(
                    f"Which differences are real: {subset}",
                    Column("distance", "distance", subset, "number", "relative"),
                    note="Relative distances, paired on the same texts; farther is neither better nor worse by itself.",
                ),
                SeriesTable(
                    f"Two encoders on the same {subset}",
                    f"against_{subset}",
                    note="Do they find the same texts far, and equally far on their own ruler? Before and after "
                    "adaptation, for example.",
                ),
            )
        ),
        EncoderTable(
            "Distances as they are",
            tuple(
                Column(f"{subset}{', general' if condition else ''}", "distance", subset, "number", condition)
                for subset in SUBSETS.values()
                for condition in ("", "general")
            ),
            note="At unit length, 0 to 2. Two encoders' distances are two rulers.",
        ),
    ),
    source="Roychowdhury et al. (2024), section 2.6",
)
