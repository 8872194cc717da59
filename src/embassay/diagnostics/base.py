"""What the diagnostics share: views of scores, rows of a result, comparisons and the verdict on a headline.

A diagnostic has two steps (:class:`~embassay.types.Diagnostic`). ``score`` turns one encoder's vectors into
:class:`~embassay.types.ItemScores`; ``summarise`` turns the scores of all encoders into a result, usually so:

1. wrap the scores in a :class:`View` that names what the method derives from them;
2. estimate each metric and make its :func:`row`;
3. compare the encoders (:func:`roles_of`, ``stats.families``) and make the :func:`comparisons`;
4. rank the candidates by the headline (:func:`candidates_of`, ``stats.best``) and give the :func:`verdict`.

The protocols at the end are optional abilities: ``isinstance(diagnostic, HasHeadline)`` tells whether a diagnostic has
one. It has the ability when it has the method of that name; it need not inherit from anything here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from embassay.engine.pending import Pending, Submit
from embassay.errors import SpecError
from embassay.plugins import DIAGNOSTICS
from embassay.result import MIN_UNITS, Comparison, Estimate, Example, Row, Verdict
from embassay.stats.best import Standings
from embassay.stats.detectable import precision_of, precision_of_pair
from embassay.stats.families import Family, PairedDifference, Roles
from embassay.stats.noninferiority import Headline, ItemMetric
from embassay.stats.shares import PooledShare
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin, content_hash, is_chance
from embassay.vectors import Vectors

BM25 = "bm25"
LEXICAL = (BM25, "tfidf")
"""The lexical baselines, the stronger one first: a candidate has to beat them to be worth its price."""
Ints = NDArray[np.int64]
Direction = Literal["higher", "lower", "neither"]
"""Which values of a metric are better."""


@dataclass(frozen=True)
class Meaning:
    """What the metrics of a diagnostic mean, for code that chooses between encoders: its ``MEANING``.

    Attributes
    ----------
    title
        What the headline metric says about a model, in a few words; empty where there is no headline.
    items
        What one item is called, in the plural.
    margin
        An encoder counts as worse from this loss of the headline metric on; 0 where there is no headline.
    points
        Whether the headline is a share, written in percentage points; otherwise it is written as a number.
    numbers
        Where the headline is a share: the other metrics with a direction that are none.
    """

    title: str = ""
    items: str = "items"
    margin: float = 0.0
    points: bool = True
    numbers: tuple[str, ...] = ()


def meaning_of(diagnostic: str) -> Meaning:
    """Return the ``MEANING`` of a diagnostic; without one, that of a diagnostic without a headline."""
    meaning: Meaning = getattr(DIAGNOSTICS.module(diagnostic), "MEANING", Meaning())
    return meaning


def direction_of(diagnostic: str, metric: str, subset: str, condition: str = "") -> Direction:
    """Return which values of a metric are better, as its diagnostic declares in ``DIRECTIONS``.

    ``DIRECTIONS`` maps patterns of names to directions, and the first pattern that matches counts. A name is written as
    in ``embassay check``: ``accuracy[all]``, ``contrast[synonym-antonym,raw]``. ``*`` stands for any text. There is no
    default: what is not declared has no direction.

    Raises
    ------
    SpecError
        If the diagnostic declares nothing for the metric.
    """
    name = f"{metric}[{subset},{condition}]" if condition else f"{metric}[{subset}]"
    directions: Mapping[str, Direction] = getattr(DIAGNOSTICS.module(diagnostic), "DIRECTIONS", {})
    for pattern, direction in directions.items():
        # A bracket in a pattern is a bracket, not the beginning of a set of characters.
        if fnmatchcase(name, pattern.replace("[", "[[]")):
            return direction
    raise SpecError(
        f"diagnostic {diagnostic!r} does not say whether higher or lower values of {name} are better: "
        "its DIRECTIONS lack it"
    )


@dataclass(frozen=True)
class View:
    """One encoder's scores on one corpus; a diagnostic's own view adds what it derives from them."""

    scores: ItemScores

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus(self) -> str:
        """The corpus's label."""
        return self.scores.origin.corpus

    @property
    def spec(self) -> str:
        """The encoder's spec."""
        return self.scores.origin.spec

    @property
    def is_baseline(self) -> bool:
        """Whether the encoder joined the run by itself."""
        return self.scores.origin.baseline

    @property
    def stream(self) -> tuple[str, str]:
        """The names of the random streams; see :func:`stream_of`."""
        return stream_of(self.scores)

    def outcome(
        self,
        index: int,
        values: Mapping[str, float],
        *,
        correct: float,
        margin: float,
        subset: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Example:
        """Return what the encoder made of an item.

        Parameters
        ----------
        index
            Of the item in the scores.
        values
            Numbers by name; NaN and infinity are left out.
        correct
            1 right, 0 wrong; anything else is undecided, NaN included.
        margin
            How clearly it is right, larger is better; NaN where it is undefined.
        labels
            What the encoder chose and what was right, by name.
        """
        decided = {1.0: True, 0.0: False}
        return Example(
            diagnostic=self.scores.origin.diagnostic,
            corpus=self.corpus,
            encoder=self.encoder,
            item=str(self.scores.item[index]),
            kind="outcome",
            texts={},
            values={name: float(value) for name, value in values.items() if np.isfinite(value)},
            subset=subset,
            labels=labels or {},
            correct=decided.get(float(correct)),
            margin=float(margin) if np.isfinite(margin) else None,
        )


def item_example(
    scores: ItemScores,
    index: int,
    texts: Mapping[str, str],
    subset: str = "",
    labels: Mapping[str, str] | None = None,
) -> Example:
    """Return the record of an item with its texts, before those of the encoders.

    Parameters
    ----------
    scores
        Those of any encoder.
    index
        Of the item in the scores.
    labels
        What is right, by name, where that is the same for every encoder.
    """
    return Example(
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder="",
        item=str(scores.item[index]),
        kind="item",
        texts=texts,
        values={},
        subset=subset,
        labels=labels or {},
    )


AnyView = TypeVar("AnyView", bound=View)


def without_baselines(views: Sequence[AnyView]) -> list[AnyView]:
    """Return the views of the encoders that were asked for; all of them where only baselines were run."""
    requested = [view for view in views if not view.is_baseline]
    return requested or list(views)


def of_requested(scores: Sequence[ItemScores]) -> list[ItemScores]:
    """Return the scores of the encoders that were asked for; all of them where only baselines were run."""
    return [view.scores for view in without_baselines([View(s) for s in scores])]


def stream_of(scores: ItemScores) -> tuple[str, str]:
    """Return diagnostic and corpus fingerprint, which name the random streams of every figure.

    All encoders and all metrics of a diagnostic on a corpus share the resamples, so their figures are paired.
    """
    return scores.origin.diagnostic, scores.origin.corpus_fingerprint


def unit_codes(unit: Ints) -> Ints:
    """Return the units of some items, renumbered from 0 without gaps."""
    codes = np.unique(unit, return_inverse=True)[1]
    return np.asarray(codes, dtype=np.int64)


def row(
    scores: ItemScores,
    draws: Draws,
    metric: str,
    subset: str,
    estimate: Estimate,
    condition: str = "",
    similarity_function: str = "",
    interval: str = "confidence",
    **more: str,
) -> Row:
    """Make a row of an estimate.

    Parameters
    ----------
    similarity_function
        The scores' own similarity function by default.
    interval
        What low and high are: ``confidence`` or ``exams``. A row without them gets ``none``.
    more
        What else the figure depends on, for its signature.
    """
    if estimate.low is None:
        interval = "none"
    return Row(
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder=scores.origin.encoder,
        subset=subset,
        similarity_function=similarity_function or scores.similarity_function,
        condition=condition,
        metric=metric,
        **vars(estimate),
        signature=scores.signature(draws, similarity_function, **more),
        interval=interval,
    )


def share_row(
    scores: ItemScores,
    draws: Draws,
    metric: str,
    subset: str,
    share: PooledShare,
    pool: str,
    condition: str = "",
    similarity_function: str = "",
    **more: str,
) -> Row:
    """Make the row of a share. If its limits depend on the other encoders, its signature contains the pool.

    Parameters
    ----------
    pool
        The encoder's entry in :func:`pools_of`.
    """
    if share.pooled:
        more["pool"] = pool
    return row(scores, draws, metric, subset, share.estimate, condition, similarity_function, **more)


def estimates_of(rows: Sequence[Row], headline: Headline) -> dict[str, Estimate]:
    """Return the estimates that the rows of a headline were made from, by encoder."""
    estimates = dict[str, Estimate]()
    for row in rows:
        is_headline = (row.metric, row.subset, row.condition) == (
            headline.metric,
            headline.subset,
            headline.condition,
        )
        if is_headline and headline.similarity_function in ("", row.similarity_function):
            estimates[row.encoder] = Estimate(
                row.value, row.low, row.high, row.items, row.units, row.undefined, row.reason
            )
    return estimates


def pools_of(scores: Sequence[ItemScores]) -> dict[str, str]:
    """Return for each encoder a hash of the other encoders' labels and score digests."""
    digests = {s.origin.encoder: s.digest for s in scores}
    pools = dict[str, str]()
    for encoder in digests:
        others = [[name, digest] for name, digest in digests.items() if name != encoder]
        pools[encoder] = content_hash(sorted(others))
    return pools


def roles_of(scores: Sequence[ItemScores], all_pairs: bool = False) -> Roles:
    """Return the role of each encoder in comparisons: candidate, reference or lexical baseline.

    Candidates are the requested encoders, except those with random vectors. bm25 and tfidf are lexical baselines,
    whether they were requested or added automatically.
    """
    candidates = list[str]()
    reference: str | None = None
    names_of_scheme: dict[str, list[str]] = {scheme: [] for scheme in LEXICAL}
    for s in scores:
        origin = s.origin
        if not origin.baseline and not is_chance(origin.spec):
            candidates.append(origin.encoder)
            if origin.reference:
                reference = origin.encoder
        scheme = origin.spec.split(",")[0]
        if scheme in names_of_scheme:
            names_of_scheme[scheme].append(origin.encoder)

    # In the order of the schemes: of two baselines with the same value, the one named first is the best.
    lexical = list(chain.from_iterable(names_of_scheme.values()))
    bm25 = names_of_scheme[BM25]
    return Roles(tuple(candidates), reference, tuple(lexical), tuple(bm25), all_pairs=all_pairs)


def candidates_of(scores: Sequence[ItemScores], values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the values of the candidates only."""
    return {name: values[name] for name in roles_of(scores).candidates if name in values}


def comparisons(
    scores: ItemScores,
    metric: str,
    subset: str,
    differences: Sequence[PairedDifference],
    condition: str = "",
    similarity_function: str = "",
) -> tuple[Comparison, ...]:
    """Make the comparisons of one metric, family by family.

    Parameters
    ----------
    scores
        Those of any encoder: they name diagnostic, corpus and similarity function.
    """
    return tuple(
        Comparison(
            diagnostic=scores.origin.diagnostic,
            corpus=scores.origin.corpus,
            subset=subset,
            similarity_function=similarity_function or scores.similarity_function,
            condition=condition,
            metric=metric,
            a=pair.a,
            b=pair.b,
            difference=pair.difference,
            low=pair.low,
            high=pair.high,
            p=pair.p,
            p_holm=pair.p_adjusted,
            pairs_in_family=pair.tests,
            items=pair.items,
            units=pair.units,
            family=pair.family,
            p_method=pair.p_method,
            p_error=pair.p_error,
        )
        for pair in differences
    )


def verdict(
    scores: Sequence[ItemScores],
    headline: Headline,
    estimates: Mapping[str, Estimate],
    differences: Sequence[PairedDifference],
    standings: Standings,
    *,
    chance: float | None = None,
    leader: str = "Best",
) -> Verdict:
    """Return which candidates may be the best on the headline, and how they stand to reference and baseline.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus.
    estimates
        The headline's estimate by encoder.
    differences
        The paired differences of all families on the headline.
    standings
        The ranking of the candidates on the headline.
    chance
        What blind choice would reach, where that is known.
    leader
        ``Best``, or ``Highest`` where higher is not always better.
    """
    diagnostic = scores[0].origin.diagnostic
    if direction_of(diagnostic, headline.metric, headline.subset, headline.condition) != "higher":
        raise SpecError(f"diagnostic {diagnostic!r}: a headline must be a metric of which higher values are better")
    candidates = roles_of(scores).candidates
    defined = [name for name in candidates if estimates[name].value is not None]
    best: str | None = None
    best_estimate = Estimate(None, None, None, 0, 0, reason="no candidate is ranked")
    if standings.best_set:
        best = standings.best_set[0]
        best_estimate = estimates[best]
    values = {name: headline.values[name] for name in defined}
    precision = precision_of(differences, values, headline.unit, of_shares=headline.of_shares)
    smallest_difference, smallest_units = None, None
    # Under MIN_UNITS units nothing is called better or worse, so no difference can be detected.
    if precision is not None and precision.units >= MIN_UNITS:
        smallest_difference, smallest_units = precision.minimum_detectable_difference, precision.units
    reference, against_reference = _against("reference", differences, headline)
    baseline, against_baseline = _against("baseline", differences, headline)
    second_baseline, against_second_baseline = _against("second_baseline", differences, headline)
    return Verdict(
        diagnostic,
        scores[0].origin.corpus,
        headline.metric,
        items=len(scores[0].unit),
        units=len(np.unique(scores[0].unit)),
        subset=headline.subset,
        similarity_function=scores[0].similarity_function,
        condition=headline.condition,
        candidates=_ordered(defined, standings, estimates),
        undefined=tuple(name for name in candidates if name not in defined),
        best=best,
        value=best_estimate.value,
        low=best_estimate.low,
        high=best_estimate.high,
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
        second_baseline=second_baseline,
        against_second_baseline=against_second_baseline,
        chance=chance,
        smallest_difference=smallest_difference,
        smallest_units=smallest_units,
        leader=leader,
    )


def _ordered(names: Sequence[str], standings: Standings, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return encoders by their values on the common items, highest first; then those that are not ranked."""
    ranked = [name for name in standings.values if name in names]
    others = [name for name in names if name not in standings.values]
    others.sort(key=lambda name: -(estimates[name].value or 0.0))
    return (*ranked, *others)


def _against(
    family: Family, differences: Sequence[PairedDifference], headline: Headline
) -> tuple[str | None, dict[str, dict[str, float | None]]]:
    """Return the opponent of a family, and by candidate the difference from it."""
    opponent: str | None = None
    gaps = dict[str, dict[str, float | None]]()
    for pair in differences:
        if pair.family == family:
            opponent = pair.b
            gaps[pair.a] = {
                "difference": pair.difference,
                "low": pair.low,
                "high": pair.high,
                "p": pair.p_adjusted,
                "smallest_difference": None,
            }
            # Under MIN_UNITS units nothing is called better or worse, so no difference can be detected.
            if pair.units >= MIN_UNITS:
                precision = precision_of_pair(pair, headline.values, headline.unit, of_shares=headline.of_shares)
                if precision is not None:
                    gaps[pair.a]["smallest_difference"] = precision.minimum_detectable_difference
                    gaps[pair.a] |= precision.next_target()
    return opponent, gaps


def unranked(scores: Sequence[ItemScores]) -> Verdict:
    """Return the verdict of a diagnostic that does not rank encoders."""
    unit = scores[0].unit
    return Verdict(
        scores[0].origin.diagnostic,
        scores[0].origin.corpus,
        "",
        items=len(unit),
        units=len(np.unique(unit)),
        candidates=roles_of(scores).candidates,
    )


@runtime_checkable
class ChecksCorpus(Protocol):
    """Refuses some corpora of its shape."""

    def check(self, corpus: Corpus[Any]) -> None:
        """Check a corpus before any text is encoded.

        Raises
        ------
        InputError
            If the diagnostic cannot use the corpus; the message says what to do.
        """
        ...


@runtime_checkable
class ScoresInParallel(Protocol):
    """Gives work to other processes, which continue while the next encoder encodes."""

    def begin(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin, submit: Submit) -> Pending[ItemScores]:
        """Start the work with ``submit`` and return how the scores are put together; called instead of ``score``."""
        ...


@runtime_checkable
class SearchesWholeDocuments(Protocol):
    """Scores encoders of whole documents, too; see ``Vectors.of_whole_documents``. The others need each passage."""

    @property
    def searches_whole_documents(self) -> bool:
        """True."""
        ...


@runtime_checkable
class SetsSideBySide(Protocol):
    """Compares two corpora; it runs only when it is requested by name."""

    @property
    def pair(self) -> tuple[str, str]:
        """The labels of the two corpora."""
        ...

    def join(self, a: Corpus[Any], b: Corpus[Any], /) -> Corpus[Any]:
        """Return one corpus made of both, of the diagnostic's own shape."""
        ...


@dataclass(frozen=True)
class Outcomes:
    """What the n items of a corpus are grouped by when a sample of them is drawn.

    Attributes
    ----------
    subset
        (n,) the part of the corpus that each item belongs to; empty for none.
    correct
        (encoders, n) 1 right, 0 wrong; anything else is undecided: NaN, or the share of a tie.
    """

    subset: NDArray[np.str_]
    correct: Floats


@runtime_checkable
class ShowsItems(Protocol):
    """Shows single items: their texts, and what each encoder made of them."""

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return which of the encoders that were asked for are right about each item."""
        ...

    def examples(self, corpus: Corpus[Any], scores: Sequence[ItemScores], items: Ints) -> Iterator[Example]:
        """Yield the record of each of these items, and after it one of each encoder.

        Parameters
        ----------
        items
            Indices of the items to show.
        """
        ...


@runtime_checkable
class HasHeadline(Protocol):
    """Has a headline that is a mean over items, so that ``embassay adapt`` and ``check`` can test it for a loss."""

    def headline(self, scores: Sequence[ItemScores]) -> Headline | None:
        """Return the headline's item values for all encoders; None where this corpus has none."""
        ...


@runtime_checkable
class HasItemMetrics(Protocol):
    """Has further metrics that are means over items, so that ``embassay check`` can test them for a loss."""

    def item_metrics(self, scores: Sequence[ItemScores]) -> Iterator[ItemMetric]:
        """Yield the item values of each metric for all encoders; they may repeat the headline."""
        ...
