"""Is "not innocent" nearer to "guilty" than "innocent" is?

Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases: Analysing Semantic Similarity
With Antonyms and Negation Using the New SemAntoNeg Benchmark", BlackboxNLP. An input and three candidates:
``antonym`` (one word replaced by its opposite), ``polarity`` (negation put in or taken out) and
``paraphrase`` (both). The candidate with the largest cosine is chosen; the paraphrase is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.data import SEMANTONEG_V1
from embassay.diagnostics.base import Meaning, candidates_of, comparisons, pools_of, roles_of, row, share_row, verdict
from embassay.diagnostics.negated_antonyms.published import beside_published, hardest_published
from embassay.diagnostics.published import table
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
from embassay.samples.choice import Choice
from embassay.stats.best import rank_means
from embassay.stats.families import compare_means
from embassay.stats.noninferiority import Headline
from embassay.stats.resample import ABSENT, mean
from embassay.stats.shares import PooledShare, shares_of_encoders
from embassay.stats.units import Floats
from embassay.types import Corpus, Draws, ItemScores, Origin
from embassay.vectors import Vectors

NAME = "negated_antonyms"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
HEADLINE = ("accuracy", "all")
MEANING = Meaning("negated antonyms", "entries", 0.02, lower=("chosen_antonym", "chosen_polarity"))
KINDS = ("antonym", "polarity", "paraphrase")
CHANCE = 1 / 3
TIE = 1e-12
"""Cosines this near are tied: the rounding of a float64 cosine, far below what float32 vectors can tell."""
SHOWN = 12
"""How many of the entries that all encoders get wrong are shown with their texts."""


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
        roles = roles_of(scores, all_pairs=self.compare == "all")
        found = {
            key: compare_means(values, unit, roles, draws, NAME, corpus, of_shares=key[0] != "similarity")
            for key, values in quantities.items()
        }
        standings = rank_means(candidates_of(scores, quantities[HEADLINE]), unit, draws, NAME, corpus)
        wrong = _wrong_by_all(own)
        shares, pools = shares_of_encoders(map(_shares, views), unit), pools_of(scores)
        headline = {
            view.encoder: (view.right, own_shares[HEADLINE].estimate)
            for view, own_shares in zip(views, shares, strict=True)
        }
        notes = [_finding(view, headline[view.encoder][1]) for view in own]
        return Result(
            draws.seed,
            draws.resamples,
            rows=tuple(
                r
                for view, own_shares in zip(views, shares, strict=True)
                for r in _rows(view, own_shares, pools[view.encoder], draws)
            ),
            comparisons=tuple(c for key, ds in found.items() for c in comparisons(scores[0], *key, ds)),
            series=(
                _hardest(own, wrong),
                *_hardest_for_best(own, _above_chance(standings.best_set, headline)),
                *_published(own, headline),
            ),
            examples=tuple(_examples(own, wrong)),
            verdicts=(verdict(scores, headline, "accuracy", found[HEADLINE], standings, chance=CHANCE, notes=notes),),
        )

    def headline(self, scores: Sequence[ItemScores]) -> Headline:
        """Return the item values of the headline, which a test of "not worse" rests on."""
        views = [_View(s, choices(s.values["cosine"])) for s in scores]
        values = {v.encoder: v.right for v in views}
        return Headline(HEADLINE[0], MEANING.margin, values, scores[0].unit, (NAME, views[0].corpus_key))


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


def _shares(view: _View) -> dict[tuple[str, str], Floats]:
    """Return the (n,) items of each share by quantity and subset."""
    found = {HEADLINE: view.right}
    for place, kind in enumerate(KINDS):
        found["chosen", kind] = view.chosen[:, place]
    for name, inside in _subsets(view.scores):
        found["accuracy", name] = np.where(inside, view.right, ABSENT)
    return found


def _rows(view: _View, shares: Mapping[tuple[str, str], PooledShare], pool: str, draws: Draws) -> Iterator[Row]:
    scores, unit = view.scores, view.scores.unit
    for (quantity, subset), found in shares.items():
        yield share_row(scores, draws, quantity, subset, found, pool)
        if quantity == "chosen":
            cosine = scores.values["cosine"][:, KINDS.index(subset)]
            yield row(scores, draws, "similarity", subset, mean(cosine, unit, draws, NAME, view.corpus_key))


def _wrong_by_all(views: Sequence[_View]) -> NDArray[np.bool_]:
    """(n,) true where every encoder is defined and none chose the paraphrase, not even in a tie."""
    return np.asarray(np.all([view.right == 0 for view in views], axis=0))


HARDEST = {"words": "text", "part of speech": "text", "wrong by all": "count", "entries": "count"}


def _hardest(views: Sequence[_View], wrong: NDArray[np.bool_], name: str = "wrong_by_all") -> Series:
    """Count, for each word pair, the entries that all these encoders get wrong."""
    subset = views[0].subset
    total = Counter(subset.tolist())
    rows = [[*pair.split(":", 1)[::-1], count, total[pair]] for pair, count in _ranked(subset[wrong])]
    found = table(NAME, views[0].scores.origin.corpus, name, HARDEST, rows)
    counts = {"encoders": [view.encoder for view in views], "wrong": int(wrong.sum()), "entries": len(wrong)}
    return replace(found, data={**found.data, **counts})


def _above_chance(best: Sequence[str], headline: Mapping[str, tuple[Floats, Estimate]]) -> Sequence[str]:
    """Return the best set, or nothing where even its first lies below chance: nothing may be the best then."""
    if not best:
        return ()
    accuracy = headline[best[0]][1]
    return () if accuracy.high is not None and accuracy.high < CHANCE else best


def _hardest_for_best(views: Sequence[_View], best: Sequence[str]) -> Iterator[Series]:
    """Count the same for the encoders that may be the best, and on the released corpus beside the paper's counts.

    Vahtola et al. (section 6) look at what their 12 best models (table 7) all get wrong. Where every encoder may be the
    best, the table of all encoders says it already.
    """
    chosen = [view for view in views if view.encoder in best]
    if not chosen:
        return
    wrong = _wrong_by_all(chosen)
    if len(chosen) < len(views):
        yield _hardest(chosen, wrong, "wrong_by_best")
    if views[0].corpus_key == SEMANTONEG_V1:
        yield hardest_published(NAME, views[0].scores.origin.corpus, Counter(chosen[0].subset[wrong].tolist()))


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


def _published(views: Sequence[_View], headline: Mapping[str, tuple[Floats, Estimate]]) -> Iterator[Series]:
    """Set the measured accuracies beside those that the paper prints, on its corpus only."""
    if views[0].corpus_key == SEMANTONEG_V1:
        accuracy = {v.encoder: (v.scores.origin.spec, headline[v.encoder][1].value) for v in views}
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
            note="Paired on the same entries; signs of whole units flipped; p corrected by Holm within each question.",
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
        SeriesTable(
            "Hardest words: entries that all encoders of the best set get wrong",
            "wrong_by_best",
            note="Of the encoders that may be the best, as the verdict names them.",
        ),
        SeriesTable(
            "The paper's figures: what its 12 best models all get wrong, and your best set",
            "published_hardest",
            note="The paper's best: 83.2% to 93.6% (table 7).",
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
