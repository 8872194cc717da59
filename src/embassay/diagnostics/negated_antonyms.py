"""Is "not innocent" nearer to "guilty" than "innocent" is?

Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases: Analysing Semantic Similarity
With Antonyms and Negation Using the New SemAntoNeg Benchmark", BlackboxNLP. An input and three candidates:
``antonym`` (one word replaced by its opposite), ``polarity`` (negation put in or taken out) and
``paraphrase`` (both). The candidate with the largest cosine is chosen; the paraphrase is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.data import SEMANTONEG_V1
from embassay.diagnostics._published_antonyms import beside_published
from embassay.diagnostics._rows import comparisons, row, verdict
from embassay.geometry.closeness import paired_cosine
from embassay.layout import (
    Column,
    ComparisonTable,
    EncoderTable,
    Examples,
    IntervalChart,
    Layout,
    PointsChart,
    SeriesTable,
    ShareBars,
    SubsetTable,
)
from embassay.result import Estimate, Example, Result, Row, Series
from embassay.samples import Choice
from embassay.stats.compare import compare as compare_pairs
from embassay.stats.resample import mean
from embassay.stats.shares import share
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "negated_antonyms"
HEADLINE = ("accuracy", "all")
KINDS = ("antonym", "polarity", "paraphrase")
CHANCE = 1 / 3
TIE = 1e-12
"""Cosines this near are tied: the rounding of a float64 cosine, far below what float32 vectors can tell."""
SHOWN = 12
"""How many of the entries that all encoders get wrong are shown with their texts."""
Floats = NDArray[np.float64]


def create(*, compare: Literal["headline", "all"] = "headline") -> NegatedAntonyms:
    """Make the diagnostic.

    Parameters
    ----------
    compare
        Which quantities are compared pair by pair: ``headline`` (accuracy) or ``all`` (also what is chosen
        and how similar each kind is).
    """
    return NegatedAntonyms(compare)


def choices(cosine: Floats) -> Floats:
    """Say which candidate is chosen.

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
    chosen = tied / np.maximum(tied.sum(axis=1, keepdims=True), 1)
    return np.where(np.isnan(cosine).any(axis=1, keepdims=True), np.nan, chosen)


@dataclass(frozen=True)
class NegatedAntonyms:
    """The diagnostic; see the module's documentation."""

    compare: str = "headline"
    shape: str = "choice"
    options: str = ""

    def score(self, corpus: Corpus[Choice], vectors: Vectors, origin: Origin) -> ItemScores:
        """Compute the cosine of each input with its three candidates."""
        samples = corpus.samples
        inputs = vectors.take(s.input for s in samples)
        cosine = np.stack(
            [paired_cosine(inputs, vectors.take(getattr(s, kind) for s in samples)) for kind in KINDS], axis=1
        )
        return ItemScores(
            origin,
            measure="cosine",
            item=np.array([s.id for s in samples]),
            unit=corpus.units,
            labels={
                "subset": np.array([f"{s.part_of_speech}:{s.pair}" for s in samples]),
                "part_of_speech": np.array([s.part_of_speech for s in samples]),
                "negation": np.array([s.negation for s in samples]),
            },
            values={"cosine": cosine},
        )

    def summarise(self, scores: Sequence[ItemScores], draws: Draws) -> Result:
        """Summarise all encoders on one corpus: accuracy, what was chosen instead, which differences are real."""
        views = [_View(s, choices(s.values["cosine"])) for s in scores]
        own = [v for v in views if not v.scores.origin.baseline] or views
        quantities = dict(islice(_quantities(views).items(), None if self.compare == "all" else 1))
        unit, corpus = views[0].scores.unit, views[0].corpus_key
        found = {
            key: compare_pairs(values, unit, draws, NAME, corpus, *key, of_shares=key[0] != "similarity")
            for key, values in quantities.items()
        }
        wrong = _wrong_by_all(own)
        headline = {view.encoder: (view.right, share(view.right, unit)) for view in views}
        notes = [_finding(view, headline[view.encoder][1]) for view in own]
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(r for view in views for r in _rows(view, draws)),
            comparisons=tuple(c for key, ds in found.items() for c in comparisons(scores[0], *key, ds)),
            series=(_hardest(own, wrong), *_published(own)),
            examples=tuple(_examples(own, wrong)),
            verdicts=(verdict(scores, headline, "accuracy", found[HEADLINE], chance=CHANCE, notes=notes),),
        )


@dataclass(frozen=True)
class _View:
    """One encoder's scores with its choices."""

    scores: ItemScores
    chosen: Floats

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus_key(self) -> str:
        """What names the corpus's random streams: its content."""
        return self.scores.origin.corpus_fingerprint

    @property
    def right(self) -> Floats:
        """(n,) 1 where the paraphrase was chosen, its share in a tie."""
        return self.chosen[:, KINDS.index("paraphrase")]

    @property
    def subset(self) -> NDArray[np.str_]:
        """(n,) part of speech and word pair of each entry."""
        return self.scores.labels["subset"]


def _quantities(views: Sequence[_View]) -> dict[tuple[str, str], dict[str, Floats]]:
    """Return what can be compared: {(quantity, subset): {encoder: (n,) values}}, the headline first."""
    found = {HEADLINE: {v.encoder: v.right for v in views}}
    for place, kind in enumerate(KINDS):
        found["chosen", kind] = {v.encoder: v.chosen[:, place] for v in views}
        found["similarity", kind] = {v.encoder: v.scores.values["cosine"][:, place] for v in views}
    return found


def _subsets(scores: ItemScores) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the subsets of entries beyond "all": parts of speech and negation patterns, if several; word pairs."""
    for label in ("part_of_speech", "negation", "subset"):
        names = [str(name) for name in np.unique(scores.labels[label]) if name]
        if len(names) > 1 or label == "subset":
            prefix = "" if label == "subset" else f"{label}:"
            yield from ((prefix + name, scores.labels[label] == name) for name in names)


def _rows(view: _View, draws: Draws) -> Iterator[Row]:
    scores, unit = view.scores, view.scores.unit
    yield row(scores, draws, *HEADLINE, share(view.right, unit))
    for place, kind in enumerate(KINDS):
        cosine = scores.values["cosine"][:, place]
        yield row(scores, draws, "chosen", kind, share(view.chosen[:, place], unit))
        yield row(scores, draws, "similarity", kind, mean(cosine, unit, draws, NAME, view.corpus_key, kind))
    for name, inside in _subsets(scores):
        yield row(scores, draws, "accuracy", name, share(view.right[inside], unit[inside]))


def _wrong_by_all(views: Sequence[_View]) -> NDArray[np.bool_]:
    """(n,) true where every encoder is defined and none chose the paraphrase, not even in a tie."""
    return np.asarray(np.all([view.right == 0 for view in views], axis=0))


def _hardest(views: Sequence[_View], wrong: NDArray[np.bool_]) -> Series:
    """Count, for each word pair, the entries that all encoders get wrong."""
    subset = views[0].subset
    total = Counter(subset.tolist())
    data = {
        "columns": ("words", "part of speech", "wrong by all", "entries"),
        "formats": ("text", "text", "count", "count"),
        "rows": [[*name.split(":", 1)[::-1], count, total[name]] for name, count in _ranked(subset[wrong])],
        "encoders": [view.encoder for view in views],
        "wrong": int(wrong.sum()),
        "entries": len(wrong),
    }
    return Series(NAME, views[0].scores.origin.corpus, "wrong_by_all", "table", data)


def _ranked(names: NDArray[np.str_]) -> list[tuple[str, int]]:
    return sorted(Counter(names.tolist()).items(), key=lambda item: (-item[1], item[0]))


def _examples(views: Sequence[_View], wrong: NDArray[np.bool_]) -> Iterator[Example]:
    """Show entries that all get wrong: one for each of the hardest pairs, then more, never twice a unit."""
    subset, unit = views[0].subset, views[0].scores.unit
    rank = {name: place for place, (name, _) in enumerate(_ranked(subset[wrong]))}
    taken: set[int] = set()
    rounds: Counter[str] = Counter()
    queue = []
    for index in np.flatnonzero(wrong).tolist():
        if unit[index] not in taken:
            taken.add(int(unit[index]))
            queue.append((rounds[subset[index]], rank[subset[index]], index))
            rounds[subset[index]] += 1
    for *_, index in sorted(queue)[:SHOWN]:
        for view in views:
            cosine = view.scores.values["cosine"][index]
            yield Example(
                NAME,
                view.scores.origin.corpus,
                view.encoder,
                str(view.scores.item[index]),
                "wrong by all",
                {},
                dict(zip(KINDS, cosine.tolist(), strict=True)),
            )


def _published(views: Sequence[_View]) -> Iterator[Series]:
    """Set the measured accuracies beside those that the paper prints, on its corpus only."""
    if views[0].corpus_key == SEMANTONEG_V1:
        accuracy = {v.encoder: (v.scores.origin.spec, share(v.right, v.scores.unit).value) for v in views}
        measured = {label: (spec, value) for label, (spec, value) in accuracy.items() if value is not None}
        yield from beside_published(NAME, views[0].scores.origin.corpus, measured)


def _finding(view: _View, accuracy: Estimate) -> str:
    """Say in one sentence how an encoder stands to chance, and what it takes instead."""
    if accuracy.value is None:
        return f"{view.encoder}: {accuracy.reason}"
    left = f"; {accuracy.undefined} of {len(view.right)} entries are undefined" if accuracy.undefined else ""
    if accuracy.low is None or accuracy.high is None:
        return f"{view.encoder}: {accuracy.value:.1%} right; {accuracy.reason}{left}"
    if accuracy.low > CHANCE:
        return f"{view.encoder} is above chance: {accuracy.value:.1%} right, blind choice has {CHANCE:.1%}{left}"
    if accuracy.high >= CHANCE:
        return f"{view.encoder} cannot be told from chance ({CHANCE:.1%}): {accuracy.value:.1%} right{left}"
    shares = np.nanmean(view.chosen, axis=0)
    changed = {"antonym": "word", "polarity": "negation"}[KINDS[int(shares[:2].argmax())]]
    return (
        f"{view.encoder} is below chance: in {shares[:2].max():.1%} of the entries "
        f"the nearest sentence is the one in which only the {changed} changed{left}"
    )


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
        ),
        ComparisonTable(
            "Which differences are real",
            _ACCURACY,
            note="Paired on the same entries; signs of whole units flipped; p corrected by Holm over all pairs.",
        ),
        EncoderTable(
            "How similar each candidate is to its input, on average",
            tuple(Column(kind, "similarity", kind, "number") for kind in KINDS),
            note="Mean cosine. A sentence that means the contrary should be farther away than the paraphrase.",
        ),
        PointsChart(
            "Published accuracies by fine-tuning objective, and yours",
            "published",
            note="Grey: 114 models as published (the paper's figure 1 and tables 3-6); black tick: a group's mean. "
            "Coloured lines: yours, measured here.",
        ),
        SeriesTable("Published accuracies: spread in each group", "published_groups"),
        SeriesTable("Published accuracies and yours, model by model", "published_models", folded=True),
        SeriesTable("Models that are both published and measured", "published_and_measured"),
        SeriesTable(
            "Hardest words: entries that all encoders get wrong",
            "wrong_by_all",
            note="Of the encoders asked for, baselines left out.",
        ),
        Examples(
            "Entries that all encoders get wrong",
            "wrong by all",
            "input",
            (("paraphrase", "paraphrase, right"), ("antonym", "antonym"), ("polarity", "polarity")),
            note="The cosine of each candidate with the input; the nearest in bold.",
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
            folded=True,
        ),
    ),
    source="Vahtola, Creutz & Tiedemann (2022), It Is Not Easy To Detect Paraphrases, BlackboxNLP",
)
