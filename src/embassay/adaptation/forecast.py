"""An estimate of how long an adaptation takes, measured on a small part of each task.

Each kind of training runs its first steps on the real data, with everything that a training needs: loading, tokens, the
head of the objective, the optimizer, a checkpoint, the model's folder. A few texts are encoded. Their time per token is
used for all texts: those of the search for negatives, of the evaluations and of the assay.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from embassay.adaptation.making import Making
from embassay.adaptation.variants import Kind, Stage
from embassay.errors import EncoderError
from embassay.samples.base import Role, Text
from embassay.samples.retrieval import Question
from embassay.training.triplets import Triplet

TIMED = 96
"""Texts that the base encodes to measure its speed."""
STEPS = 4
"""Steps of each kind of training that are measured."""
LETTERS = 4
"""Approximate number of letters per token, for models without a tokenizer file."""


@dataclass(frozen=True)
class TrainingTime:
    """Seconds of a training: the fixed part, and the time per row.

    Time is counted per row, not per step: rows that cannot share a batch make more and smaller batches than planned.
    """

    once: float
    row: float


@dataclass(frozen=True)
class EncodingTime:
    """Seconds that the base takes to load, and to encode one token."""

    loading: float
    token: float


@dataclass(frozen=True)
class Forecast:
    """The remaining work, and the estimated seconds of each part.

    Attributes
    ----------
    texts
        The distinct (role, text) that the assay encodes with each variant.
    scoring
        Seconds of the assay of one variant without encoding.
    """

    making: Making
    texts: Sequence[Text]
    scoring: float

    def rows(self, stage: Stage) -> int:
        """Return the largest number of rows that a stage reads in an epoch."""
        material = self.making.material
        if stage.kind == "pretrain":
            return len(material.sentences)
        pairs = sum(len(set(question.right)) for question in material.train)
        if stage.options.loss == "triplet":
            return pairs * stage.options.negatives
        return pairs

    def evaluations(self, stage: Stage) -> int:
        """Return the largest number of evaluations of a stage. Each encodes all documents."""
        if stage.kind == "pretrain" or not self.making.material.dev:
            return 0
        return stage.evaluations(self.rows(stage))

    def training(self, stage: Stage) -> float:
        """Return how long a stage takes; 0 if its model exists."""
        if not self.making.due(stage):
            return 0.0
        pace = self._training_time(stage)
        seconds = pace.once + stage.settings.epochs * self.rows(stage) * pace.row
        evaluations = self.evaluations(stage)
        if evaluations:
            tokens = self._document_tokens + self._question_tokens(self.making.material.dev)
            seconds += evaluations * tokens * self._encoding_time.token
        return seconds

    def mining(self) -> float:
        """Return how long the search for negatives takes; 0 if nothing is to be fine-tuned."""
        if not self.making.finetuning_due:
            return 0.0
        tokens = self._document_tokens + self._question_tokens(self.making.material.train)
        return self._encoding_time.loading + tokens * self._encoding_time.token

    def assay(self) -> float:
        """Return how long the assay of the base and all variants takes, with an empty cache."""
        by_role: defaultdict[Role, list[str]] = defaultdict(list)
        for role, text in self.texts:
            by_role[role].append(text)
        tokens = 0.0
        for role, texts in by_role.items():
            tokens += self.count_tokens(texts, role)
        encoding = self._encoding_time
        one_variant = encoding.loading + tokens * encoding.token + self.scoring
        return (1 + len(self.making.stages)) * one_variant

    def count_tokens(self, texts: Sequence[str], role: Role) -> float:
        """Return the number of tokens of texts, truncated as the model truncates them."""
        base = self.making.base
        try:
            counts = base.count_tokens(texts, role)
        except EncoderError:
            # Some models must be loaded to count their tokens; the number of letters is enough for an estimate.
            counts = np.array([len(text) / LETTERS for text in texts])
        limit = base.card.max_tokens or np.inf
        return float(np.minimum(counts, limit).sum())

    def measure(self, stage: Stage) -> TrainingTime:
        """Run the first steps of a training, in a folder that is removed afterwards.

        The first step includes the warm-up of the libraries, so the time per row is measured on the other steps.
        """
        from embassay.training.finetuning import finetune
        from embassay.training.pretraining import pretrain

        base, material = self.making.request.base, self.making.material
        settings = replace(stage.settings, max_steps=STEPS)
        steps: list[tuple[float, int]] = []

        def advance(done: int, total: int) -> None:
            steps.append((time.perf_counter(), done))

        start = time.perf_counter()
        with TemporaryDirectory() as folder:
            place = Path(folder) / stage.variant
            if stage.kind == "pretrain":
                objective = stage.options.objective
                pretrain(base, material.sentences, place, objective=objective, settings=settings, advance=advance)
            else:
                # Without dev questions nothing is evaluated. The time of evaluations is estimated from their tokens.
                loss, triplets = stage.options.loss, self._triplets(stage.options.negatives)
                finetune(base, triplets, (), material.union, place, loss=loss, settings=settings, advance=advance)
        seconds = time.perf_counter() - start
        (first_end, first_rows), (last_end, last_rows) = steps[0], steps[-1]
        per_row = 0.0
        if last_rows > first_rows:
            per_row = (last_end - first_end) / (last_rows - first_rows)
        return TrainingTime(max(seconds - last_rows * per_row, 0.0), per_row)

    def _training_time(self, stage: Stage) -> TrainingTime:
        """Return the speed of a kind of training, measured once: variants differ only in what they start from."""
        if stage.kind not in self._training_times:
            self._training_times[stage.kind] = self.measure(stage)
        return self._training_times[stage.kind]

    @cached_property
    def _training_times(self) -> dict[Kind, TrainingTime]:
        """The measurements so far."""
        return {}

    def _triplets(self, negatives: int) -> list[Triplet]:
        """Return triplets like the mined ones, with the following documents as wrong ones, because mining is slow."""
        documents = self.making.material.union.documents
        texts = [document.passages[0] for document in documents]
        places = {document.id: place for place, document in enumerate(documents)}
        triplets = []
        for question in self.making.material.train:
            for name in dict.fromkeys(question.right):
                right = places[name]
                # After the last document, the first one follows.
                wrong_places = [(right + offset) % len(texts) for offset in range(1, negatives + 1)]
                wrong = tuple(texts[place] for place in wrong_places)
                triplets.append(Triplet(question.question, texts[right], wrong))
        return triplets

    @cached_property
    def _passages(self) -> list[str]:
        passages: list[str] = []
        for document in self.making.material.union.documents:
            passages += document.passages
        return passages

    @cached_property
    def _document_tokens(self) -> float:
        return self.count_tokens(self._passages, "document")

    def _question_tokens(self, questions: Sequence[Question]) -> float:
        return self.count_tokens([question.question for question in questions], "query")

    @cached_property
    def _encoding_time(self) -> EncodingTime:
        """The time that the base takes to load, and to encode one token of a document."""
        texts = list(dict.fromkeys(self._passages))
        # Spread over all documents, because lengths may differ between the first and the last documents.
        texts = texts[:: max(1, len(texts) // TIMED)][:TIMED]
        base = self.making.base
        # The first load also imports libraries, which happens once: the second load is measured.
        base.encode(texts[:1], "document")
        base.release()
        start = time.perf_counter()
        base.encode(texts[:1], "document")
        loaded = time.perf_counter()
        base.encode(texts, "document")
        seconds = time.perf_counter() - loaded
        return EncodingTime(loaded - start, seconds / max(self.count_tokens(texts, "document"), 1))
