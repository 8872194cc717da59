"""What one encoder did with the questions of a retrieval corpus, as the rows and figures read it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import MIN_UNITS, Estimate
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.retrieval.scores import RANDOM, RIGHT
from embassay.stats.exams import EXAMS, GRID, LENGTH, Answers
from embassay.stats.labels import Labels
from embassay.stats.thresholds import Threshold, recommend
from embassay.stats.units import Floats

NAME = "retrieval"
K, PSI = 5, 5
LOSS = 0.02
"""The loss of success that a recommended threshold may cause."""
RECOMMENDED = {"confidence": "recommended", "average": "recommended_on_average"}
"""The subset of a recommended threshold's rows, by the guarantee on its loss."""


@dataclass(frozen=True)
class RetrievalParameters:
    """The options that change the summary, and the page; see :func:`~embassay.diagnostics.retrieval.retrieval.create`.

    Attributes
    ----------
    random_documents
        The option ``random``.
    """

    k: int = K
    psi: int = PSI
    loss: float = LOSS
    exams: int = EXAMS
    length: int = LENGTH
    random_documents: int = RANDOM

    @property
    def size(self) -> tuple[int, int]:
        """The number of exams and of the questions of each."""
        return self.exams, self.length

    @property
    def exam(self) -> str:
        """What a figure of exams is."""
        drawn = f"{self.exams:,} exams of {self.length:,} questions drawn with replacement"
        return f"The mean over {drawn}, with the range of 95% of them."

    @property
    def shown(self) -> dict[str, int]:
        """The options that stand on the page, by name."""
        return {name: getattr(self, name) for name in ("psi", "exams", "length", "random_documents")}

    @property
    def signed(self) -> dict[str, str]:
        """The options that figures of exams depend on, for their signatures; those that are not the default."""
        default = RetrievalParameters(psi=self.psi).shown
        return {name: str(value) for name, value in self.shown.items() if value != default[name]}


@dataclass(frozen=True)
class RetrievalView(RetrievalParameters, View):
    """One encoder's questions. Below, n counts all questions, m those with a right document, d those of the m with k
    similarities.
    """

    @property
    def headline(self) -> str:
        """The name of the headline metric."""
        return f"Success@{self.k}"

    @property
    def percentiles(self) -> tuple[int, ...]:
        """The ψ at which COE, ROE and the thresholds are computed, in ascending order."""
        return tuple(sorted({*GRID, self.psi}))

    @property
    def chance(self) -> float:
        """The success of blind choice; see :func:`~embassay.diagnostics.retrieval.scores.success_of_blind_choice`."""
        return self.scores.scalars["chance"]

    @property
    def compares_by_dot(self) -> bool:
        """Whether the similarities are dot products, whose scale is the encoder's own; otherwise cosines."""
        return bool(self.scores.scalars["dot"])

    @property
    def is_lists(self) -> bool:
        """Whether these are the lists of a retriever: what is not in them is missed, not undefined."""
        return "scored" in self.scores.scalars

    @property
    def listed(self) -> int | None:
        """The length of the longest list that lacks documents; None where each list has all documents."""
        listed = self.scores.scalars.get("listed")
        return None if listed is None else int(listed)

    @property
    def curve(self) -> dict[float, float]:
        """The mean reciprocal rank by setting, of a retriever that chooses one; empty for others."""
        scalars = self.scores.scalars
        return {float(name.removeprefix("curve/")): scalars[name] for name in scalars if name.startswith("curve/")}

    @property
    def why_no_similarities(self) -> str:
        """Why no question has k similarities, where that is so."""
        if self.is_lists and not self.scores.scalars["scored"]:
            return "its lists have no scores"
        return f"no question has {self.k} similarities"

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """(n,) which questions have a right document."""
        return np.asarray(self.scores.values["answered"] == 1)

    @cached_property
    def labels(self) -> Labels:
        """The unit labels of the m answered questions."""
        return Labels.of(self.scores.unit, self.scores.unit_labels).of_items(self.answered)

    @property
    def unit(self) -> NDArray[np.int64]:
        """(m,) the label sets of the answered questions."""
        return self.labels.label_set

    def ranking(self, declared: str) -> Floats | None:
        """Return (m,) a ranking metric of the answered questions by its declared name, such as ``Success@{k}``.

        NaN is undefined. None where it is not stored: of few documents, or after a transform of sparse vectors.
        """
        values = self.scores.values.get(declared.format(k=self.k))
        return None if values is None else values[self.answered]

    @cached_property
    def has_full_top_k(self) -> NDArray[np.bool_]:
        """(m,) which answered questions have k similarities."""
        top = self.scores.values["top"][self.answered]
        return np.asarray(~np.isnan(top).any(axis=1))

    @cached_property
    def answers(self) -> Answers:
        """The d questions that thresholds are tried on; a right document without a similarity is below all of them."""
        top = self.scores.values["top"][self.answered][self.has_full_top_k]
        right = self.scores.values[RIGHT][self.answered][self.has_full_top_k]
        success = self.scores.values[self.headline][self.answered][self.has_full_top_k]
        return Answers(top, np.where(np.isnan(right), -np.inf, right), success)

    @cached_property
    def random(self) -> Floats:
        """(d, r) similarities to random documents; undefined ones are below all others."""
        similarity = self.scores.values["random"][self.answered][self.has_full_top_k, : self.random_documents]
        return np.where(np.isnan(similarity), -np.inf, similarity)

    @cached_property
    def largest_of_unanswerable(self) -> Floats:
        """(u,) the largest similarity that each unanswerable question finds, NaN where it has none."""
        return self.scores.values["top"][~self.answered][:, 0]

    @cached_property
    def labels_of_unanswerable(self) -> Labels:
        """The unit labels of the u unanswerable questions."""
        return Labels.of(self.scores.unit, self.scores.unit_labels).of_items(~self.answered)

    @cached_property
    def examined(self) -> NDArray[np.bool_]:
        """(m,) which answered questions exams are drawn from: those with a defined success."""
        return np.ones_like(self.has_full_top_k) if self.is_lists else self.has_full_top_k

    def estimate(self, value: float | None, reason: str | None = None, of: NDArray[np.bool_] | None = None) -> Estimate:
        """Return a figure that has no interval, a threshold for example.

        Parameters
        ----------
        of
            (m,) the answered questions that it is of; by default the d with k similarities.
        """
        of = self.has_full_top_k if of is None else of
        number = int(of.sum())
        units = len(np.unique(self.unit[of]))
        return Estimate(value, None, None, number, units, len(of) - number, reason)

    @cached_property
    def recommended(self) -> Threshold:
        """The highest threshold that loses no more than allowed, with its guarantee, or why there is none."""
        answers = self.answers
        if not len(answers.top):
            return Threshold(None, None, None, 0.0, self.why_no_similarities)
        labels = self.labels.of_items(self.has_full_top_k)
        threshold = recommend(answers.own, answers.success, answers.top, labels, self.loss)
        if labels.sets < MIN_UNITS:
            reason = f"{labels.sets} units are too few to recommend a threshold; that takes {MIN_UNITS}"
            return Threshold(None, None, None, threshold.effective, reason)
        return threshold
