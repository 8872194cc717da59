"""Does the similarity of two texts depend on their lengths?

Random pairs of unrelated texts are compared. Length says nothing about what such texts mean, so their cosine should not
follow it. The bias is Spearman's correlation of the cosine with the difference of the two lengths, in words: 0 for
none; negative where the cosine falls, positive where it grows as lengths differ more. The larger its absolute value,
the larger the bias. A large difference needs a long text, so the correlation with the sum of the lengths stands beside
it, and the mean cosines of pairs of about equal and of unequal length, whatever that length is.

Texts of one unit of the corpus depend on each other. So units are joined two by two, each in one couple only, and every
pair has one text of either; couples are then independent, and they are what intervals resample. Where there are
documents, each of them is a unit, and only their passages are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import embassay as ea
from embassay.plugin import (
    ABSENT,
    INTERVAL,
    Column,
    ComparisonTable,
    EncoderTable,
    Figures,
    GroupedBars,
    Layout,
    Metric,
    SpecError,
    Template,
    View,
    generator,
    paired_cosine,
    written,
)

NAME = "length_bias"
EQUAL = 1.1
"""Lengths are about equal where the longer text has at most this many times the words of the shorter."""
UNEQUAL = 1.5
"""Lengths are unequal where the longer text has at least this many times the words of the shorter."""
MOST_COUPLES = 2_000
"""More couples of units are not looked at: the interval is narrow by then."""
DEFAULT_PAIRS = 5


def create(*, pairs: int = DEFAULT_PAIRS, pair_seed: int = 0) -> ea.Diagnostic:
    """Make the diagnostic. The keyword-only parameters are its options.

    Parameters
    ----------
    pairs
        Pairs of texts from each couple of units, at most; 1 or more.
    pair_seed
        Of the random pairs, 0 or more. The seed of a run draws the resamples only: scores do not depend on it.
    """
    if pairs < 1:
        raise SpecError(f"diagnostic {NAME!r}, option 'pairs': must be 1 or more, is {pairs}")
    if pair_seed < 0:
        raise SpecError(f"diagnostic {NAME!r}, option 'pair_seed': must be 0 or more, is {pair_seed}")
    return LengthBias(pairs, pair_seed)


@dataclass(frozen=True)
class LengthBias:
    """The diagnostic; see the module's documentation."""

    pairs: int
    pair_seed: int
    shape: str = "any"

    @property
    def options(self) -> str:
        """The options that are not at their defaults: they stand in every signature."""
        options = {"pairs": (self.pairs, DEFAULT_PAIRS), "pair_seed": (self.pair_seed, 0)}
        return ",".join(f"{name}={value}" for name, (value, default) in options.items() if value != default)

    def score(self, corpus: ea.Corpus[Any], vectors: ea.Vectors, origin: ea.Origin) -> ea.ItemScores:
        """Compute the cosine and the lengths of each pair. The same pairs are drawn for every encoder."""
        units = _texts_by_unit(corpus)
        drawn = list(_draw(units, self.pairs, generator(self.pair_seed, NAME, corpus.fingerprint)))
        first = [vectors.row[a] for _, a, _ in drawn]
        second = [vectors.row[b] for _, _, b in drawn]
        lengths = np.array([[len(a[1].split()), len(b[1].split())] for _, a, b in drawn], dtype=np.float64)
        lengths = lengths.reshape(-1, 2)
        return ea.ItemScores(
            origin,
            similarity_function="cosine",
            item=np.array([str(place) for place in range(len(drawn))], dtype=np.str_),
            unit=np.array([couple for couple, _, _ in drawn], dtype=np.int64),
            labels={},
            values={
                "cosine": paired_cosine(vectors.matrix[first], vectors.matrix[second]),
                "difference": np.abs(lengths[:, 0] - lengths[:, 1]),
                "sum": lengths.sum(axis=1),
                "ratio": lengths.max(axis=1) / np.maximum(lengths.min(axis=1), 1.0),
            },
        )

    def figures(self, scores: Sequence[ea.ItemScores]) -> Figures[PairsView]:
        """Return the declared metrics of all encoders."""
        return Figures.of(PairsView, scores, METRICS)

    def summarise(self, scores: Sequence[ea.ItemScores], draws: ea.Draws) -> ea.Result:
        """Estimate the bias of all encoders on one corpus, and compare them."""
        summary = self.figures(scores).summarise(draws)
        requested = {s.origin.encoder for s in scores if not s.origin.baseline}
        findings = list[ea.Finding]()
        for row in summary.rows:
            if row.metric in IN_WORDS and row.encoder in requested:
                findings += _findings(row)
        return summary.result(findings=findings)


class PairsView(View):
    """One encoder's cosines of the pairs."""

    @property
    def cosine(self) -> NDArray[np.float64]:
        """(n,) the cosine of each pair; NaN where a vector is zero."""
        return self.scores.values["cosine"]

    def cosine_where(self, inside: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the (n,) cosines of the pairs inside a mask; ABSENT for the others."""
        return np.where(inside, self.cosine, ABSENT)


METRICS = (
    # 0 is best, so neither higher nor lower values are better.
    Metric(
        "spearman_difference",
        kind="correlation",
        correlation="spearman",
        better="neither",
        of=lambda view: view.cosine,
        against=lambda view: view.scores.values["difference"],
        compared="always",
        meaning="correlation of the cosine with the difference of the lengths; 0: no bias",
    ),
    Metric(
        "spearman_sum",
        kind="correlation",
        correlation="spearman",
        better="neither",
        of=lambda view: view.cosine,
        against=lambda view: view.scores.values["sum"],
        compared="always",
        meaning="correlation of the cosine with the sum of the lengths; 0: no bias",
    ),
    Metric(
        "mean_cosine",
        "equal",
        kind="mean",
        better="neither",
        of=lambda view: view.cosine_where(view.scores.values["ratio"] <= EQUAL),
        low=-1.0,
        high=1.0,
        # Cosines of two encoders have no common scale.
        compared="within one encoder",
        meaning="mean cosine of pairs of about equal length",
    ),
    Metric(
        "mean_cosine",
        "unequal",
        kind="mean",
        better="neither",
        of=lambda view: view.cosine_where(view.scores.values["ratio"] >= UNEQUAL),
        low=-1.0,
        high=1.0,
        compared="within one encoder",
        meaning="mean cosine of pairs of unequal length",
    ),
)
"""What it measures: rows with their intervals and the comparisons of encoders follow from it."""
IN_WORDS = {
    "spearman_difference": "as the lengths differ more",
    "spearman_sum": "with the length of both texts",
}
"""How a finding says what the cosine changes with, by metric."""


def _texts_by_unit(corpus: ea.Corpus[Any]) -> list[list[ea.Text]]:
    """Return the distinct texts of each document, where there are documents; else of each unit of samples."""
    unit_of = dict[ea.Text, int]()
    for place, document in enumerate(corpus.documents):
        for passage in document.passages:
            unit_of.setdefault(("document", passage), place)
    if not corpus.documents:
        for unit, sample in zip(corpus.units.tolist(), corpus.samples, strict=True):
            unit_of.update(dict.fromkeys(sample.texts(), unit))
    texts = dict[int, list[ea.Text]]()
    for text, unit in unit_of.items():
        texts.setdefault(unit, []).append(text)
    return list(texts.values())


def _draw(
    units: Sequence[Sequence[ea.Text]], most: int, random: np.random.Generator
) -> Iterator[tuple[int, ea.Text, ea.Text]]:
    """Yield (couple, text of one unit, text of the other), ``most`` different pairs of each couple at most."""
    order = random.permutation(len(units)).tolist()
    couples = list(zip(order[0::2], order[1::2], strict=False))
    for couple, (a, b) in enumerate(couples[:MOST_COUPLES]):
        possible = len(units[a]) * len(units[b])
        for pair in random.choice(possible, size=min(most, possible), replace=False).tolist():
            yield couple, units[a][pair // len(units[b])], units[b][pair % len(units[b])]


CHANGES = Template(
    "{encoder}: the cosine of unrelated texts {verb} {words} (Spearman {size}).",
    "the interval does not contain 0",
    INTERVAL,
    title="The cosine {verb} {words}",
    severity="medium",
    consequence="A threshold on the cosine is then not the same for short and for long texts.",
)
NOT_SHOWN = Template(
    "{encoder}: the cosine of unrelated texts is not shown to change {words} (Spearman {size}).",
    "the interval contains 0",
    INTERVAL,
    "not shown",
    title="No change is shown {words}",
)


def _findings(bias: ea.Row) -> Iterator[ea.Finding]:
    """Yield one finding; nothing where no value or no interval is defined."""
    if bias.value is None or bias.low is None or bias.high is None:
        return
    template = NOT_SHOWN if bias.low <= 0 <= bias.high else CHANGES
    verb = "grows" if bias.value > 0 else "falls"
    fields = {"encoder": bias.encoder, "words": IN_WORDS[bias.metric], "verb": verb}
    yield template.finding(bias, style="number", size=written(bias, "number"), **fields)


_DIFFERENCE = Column("with difference", "spearman_difference")
LAYOUT = Layout(
    title="Length bias",
    question="Does the similarity of two texts depend on their lengths?",
    headline=EncoderTable(
        "Similarity of unrelated texts by their lengths",
        (
            _DIFFERENCE,
            Column("with sum", "spearman_sum"),
            Column("equal length", "mean_cosine", "equal"),
            Column("unequal length", "mean_cosine", "unequal"),
        ),
        note="With difference, with sum: Spearman's correlation of the cosine with the difference and with the sum of "
        "the two lengths in words, over random pairs; 0: no bias. Then the mean cosine. Equal length: the longer text "
        f"has at most {EQUAL:g} times the words of the shorter; unequal: at least {UNEQUAL:g} times.",
    ),
    parts=(
        GroupedBars(
            "Mean cosine of unrelated texts",
            "mean_cosine",
            (("equal", "about equal length"), ("unequal", "unequal length")),
            note="The further apart an encoder's two bars, the more it looks at length.",
        ),
        ComparisonTable(
            "Which encoders differ in the correlation with the difference",
            _DIFFERENCE,
            note="Paired on the same pairs of texts.",
        ),
    ),
    source="an example; see its README",
)
