"""Which one-word edits does an encoder notice?

Chiang, Chuang, Glass & Lee (2023), "Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS". The cosine of an
original with each of its edits (a synonym, an antonym, a typo, another word, two negations), corrected for anisotropy:

    cos_norm = (cos − cos_avg) / (1 − cos_avg)

with cos_avg the mean cosine of the first half of the originals with the rest (:func:`normalised`). There is no overall
score: which edits *should* be near depends on the task. The contrasts say which edit is nearer than which.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from embassay.core.claims import COUNT, LIMIT, Template
from embassay.core.layout import Drawings, GroupedBars, SeriesTable
from embassay.core.result import Estimate, Finding, Row
from embassay.core.samples.shapes import ALL_EDITS
from embassay.core.samples.shapes import MinimalPairs as Sample
from embassay.core.types import Corpus, Draws
from embassay.core.vectors import Vectors
from embassay.diagnostics.findings import against_chance, than_chance, written
from embassay.diagnostics.method import ItemMethod, ItemView, Shown, Stored
from embassay.diagnostics.metrics.metric import Direction, Meaning, Metric
from embassay.diagnostics.metrics.summary import Figures, MetricSummary
from embassay.diagnostics.overlap import OVERLAP_METRICS, overlap_rows
from embassay.stats.geometry.closeness import mean_cosine, paired_cosine
from embassay.stats.lexical.overlap import METRICS as OVERLAP
from embassay.stats.lexical.overlap import overlap, pairs_of
from embassay.stats.resample import ABSENT, undefined_estimate
from embassay.stats.units import Floats

CITATION = """@inproceedings{chiang2023,
  author = {Chiang, Cheng-Han and Chuang, Yung-Sung and Glass, James and Lee, Hung-yi},
  title = {Revealing the Blind Spot of Sentence Encoder Evaluation by {HEROS}},
  booktitle = {Proceedings of the 8th Workshop on Representation Learning for NLP},
  year = {2023},
  doi = {10.18653/v1/2023.repl4nlp-1.24}
}"""
NAME = "minimal_pairs"
VERSION = 1
"""To be raised with each change after which the same vectors have other scores or figures."""
MEANING = Meaning("negation contrast", "originals", about=("negation",))
HEADLINE = ("synonym", "negation_main")
CONTRASTS = (("synonym", "antonym"), ("synonym", "typo"), ("negation_antonym", "negation_main"))
"""The other differences of two edits' normalised similarity to the same original (the paper's section 4)."""
LABELS = {
    "synonym": "synonym",
    "antonym": "antonym",
    "typo": "typo",
    "random_mlm": "random word",
    "negation_main": "main verb negated",
    "negation_antonym": "chosen word negated",
    "random_word": "random word of the corpus",
    "number": "number changed",
    "entity": "name changed",
    "role_swap": "subject and object exchanged",
}
"""What edits are called in charts."""
NOT_RANKED = Template(
    "Encoders are not ranked: this needs originals with a synonym and a negation of the main verb.",
    "an edit of the headline is missing",
    LIMIT,
    title="Not ranked",
    severity="medium",
)
COLLAPSED_VECTORS = Template(
    "{encoder} gives all texts almost the same vector: random pairs have a mean cosine of {cosine:.6f}.",
    "the mean cosine is 1 up to a millionth",
    COUNT,
    title="All texts get almost the same vector",
    severity="high",
    consequence="It is of no use for search: every text is as near as any other.",
)
CHANCES = than_chance(
    "{encoder} puts a synonym nearer than {description} for {share} of the originals{mean_contrast}.",
    "Than {edit}?",
    above="A synonym is nearer than {edit}{on_average}",
    both="A synonym is not shown to be nearer than {edit}",
    below="{edit} is nearer than a synonym{on_average}",
    consequence="A text that says the contrary is found before one that says the same in other words.",
)
NEARER = {
    "synonym>negation_main": ("a negation", "the negation of its main verb"),
    "synonym>antonym": ("an antonym", "an antonym"),
}
"""The orderings that findings are about, each also a contrast: what a synonym is compared with, short and in full."""
KEEPING, CHANGING = ("synonym", "typo"), ("antonym", "negation_main", "negation_antonym")
"""Edits that keep the meaning of a text, and those that change it."""
COLLAPSED = 1e-6
"""An encoder whose mean cosine is this close to 1 has collapsed: there is nothing to normalise by."""
NO_BASELINE = "random pairs need two originals with vectors that are not zero"


def normalised(cosine: Floats, average: float) -> Floats:
    """Return the cosine corrected for anisotropy, (cos − cos_avg)/(1 − cos_avg).

    Parameters
    ----------
    cosine
        (n,) of originals with an edit; NaN is undefined, ``ABSENT`` no such edit.
    average
        cos_avg, the mean cosine of random pairs; NaN if there are no random pairs.

    Returns
    -------
    (n,) at most 1, larger is more similar: 1 for equal directions, 0 for the mean of random pairs, negative below it.
    NaN for a collapsed encoder and where ``average`` is NaN.
    """
    # False also for NaN, so that a missing average gives NaN.
    can_be_normalised = average <= 1 - COLLAPSED
    if not can_be_normalised:
        return np.where(cosine == ABSENT, ABSENT, np.nan)
    return (cosine - average) / (1 - average)


class EditsView(ItemView):
    """One encoder's originals and edits."""

    @property
    def average(self) -> float:
        """The mean cosine of random pairs; NaN if there are no random pairs."""
        return self.scores.scalars.get("average", float("nan"))

    @cached_property
    def edits(self) -> tuple[str, ...]:
        """The edits that some original has."""
        has_edit = (self.scores.values["cosine"] != ABSENT).any(axis=0)
        return tuple(edit for edit, some in zip(ALL_EDITS, has_edit, strict=True) if some)

    def of_edit(self, name: str, edit: str) -> Floats | None:
        """Return (n,) values of an edit, ABSENT where an original lacks it; None where all of them do.

        Parameters
        ----------
        name
            ``cosine``, in [−1, 1]; or ``similarity``, the cosine corrected for anisotropy, at most 1.
        """
        if edit not in self.edits:
            return None
        cosine = self.scores.values["cosine"][:, ALL_EDITS.index(edit)]
        if name == "similarity":
            return normalised(cosine, self.average)
        return cosine

    def contrast(self, first: str, second: str, name: str = "similarity", *, order: bool = False) -> Floats | None:
        """Return (n,) how much more similar to the original the first edit is than the second.

        With ``order`` 1 where it is more similar, ½ in a tie, 0 otherwise. ABSENT where an original lacks one of them,
        NaN where one is undefined; None where all originals lack one.
        """
        a, b = self.of_edit(name, first), self.of_edit(name, second)
        if a is None or b is None:
            return None
        # ABSENT is infinite, and infinity less infinity is NaN, which is replaced.
        with np.errstate(invalid="ignore"):
            difference = a - b
        if order:
            difference = 0.5 + 0.5 * np.sign(difference)
        return np.where((a == ABSENT) | (b == ABSENT), ABSENT, difference)

    @property
    def right(self) -> Floats:
        """(n,) whether a synonym is nearer than the negation of the main verb; NaN without these edits."""
        return self._of_headline(self.contrast(*HEADLINE, "cosine", order=True))

    @property
    def margin(self) -> Floats:
        """(n,) the contrast of the headline."""
        return self._of_headline(self.contrast(*HEADLINE))

    def _of_headline(self, values: Floats | None) -> Floats:
        return self.undefined if values is None else np.where(np.isfinite(values), values, np.nan)

    def shown(self, index: int) -> Shown:
        """Return the cosine of each edit with its original."""
        cosines = self.scores.values["cosine"][index]
        return dict(zip(ALL_EDITS, cosines, strict=True)), {}


def _of_edits(name: str, **declared: Any) -> Iterator[Metric]:
    """Yield a mean of the values of each edit."""
    for edit in ALL_EDITS:
        # How near another edit should be depends on the task.
        yield Metric(
            name,
            edit,
            of=partial(EditsView.of_edit, name=name, edit=edit),
            kind="mean",
            better="neither",
            reason=_without_baseline,
            **declared,
        )


def _contrast(first: str, second: str, **declared: Any) -> Metric:
    """Return by how much an edit is more similar to the original than another."""
    return Metric(
        "contrast",
        f"{first}-{second}",
        of=lambda view: view.contrast(first, second),
        kind="mean",
        better=_better(first, second),
        compared="on request",
        level="0",
        chance=0.0,
        # No choice is wrong here, so an original without a vector cannot be counted as wrong.
        undefined_is_wrong=False,
        reason=_without_baseline,
        meaning="normalised similarity of the first edit minus the second's",
        **declared,
    )


def _nearer(first: str, second: str) -> Metric:
    """Return how often an edit is nearer to the original than another."""
    return Metric(
        "nearer",
        f"{first}>{second}",
        of=lambda view: view.contrast(first, second, "cosine", order=True),
        kind="share",
        better=_better(first, second),
        meaning="share of originals that are nearer to the first edit than to the second; a tie counts half",
        chance=0.5,
    )


def _better(first: str, second: str) -> Direction:
    """Return which is better: that the first edit is nearer than the second (higher), or the contrary."""
    # A synonym and a typo keep the meaning; an antonym and a negation change it. Of others it depends on the task.
    if first in KEEPING and second in CHANGING:
        return "higher"
    return "lower" if first in CHANGING and second in KEEPING else "neither"


def _without_baseline(view: EditsView, estimate: Estimate) -> str | None:
    """Return why a mean is undefined where that is because there are no random pairs."""
    return NO_BASELINE if estimate.undefined and np.isnan(view.average) else None


def _baseline(view: EditsView) -> Estimate:
    """Return the mean cosine of random pairs; no interval, because every resample uses the same."""
    originals, units = len(view.scores.item), len(np.unique(view.scores.unit))
    if np.isnan(view.average):
        return undefined_estimate(originals, NO_BASELINE)
    return Estimate(view.average, None, None, originals, units)


METRICS = (
    *_of_edits(
        "similarity",
        high=1,
        compared="on request",
        term="Normalised similarity",
        explanation=(
            "The cosine, scaled so that 1 means the same text and 0 the average of two random texts. It can be "
            "compared between encoders."
        ),
        meaning="mean cosine with the original, corrected for anisotropy",
    ),
    *_of_edits("cosine", low=-1, high=1, compared="within one encoder", meaning="mean cosine with the original"),
    # The margin is a tenth of the contrast that all-MiniLM-L6-v2 has.
    _contrast(*HEADLINE, headline=True, heading="synonym − negation", margin=0.01),
    *(_contrast(first, second) for first, second in CONTRASTS),
    *(_nearer(first, second) for first, second in combinations(ALL_EDITS, 2)),
    Metric(
        "baseline",
        of=_baseline,
        kind="computed",
        better="neither",
        low=-1,
        high=1,
        compared="within one encoder",
        meaning="mean cosine of random pairs of originals",
    ),
    *OVERLAP_METRICS,
)
_EDITS = tuple(LABELS.items())
DRAWINGS = Drawings(
    "Chiang, Chuang, Glass & Lee (2023), Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS",
    (
        GroupedBars(
            "Normalised similarity of each edit to its original",
            "similarity",
            _EDITS,
            note="The paper's figures 1 and 2. Which edits should be near depends on the task.",
        ),
    ),
    (
        SeriesTable(
            "Published figures, and yours by training data",
            "published",
            note="Lexical overlap (table 1) is printed, similarities are drawn (figures 1 and 2). Groups are those of "
            "the paper, and of group=.",
        ),
    ),
    "A similarity of 0 is as near as two random originals, whose mean cosine is the baseline.",
)


class MinimalPairsMethod(ItemMethod):
    """The diagnostic; ``compare=all`` also compares the other contrasts, and the similarity of each edit."""

    shape = "minimal_pairs"
    view = EditsView
    metrics = METRICS
    chances = CHANCES
    published = "heros"

    def values(self, corpus: Corpus[Sample], vectors: Vectors) -> Stored:
        """Return the cosine of each original with its edits, and with other originals.

        ``cosine`` (n, edits) and ``lexical`` (n, edits × overlap metrics).
        Columns are in the order of ``ALL_EDITS``; ABSENT where an original has no such edit, NaN where a vector is
        zero. ``average`` is cos_avg.
        """
        samples = corpus.samples
        originals = vectors.take(s.original for s in samples)
        cosine = np.full((len(samples), len(ALL_EDITS)), ABSENT)
        lexical = np.full((len(samples), len(ALL_EDITS), len(OVERLAP)), ABSENT)
        for column, edit in enumerate(ALL_EDITS):
            edited = {place: dict(s.edits)[edit] for place, s in enumerate(samples) if edit in dict(s.edits)}
            if edited:
                rows, texts = list(edited), list(edited.values())
                cosine[rows, column] = paired_cosine(originals[rows], vectors.take(texts))
                lexical[rows, column] = overlap(pairs_of([samples[row].original for row in rows], texts))
        # The paper's cos_avg: the first half of the originals with the rest.
        half = len(samples) // 2
        return {
            "cosine": cosine,
            "lexical": lexical.reshape(len(samples), -1),
            "average": mean_cosine(originals[:half], originals[half:]) if half else float("nan"),
        }

    def rows(self, figures: Figures[EditsView], draws: Draws) -> list[Row]:
        """Return the metrics, and the lexical overlap of all pairs and of each edit's."""
        view = figures.views[0]
        unit = view.scores.unit
        lexical = view.scores.values["lexical"].reshape(len(unit), len(ALL_EDITS), len(OVERLAP))
        of_edit = {edit: lexical[:, ALL_EDITS.index(edit)] for edit in view.edits}
        # An original is in as many pairs as there are edits.
        groups = {"all": (np.concatenate(list(of_edit.values())), np.tile(unit, len(of_edit)))}
        for edit, values in of_edit.items():
            groups[edit] = (values, unit)
        return [*figures.rows(draws), *overlap_rows(view, draws, groups)]

    def findings(self, figures: Figures[EditsView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how often a synonym is nearer than a negation and than an antonym; an even chance has 50 %.

        Where the mean contrast says the opposite of the majority of the originals, the finding says both.
        """
        if not set(HEADLINE) <= set(figures.views[0].edits):
            yield NOT_RANKED.finding(figures.views[0].scores.origin)
        for view in figures.requested:
            if view.average > 1 - COLLAPSED:
                yield COLLAPSED_VECTORS.finding(view.scores.origin, encoder=view.encoder, cosine=view.average)
                continue
            for subset, (edit, description) in NEARER.items():
                share = summary.row_of.get((view.encoder, "nearer", subset, ""))
                if share is None:
                    continue
                side = against_chance(share, 0.5)
                # Under MIN_UNITS units there is no interval, so the share is on no side of chance.
                if not side:
                    continue
                # The mean contrast of "synonym>antonym" is that of "synonym-antonym".
                contrast = summary.row_of[view.encoder, "contrast", subset.replace(">", "-"), ""]
                contradicts = {side, against_chance(contrast, 0.0)} == {"above", "below"}
                severity, on_average, mean_contrast = "", "", ""
                if contradicts:
                    severity = "medium"
                    on_average = " for most originals, but not on average"
                    mean = written(contrast, "number")
                    mean_contrast = f", but the mean contrast is {mean}: the other originals differ by more"
                yield self.chances[side].finding(
                    share,
                    severity=severity,
                    encoder=view.encoder,
                    edit=edit,
                    description=description,
                    share=written(share),
                    on_average=on_average,
                    mean_contrast=mean_contrast,
                )


create = MinimalPairsMethod
