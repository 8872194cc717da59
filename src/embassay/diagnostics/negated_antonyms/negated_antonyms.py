"""Is "not innocent" nearer to "guilty" than "innocent" is?

Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases: Analysing Semantic Similarity
With Antonyms and Negation Using the New SemAntoNeg Benchmark", BlackboxNLP. An entry has an input and three candidates:
``antonym`` (one word replaced by its opposite), ``polarity`` (negation added or removed) and ``paraphrase`` (both). The
encoder chooses the candidate with the largest cosine; only the paraphrase is right. The headline is the ``accuracy``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.claims import COUNT, INTERVAL, LIMIT, TWO_INTERVALS, Template
from embassay.core.data import SEMANTONEG_V1
from embassay.core.layout import (
    Column,
    ComparisonTable,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    PointsChart,
    SeriesTable,
    ShareBars,
    SubsetTable,
)
from embassay.core.result import Example, Finding, Result, Row, Series
from embassay.core.samples.choice import Choice
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics.base import Outcomes
from embassay.diagnostics.findings import PublishedShare, against_chance, beside_paper, written
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.scoreboard import (
    View,
    item_example,
)
from embassay.diagnostics.metrics.summary import Figures
from embassay.diagnostics.negated_antonyms.published import (
    beside_published,
    hardest_published,
    measured_groups,
    published_model,
)
from embassay.diagnostics.published import table
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.units import Floats

CITATION = """@inproceedings{vahtola2022,
  author = {Vahtola, Teemu and Creutz, Mathias and Tiedemann, J{\\"o}rg},
  title = {It Is Not Easy To Detect Paraphrases: Analysing Semantic Similarity With Antonyms and Negation
           Using the New {SemAntoNeg} Benchmark},
  booktitle = {Proceedings of the Fifth BlackboxNLP Workshop on Analyzing and Interpreting Neural Networks for NLP},
  year = {2022},
  doi = {10.18653/v1/2022.blackboxnlp-1.20}
}"""
NAME = "negated_antonyms"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("negated antonyms", "entries", about=("negation",))
KINDS = ("antonym", "polarity", "paraphrase")
"""The candidates, in the order of the columns of every (n, 3) array."""
CHANCE = 1 / 3
TIE = 1e-12
"""Cosines that differ by at most this are tied: the rounding of a float64 cosine, far below float32 precision."""
HARDEST = {"words": "text", "part of speech": "text", "wrong by all": "count", "entries": "count"}
"""The columns of the tables of hardest word pairs, with their formats."""

NOTHING_CHOSEN = Template(
    "{encoder} chooses nothing: {accuracy.reason}.",
    "every entry is undefined",
    LIMIT,
    title="Undefined",
    question="Notices a not?",
    severity="medium",
)
TOO_FEW_UNITS = Template(
    "{encoder} chooses the right paraphrase in {right} of {accuracy.items:,} entries; {accuracy.reason}{undefined}.",
    "there are too few units for an interval",
    COUNT,
    title="Too few units to tell",
    question="Notices a not?",
)
ABOVE_CHANCE = Template(
    "{encoder} chooses the right paraphrase in {right} of {accuracy.items:,} entries (random choice: {chance:.1%})"
    "{undefined}.",
    "the interval of the accuracy lies above chance",
    INTERVAL,
    title="Better than chance at negated antonyms",
    question="Notices a not?",
)
NOT_SHOWN = Template(
    "{encoder} chooses the right paraphrase in {right} of {accuracy.items:,} entries, which is not shown to differ "
    "from chance ({chance:.1%}){undefined}.",
    "the interval contains chance",
    INTERVAL,
    "not shown",
    title="Not shown to understand negated antonyms",
    question="Notices a not?",
    severity="medium",
)
CONTRARY_CHOSEN = replace(
    ABOVE_CHANCE,
    when="the interval of the accuracy lies below chance",
    title="The contrary is chosen",
    severity="high",
    consequence="In search, a text that says the contrary may stand above one that agrees.",
)
NEGATIONS_CONFUSED = Template(
    "{encoder} chooses the sentence with only a negation added or removed in {chosen} of {row.items:,} entries, and "
    "the right paraphrase in {right} (random choice: {chance:.1%}){undefined}.",
    "the same, and this sentence is chosen more often than the one with an opposite",
    TWO_INTERVALS,
    title="Negations are confused",
    question="Notices a not?",
    severity="high",
    consequence="In search, 'is not covered by the warranty' may stand first for 'is covered'.",
)
OPPOSITES_CONFUSED = replace(
    NEGATIONS_CONFUSED,
    text="{encoder} chooses the sentence with only one word replaced by its opposite in {chosen} of {row.items:,} "
    "entries, and the right paraphrase in {right} (random choice: {chance:.1%}){undefined}.",
    when="the same, and this sentence is chosen more often than the one with a negation",
    title="Opposites are confused",
    consequence="In search, 'the price rose' may stand first for 'the price fell'.",
)


def create(*, compare: Literal["headline", "all"] = "headline") -> NegatedAntonyms:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which metrics are compared pair by pair: ``headline`` (accuracy) or ``all`` (also what is chosen).
    """
    return NegatedAntonyms(compare)


def choices(cosine: Floats) -> Floats:
    """Return which candidate is chosen: the one with the largest cosine.

    Parameters
    ----------
    cosine
        (n, 3) cosine of the input with antonym, polarity and paraphrase.

    Returns
    -------
    (n, 3) the share of the choice that falls on each: 1 for the largest, 1/t for each of t tied ones; a row
    with an undefined cosine is undefined.
    """
    largest = cosine.max(axis=1, keepdims=True)
    tied = cosine >= largest - TIE
    # No comparison with NaN is true, so nothing is tied where a cosine is undefined. The maximum of 1 avoids a
    # division by 0; the row is set to NaN below.
    number_tied = np.maximum(tied.sum(axis=1, keepdims=True), 1)
    chosen: Floats = tied / number_tied
    undefined = np.isnan(cosine).any(axis=1)
    chosen[undefined] = np.nan
    return chosen


@dataclass(frozen=True)
class ChoiceView(View):
    """One encoder's choices."""

    @cached_property
    def chosen(self) -> Floats:
        """(n, 3) the share of the choice that falls on each kind; see :func:`choices`."""
        return choices(self.scores.values["cosine"])

    @property
    def right(self) -> Floats:
        """(n,) 1 where the paraphrase was chosen, its share in a tie, else 0; NaN where a cosine is undefined."""
        return self.chosen[:, KINDS.index("paraphrase")]

    @property
    def pair(self) -> NDArray[np.str_]:
        """(n,) part of speech and word pair of each entry, ``adjective:bad–good``."""
        return self.scores.labels["subset"]

    def similarity(self, kind: str) -> Floats:
        """Return the (n,) cosines of the inputs with one kind of candidate, in [−1, 1]; NaN where a vector is zero."""
        return self.scores.values["cosine"][:, KINDS.index(kind)]

    @cached_property
    def margin(self) -> Floats:
        """(n,) the cosine with the paraphrase less the larger of the others; positive where it is chosen."""
        return self.similarity("paraphrase") - np.maximum(self.similarity("antonym"), self.similarity("polarity"))


@dataclass(frozen=True)
class NegatedAntonyms:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    shape: str = "choice"
    options: str = ""

    def score(self, corpus: Corpus[Choice], vectors: Vectors, origin: Origin) -> ItemScores:
        """Compute ``cosine``, (n, 3), of each input with its three candidates in the order of ``KINDS``."""
        samples = corpus.samples
        inputs = vectors.take(s.input for s in samples)
        antonyms = vectors.take(s.antonym for s in samples)
        polarities = vectors.take(s.polarity for s in samples)
        paraphrases = vectors.take(s.paraphrase for s in samples)
        cosines = [
            paired_cosine(inputs, antonyms),
            paired_cosine(inputs, polarities),
            paired_cosine(inputs, paraphrases),
        ]
        return ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={
                "subset": np.array([f"{s.part_of_speech}:{s.pair}" for s in samples]),
                "part_of_speech": np.array([s.part_of_speech for s in samples]),
                "negation": np.array([s.negation for s in samples]),
            },
            values={"cosine": np.stack(cosines, axis=1)},
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: accuracy, what was chosen instead, which differences are shown."""
        figures = self.figures(scores)
        requested = figures.requested
        summary = figures.summarise(draws, on_request=self.compare == "all")
        accuracy = summary.headline
        wrong = wrong_by_all(requested)
        return summary.result(
            series=(
                _hardest(requested, wrong),
                *_hardest_for_best(requested, _above_chance(summary.verdict.best_set, accuracy)),
                *_published(requested, accuracy),
            ),
            findings=_findings(requested, accuracy, summary.rows),
        )

    def figures(self, scores: Sequence[ItemScores]) -> Figures[ChoiceView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(ChoiceView, scores, METRICS)

    def outcomes(self, scores: Sequence[ItemScores]) -> Outcomes:
        """Return by which encoders the paraphrase of each entry is chosen; subsets are word pairs."""
        requested = self.figures(scores).requested
        return Outcomes(requested[0].pair, np.stack([view.right for view in requested]))

    def examples(
        self, corpus: Corpus[Choice], scores: Sequence[ItemScores], items: NDArray[np.int64]
    ) -> Iterator[Example]:
        """Yield each entry with the cosine of its candidates and the one that each encoder chooses."""
        views = self.figures(scores).views
        for index in items.tolist():
            pair = str(views[0].pair[index])
            yield item_example(scores[0], index, corpus.shown(str(scores[0].item[index])), pair)
            for view in views:
                cosines = dict[str, float]()
                # Candidates that are exactly as near are chosen together, each with a share.
                chosen = list[str]()
                for kind, share in zip(KINDS, view.chosen[index], strict=True):
                    cosines[kind] = view.similarity(kind)[index]
                    if share > 0:
                        chosen.append(kind)
                labels = dict[str, str]()
                if chosen:
                    labels["chosen"] = " or ".join(chosen)
                yield view.outcome(
                    index,
                    cosines,
                    correct=view.right[index],
                    margin=view.margin[index],
                    subset=pair,
                    labels=labels,
                )


def subsets(view: ChoiceView) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield name and (n,) mask of each subset: parts of speech and negation patterns, if several; word pairs."""
    for label in ("part_of_speech", "negation"):
        label_of_entry = view.scores.labels[label]
        names = [name for name in np.unique(label_of_entry).tolist() if name]
        # A single subset would repeat the row of all entries.
        if len(names) > 1:
            for name in names:
                yield f"{label}:{name}", label_of_entry == name
    for pair in np.unique(view.pair).tolist():
        yield pair, view.pair == pair


def _of_kind(kind: str) -> Iterator[Metric]:
    """Yield how often a kind of candidate is chosen, and how similar it is to its input."""
    yield Metric(
        "chosen",
        kind,
        of=lambda view: view.chosen[:, KINDS.index(kind)],
        kind="share",
        better="higher" if kind == "paraphrase" else "lower",
        compared="on request",
        meaning="share of entries for which this candidate is the nearest",
    )
    yield Metric(
        "similarity",
        kind,
        of=lambda view: view.similarity(kind),
        kind="mean",
        # Only the order of the three similarities is right or wrong.
        better="neither",
        low=-1,
        high=1,
        compared="within one encoder",
        meaning="mean cosine of this candidate with its input",
    )


METRICS = (
    Metric(
        "accuracy",
        of=lambda view: view.right,
        kind="share",
        better="higher",
        headline=True,
        margin=0.02,
        chance=CHANCE,
        says="the right paraphrase is chosen for {value} of the entries",
        meaning="share of entries for which the paraphrase is the nearest candidate",
    ),
    *chain.from_iterable(map(_of_kind, KINDS)),
    Metric(
        "accuracy",
        "*",
        of=lambda view: view.right,
        subsets=subsets,
        kind="share",
        better="higher",
        meaning="accuracy on the entries of one part of speech, negation pattern or pair of words",
    ),
)


def wrong_by_all(views: Sequence[ChoiceView]) -> NDArray[np.bool_]:
    """Return (n,) true where every encoder is defined and none chose the paraphrase, not even in a tie."""
    return np.asarray(np.all([view.right == 0 for view in views], axis=0))


def _most_frequent_first(names: NDArray[np.str_]) -> list[tuple[str, int]]:
    """Return the distinct names with their counts, most frequent first, then alphabetically."""
    counts = Counter(names.tolist())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _hardest(views: Sequence[ChoiceView], wrong: NDArray[np.bool_], name: str = "wrong_by_all") -> Series:
    """Count, for each word pair, the entries that all these encoders get wrong."""
    pairs = views[0].pair
    entries = Counter(pairs.tolist())
    rows = list[list[str | int]]()
    for pair, number_wrong in _most_frequent_first(pairs[wrong]):
        part_of_speech, words = pair.split(":", 1)
        rows.append([words, part_of_speech, number_wrong, entries[pair]])
    series = table(NAME, views[0].corpus, name, HARDEST, rows)
    totals = {
        "encoders": [view.encoder for view in views],
        "wrong": int(wrong.sum()),
        "entries": len(wrong),
    }
    return replace(series, data={**series.data, **totals})


def _above_chance(best_set: Sequence[str], accuracy: Mapping[str, Row]) -> Sequence[str]:
    """Return the best set; nothing where even its first encoder lies below chance, as none may be the best then."""
    if best_set and against_chance(accuracy[best_set[0]], CHANCE) == "below":
        return ()
    return best_set


def _hardest_for_best(views: Sequence[ChoiceView], best_set: Sequence[str]) -> Iterator[Series]:
    """Yield which word pairs are hardest for the encoders that may be the best; also beside the paper's counts.

    Vahtola et al. (section 6) look at what their 12 best models (table 7) all get wrong; their counts are shown for the
    released corpus only. Where every encoder may be the best, the table of :func:`_hardest` for all encoders has the
    same content, so it is left out.
    """
    best = [view for view in views if view.encoder in best_set]
    if not best:
        return
    wrong = wrong_by_all(best)
    if len(best) < len(views):
        yield _hardest(best, wrong, "wrong_by_best")
    if best[0].scores.origin.corpus_fingerprint == SEMANTONEG_V1:
        yield hardest_published(NAME, best[0].corpus, Counter(best[0].pair[wrong].tolist()))


def _published(views: Sequence[ChoiceView], accuracy: Mapping[str, Row]) -> Iterator[Series]:
    """Show the accuracies by group, and on the paper's corpus beside those that it prints."""
    accuracies = {view.encoder: accuracy[view.encoder].value for view in views}
    yield from measured_groups(accuracies, {view.encoder: view.scores.origin for view in views})
    if views[0].scores.origin.corpus_fingerprint != SEMANTONEG_V1:
        return
    measured = dict[str, tuple[Origin, float]]()
    for view in views:
        value = accuracies[view.encoder]
        if value is not None:
            measured[view.encoder] = (view.scores.origin, value)
    yield from beside_published(NAME, views[0].corpus, measured)


def _findings(views: Sequence[ChoiceView], accuracy_of: Mapping[str, Row], rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield how each encoder compares with chance, and which published accuracies differ from those measured here."""
    shares = []
    for view in views:
        accuracy = accuracy_of[view.encoder]
        yield _finding(view, accuracy, rows)
        origin = view.scores.origin
        model = published_model(origin)
        if model and origin.corpus_fingerprint == SEMANTONEG_V1:
            shares.append(PublishedShare(accuracy, str(model["accuracy"]), model["name"]))
    yield from beside_paper(views[0].scores.origin, shares, "SemAntoNeg", "Vahtola et al. (2022)")


def _finding(view: ChoiceView, accuracy: Row, rows: Sequence[Row]) -> Finding:
    """Compare an encoder's accuracy with chance; below chance, name what it chooses instead."""
    texts: dict[str, Any] = {
        "encoder": view.encoder,
        "accuracy": accuracy,
        "chance": CHANCE,
        "undefined": "",
        "right": "",
    }
    if accuracy.value is None:
        return NOTHING_CHOSEN.finding(accuracy, **texts)
    texts["right"] = written(accuracy)
    if accuracy.undefined:
        texts["undefined"] = f"; {accuracy.undefined:,} of {len(view.right):,} entries are undefined"
    template = {"": TOO_FEW_UNITS, "above": ABOVE_CHANCE, "both": NOT_SHOWN}.get(against_chance(accuracy, CHANCE))
    if template is not None:
        return template.finding(accuracy, **texts)

    # Which of the two is chosen more often is said only where their intervals do not overlap. The standard error of a
    # difference is at most the sum of both, so this holds its level however the two depend on each other.
    chosen = {r.subset: r for r in rows if (r.encoder, r.metric) == (view.encoder, "chosen")}
    polarity, antonym = chosen["polarity"], chosen["antonym"]
    if (polarity.low or 0.0) > (antonym.high or 1.0):
        return NEGATIONS_CONFUSED.finding(polarity, **texts, row=polarity, chosen=written(polarity))
    if (antonym.low or 0.0) > (polarity.high or 1.0):
        return OPPOSITES_CONFUSED.finding(antonym, **texts, row=antonym, chosen=written(antonym))
    return CONTRARY_CHOSEN.finding(accuracy, **texts)


_ACCURACY = Column("accuracy", "accuracy")
LAYOUT = Layout(
    title="Negated antonyms",
    question='Does the encoder know that "not innocent" means "guilty", and "innocent" the contrary?',
    headline=EncoderTable(
        "What each encoder chooses",
        (
            _ACCURACY,
            Column("takes antonym", "chosen", "antonym"),
            Column("takes polarity", "chosen", "polarity"),
        ),
        note="Accuracy: the paraphrase (word and negation changed) is the nearest candidate of three; chance 33.3%. "
        "Two ways of being wrong: the antonym (only the word changed), the polarity (only the negation changed).",
    ),
    parts=(
        IntervalChart("Accuracy with its 95% interval", _ACCURACY, CHANCE),
        ShareBars(
            "What is nearest to the input",
            "chosen",
            (
                ("paraphrase", "paraphrase: right"),
                ("antonym", "antonym: only the word changed"),
                ("polarity", "polarity: only the negation"),
            ),
            note="The paper's figure 2.",
        ),
        ComparisonTable(
            "Which differences are shown",
            _ACCURACY,
            note="Paired on the same entries; p by exchanging entries that share labels, corrected within each family.",
        ),
        EncoderTable(
            "How similar each candidate is to its input, on average",
            tuple(Column(kind, "similarity", kind) for kind in KINDS),
            note="Mean cosine. A sentence that means the contrary should be farther away than the paraphrase.",
        ),
        SeriesTable(
            "Hardest words: entries that all encoders get wrong",
            "wrong_by_all",
            note="Of the encoders asked for, baselines left out.",
        ),
        SeriesTable(
            "Hardest words: entries that all encoders of the best set get wrong",
            "wrong_by_best",
            note="Of the encoders that may be the best, as the verdict names them.",
        ),
        Examples(
            "Entry by entry",
            "input",
            texts=(
                ("paraphrase", "paraphrase, right"),
                ("antonym", "antonym: only the word changed"),
                ("polarity", "polarity: only the negation"),
            ),
            columns=(
                ExampleColumn("takes", ("chosen",)),
                ExampleColumn("paraphrase", ("paraphrase",)),
                ExampleColumn("antonym", ("antonym",)),
                ExampleColumn("polarity", ("polarity",)),
            ),
            margin="the cosine with the paraphrase less the larger of the two others",
            note="The cosine of each candidate with the input; the nearest is taken.",
        ),
        SubsetTable(
            "Accuracy by part of speech and negation pattern",
            "accuracy",
            ("part_of_speech:", "negation:"),
        ),
        SubsetTable(
            "Accuracy for each pair of words",
            "accuracy",
            ("all", "part_of_speech:", "negation:"),
            others=True,
        ),
    ),
    source="Vahtola, Creutz & Tiedemann (2022), It Is Not Easy To Detect Paraphrases, BlackboxNLP",
    paper=(
        PointsChart(
            "Published accuracies by fine-tuning objective, and yours",
            "published",
            note="Grey: 114 models as published (the paper's figure 1 and tables 3-6); black tick: a group's mean. "
            "Coloured: yours, measured here, in their group, or as lines if they have none (set group=).",
        ),
        SeriesTable("Published accuracies: spread in each group", "published_groups"),
        SeriesTable("Your accuracies: spread in each group of several encoders", "measured_groups"),
        SeriesTable("Published accuracies and yours, model by model", "published_models"),
        SeriesTable(
            "The paper's figures: what its 12 best models all get wrong, and your best set",
            "published_hardest",
            note="The paper's best: 83.2% to 93.6% (table 7).",
        ),
    ),
)
