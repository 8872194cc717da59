"""Is "not innocent" nearer to "guilty" than "innocent" is?

Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases: Analysing Semantic Similarity
With Antonyms and Negation Using the New SemAntoNeg Benchmark", BlackboxNLP. An entry has an input and three candidates:
``antonym`` (one word replaced by its opposite), ``polarity`` (negation added or removed) and ``paraphrase`` (both). The
encoder chooses the candidate with the largest cosine; only the paraphrase is right. The headline is the ``accuracy``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from embassay.core.claims import TWO_INTERVALS
from embassay.core.layout import Curves, Drawings, GroupedBars, SeriesTable
from embassay.core.result import Finding, Series
from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.core.vectors import Vectors
from embassay.diagnostics.findings import against_chance, than_chance, written
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored, by_label
from embassay.diagnostics.metrics.metric import Meaning, Metric
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.published import table
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.units import Bools, Floats

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
CHANCES = than_chance(
    "{encoder} chooses the right paraphrase in {value} of {items:,} entries (random choice: {chance:.1%}){undefined}.",
    "Notices a not?",
    above="Better than chance at negated antonyms",
    both="Not shown to understand negated antonyms",
    below="The contrary is chosen",
    consequence="In search, a text that says the contrary may stand above one that agrees.",
)
CHANCES["both"] = replace(
    CHANCES["both"],
    text="{encoder} chooses the right paraphrase in {value} of {items:,} entries, which is not shown to differ from "
    "chance ({chance:.1%}){undefined}.",
)
NEGATIONS_CONFUSED = replace(
    CHANCES["below"],
    text="{encoder} chooses the sentence with only a negation added or removed in {chosen} of {items:,} entries, and "
    "the right paraphrase in {value} (random choice: {chance:.1%}){undefined}.",
    when="the interval lies below chance, and this sentence is chosen more often than the one with an opposite",
    procedure=TWO_INTERVALS,
    title="Negations are confused",
    consequence="In search, 'is not covered by the warranty' may stand first for 'is covered'.",
)
OPPOSITES_CONFUSED = replace(
    NEGATIONS_CONFUSED,
    text=NEGATIONS_CONFUSED.text.replace("a negation added or removed", "one word replaced by its opposite"),
    when="the interval lies below chance, and this sentence is chosen more often than the one with a negation",
    title="Opposites are confused",
    consequence="In search, 'the price rose' may stand first for 'the price fell'.",
)


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
    tied = cosine >= cosine.max(axis=1, keepdims=True) - TIE
    # No comparison with NaN is true, so nothing is tied where a cosine is undefined. The maximum of 1 avoids a
    # division by 0; the row is set to NaN below.
    chosen: Floats = tied / np.maximum(tied.sum(axis=1, keepdims=True), 1)
    chosen[np.isnan(cosine).any(axis=1)] = np.nan
    return chosen


class ChoiceView(ItemView):
    """One encoder's choices."""

    @property
    def cosine(self) -> Floats:
        """(n, 3) cosines of the inputs with their candidates, in [−1, 1]; NaN where a vector is zero."""
        return self.scores.values["cosine"]

    @cached_property
    def chosen(self) -> Floats:
        """(n, 3) the share of the choice that falls on each kind; see :func:`choices`."""
        return choices(self.cosine)

    @property
    def right(self) -> Floats:
        """(n,) 1 where the paraphrase was chosen, its share in a tie, else 0; NaN where a cosine is undefined."""
        return self.chosen[:, 2]

    @property
    def margin(self) -> Floats:
        """(n,) the cosine with the paraphrase less the larger of the others; positive where it is chosen."""
        return self.cosine[:, 2] - np.maximum(self.cosine[:, 0], self.cosine[:, 1])

    def shown(self, index: int) -> Shown:
        """Return the cosines of an entry, and what is chosen; candidates exactly as near are chosen together."""
        chosen = " or ".join(np.array(KINDS)[self.chosen[index] > 0])
        return dict(zip(KINDS, self.cosine[index], strict=True)), {"chosen": chosen} if chosen else {}


def subsets(view: ChoiceView) -> Iterator[tuple[str, Bools]]:
    """Yield name and (n,) mask of each part of speech and negation pattern, if there are several, and of word pairs."""
    for label in ("part_of_speech", "negation"):
        yield from by_label(view.scores.labels[label], f"{label}:")
    yield from by_label(view.subset, alone=True)


def _of_kind(column: int, kind: str) -> tuple[Metric, Metric]:
    """Return how often a kind of candidate is chosen, and how similar it is to its input."""
    chosen = Metric(
        "chosen",
        kind,
        of=lambda view: view.chosen[:, column],
        kind="share",
        better="higher" if kind == "paraphrase" else "lower",
        compared="on request",
        meaning="share of entries for which this candidate is the nearest",
    )
    similarity = Metric(
        "similarity",
        kind,
        of=lambda view: view.cosine[:, column],
        kind="mean",
        # Only the order of the three similarities is right or wrong.
        better="neither",
        low=-1,
        high=1,
        compared="within one encoder",
        meaning="mean cosine of this candidate with its input",
    )
    return chosen, similarity


ACCURACY = Metric(
    "accuracy",
    of=lambda view: view.right,
    kind="share",
    better="higher",
    headline=True,
    margin=0.02,
    chance=CHANCE,
    says="the right paraphrase is chosen for {value} of the entries",
    meaning="share of entries for which the paraphrase is the nearest candidate",
)
METRICS = (
    ACCURACY,
    *(metric for column, kind in enumerate(KINDS) for metric in _of_kind(column, kind)),
    Metric(
        "accuracy",
        "*",
        of=ACCURACY.of,
        subsets=subsets,
        kind="share",
        better="higher",
        meaning="accuracy on the entries of one part of speech, negation pattern or pair of words",
    ),
)
DRAWINGS = Drawings(
    "Vahtola, Creutz & Tiedemann (2022), It Is Not Easy To Detect Paraphrases, BlackboxNLP",
    (
        GroupedBars(
            "What is nearest to the input",
            "chosen",
            tuple((kind, kind) for kind in KINDS),
            note="The paper's figure 2. Paraphrase: right. Antonym: only the word changed. Polarity: only the "
            "negation.",
        ),
        SeriesTable("Hardest words: entries that all encoders get wrong", "wrong_by_all"),
        SeriesTable("Hardest words: entries that all encoders of the best set get wrong", "wrong_by_best"),
    ),
    (
        Curves("Published accuracies by how models are fine-tuned", "published_by_group", "The paper's figure 1."),
        SeriesTable("Published accuracies and yours, model by model", "published"),
    ),
)


class NegatedAntonyms(ItemMethod):
    """The diagnostic; ``compare=all`` also compares what is chosen."""

    shape = "choice"
    view = ChoiceView
    metrics = METRICS
    chances = CHANCES
    published = "semantoneg"

    def values(self, corpus: Corpus[Choice], vectors: Vectors) -> Stored:
        """Return ``cosine``, (n, 3), of each input with its three candidates in the order of ``KINDS``."""
        samples = corpus.samples
        inputs = vectors.take(s.input for s in samples)
        cosines = []
        for kind in KINDS:
            candidates = vectors.take(getattr(s, kind) for s in samples)
            cosines.append(paired_cosine(inputs, candidates))
        return {
            "cosine": np.stack(cosines, axis=1),
            "subset": np.array([f"{s.part_of_speech}:{s.pair}" for s in samples]),
            "part_of_speech": np.array([s.part_of_speech for s in samples]),
            "negation": np.array([s.negation for s in samples]),
        }

    def findings(self, figures: Figures[ChoiceView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how each encoder's accuracy compares with chance; below chance, what it chooses instead."""
        for view in figures.requested:
            accuracy = about = summary.headline[view.encoder]
            polarity, antonym = (summary.row_of[view.encoder, "chosen", kind, ""] for kind in ("polarity", "antonym"))
            template = None
            # Which is chosen more often is said only where their intervals do not overlap. The standard error of a
            # difference is at most the sum of both, so this holds its level however the two depend on each other.
            if against_chance(accuracy, CHANCE) == "below":
                if (polarity.low or 0.0) > (antonym.high or 1.0):
                    template, about = NEGATIONS_CONFUSED, polarity
                elif (antonym.low or 0.0) > (polarity.high or 1.0):
                    template, about = OPPOSITES_CONFUSED, antonym
            yield self.than_chance(view, ACCURACY, accuracy, template, about, chosen=written(about))

    def series(self, figures: Figures[ChoiceView], summary: MetricSummary) -> Iterable[Series]:
        """Yield which word pairs are hardest for all encoders, and for those that may be the best."""
        views = figures.requested
        yield _hardest(views, "wrong_by_all")
        best = [view for view in views if view.encoder in summary.verdict.best_set]
        # Below chance, none may be the best; where every encoder may be, the table would be the same.
        if best and len(best) < len(views) and against_chance(summary.headline[best[0].encoder], CHANCE) != "below":
            yield _hardest(best, "wrong_by_best")


create = NegatedAntonyms


def _hardest(views: Sequence[ChoiceView], name: str) -> Series:
    """Count, for each word pair, the entries that all these encoders get wrong, not even in a tie."""
    pairs = views[0].subset
    is_missed = np.all([view.right == 0 for view in views], axis=0)
    entries, missed = Counter(pairs.tolist()), Counter(pairs[is_missed].tolist())
    rows = []
    for pair, count in missed.items():
        part_of_speech, _, words = pair.partition(":")
        rows.append([words, part_of_speech, count, entries[pair]])
    rows.sort(key=lambda row: (-row[2], row[1], row[0]))
    return table(NAME, views[0].corpus, name, HARDEST, rows)
