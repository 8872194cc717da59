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
from embassay.diagnostics.findings import finding
from embassay.errors import SpecError
from embassay.geometry.closeness import paired_cosine
from embassay.layout import Column, ComparisonTable, EncoderTable, GroupedBars, Layout
from embassay.metrics.metric import Direction
from embassay.metrics.scoreboard import roles_of
from embassay.metrics.summary import comparisons, row
from embassay.metrics.verdict import unranked
from embassay.randomness import generator
from embassay.stats.correlate import MIN_ITEMS, correlate
from embassay.stats.exchange import compare_correlations
from embassay.stats.resample import ABSENT, means

NAME = "length_bias"
EQUAL = 1.1
"""Lengths are about equal where the longer text has at most this many times the words of the shorter."""
UNEQUAL = 1.5
"""Lengths are unequal where the longer text has at least this many times the words of the shorter."""
MOST_COUPLES = 2_000
"""More couples of units are not looked at: the interval is narrow by then."""
DEFAULT_PAIRS = 5
LENGTHS = {
    "spearman_difference": ("difference", "as the lengths differ more"),
    "spearman_sum": ("sum", "with the length of both texts"),
}
"""By metric what the cosine is correlated with: the name of its values, and how a finding calls it."""

DIRECTIONS: dict[str, Direction] = {
    # 0 is best, so neither higher nor lower values are.
    "spearman_*": "neither",
    "mean_cosine[*]": "neither",
}
"""By pattern of names, which values of a metric are better."""


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

    def summarise(self, scores: Sequence[ea.ItemScores], draws: ea.Draws) -> ea.Result:
        """Estimate the bias of all encoders on one corpus, and compare them."""
        # All encoders saw the same pairs; the stream's name makes all use the same resamples, too.
        unit = scores[0].unit
        purpose = (NAME, scores[0].origin.corpus_fingerprint)
        cosines = {s.origin.encoder: s.values["cosine"] for s in scores}
        rows, compared, findings = list[ea.Row](), list[ea.Comparison](), list[ea.Finding]()

        for metric, (name, words) in LENGTHS.items():
            lengths = scores[0].values[name]
            for s in scores:
                estimate = correlate(lengths, s.values["cosine"], unit, "spearman", draws, *purpose)
                rows.append(row(s, draws, metric, "all", estimate))
                if not s.origin.baseline:
                    findings += _findings(s, rows[-1], words)
            if len(lengths) >= MIN_ITEMS:
                roles = roles_of(scores)
                differences = compare_correlations(lengths, cosines, unit, "spearman", roles, draws, *purpose)
                compared += comparisons(scores[0], metric, "all", differences)

        tables = [_cosines_by_ratio(s) for s in scores]
        for s, estimates in zip(scores, means(tables, unit, draws, *purpose), strict=True):
            for subset, estimate in zip(("equal", "unequal"), estimates, strict=True):
                rows.append(row(s, draws, "mean_cosine", subset, estimate))
        return ea.Result(
            draws.seed,
            draws.resamples,
            rows=tuple(rows),
            comparisons=tuple(compared),
            verdicts=(unranked(scores),),
            findings=tuple(findings),
        )


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


def _cosines_by_ratio(scores: ea.ItemScores) -> NDArray[np.float64]:
    """Return the (n, 2) cosines of pairs of equal and of unequal length; ABSENT where a pair is not of the kind."""
    cosine, ratio = scores.values["cosine"], scores.values["ratio"]
    return np.stack([np.where(ratio <= EQUAL, cosine, ABSENT), np.where(ratio >= UNEQUAL, cosine, ABSENT)], axis=1)


def _findings(scores: ea.ItemScores, bias: ea.Row, words: str) -> Iterator[ea.Finding]:
    """Yield one finding; nothing where no value or no interval is defined."""
    encoder = scores.origin.encoder
    if bias.value is None or bias.low is None or bias.high is None:
        return
    size = f"Spearman {bias.value:+.2f} [{bias.low:+.2f}, {bias.high:+.2f}]".replace("-", "−")
    if bias.low <= 0 <= bias.high:
        sentence = f"{encoder}: the cosine of unrelated texts is not shown to change {words} ({size})."
        yield finding(scores, f"No change {words}", sentence, row=bias, style="number")
        return
    direction = "grows" if bias.value > 0 else "falls"
    sentence = f"{encoder}: the cosine of unrelated texts {direction} {words} ({size})."
    yield finding(
        scores,
        f"The cosine {direction} {words}",
        sentence,
        severity="medium",
        row=bias,
        style="number",
        consequence="A threshold on the cosine is then not the same for short and for long texts.",
    )


_DIFFERENCE = Column("with difference", "spearman_difference", format="number")
LAYOUT = Layout(
    title="Length bias",
    question="Does the similarity of two texts depend on their lengths?",
    headline=EncoderTable(
        "Similarity of unrelated texts by their lengths",
        (
            _DIFFERENCE,
            Column("with sum", "spearman_sum", format="number"),
            Column("equal length", "mean_cosine", "equal", "number"),
            Column("unequal length", "mean_cosine", "unequal", "number"),
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
