"""About how long an adaptation takes, measured on a little of each thing that it does.

Each kind of training does its first steps on the real data, with all that a training has: loading, tokens, the head of
the objective, the optimizer, a checkpoint, the model's folder. A few texts are encoded, and their time for a token is
that of all texts: those that are searched for negatives, those of the evaluations, and those of the assay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from embassay.adaptation.making import Making
from embassay.adaptation.variants import Stage
from embassay.errors import EncoderError
from embassay.samples.base import Role, Text
from embassay.training.triplets import Triplet

TIMED = 96
"""Texts that the base encodes for an estimate of the time."""
STEPS = 4
"""Steps that each kind of training does for it."""
LETTERS = 4
"""Letters of a token, about, where the model has no file to count tokens by."""


@dataclass(frozen=True)
class Pace:
    """How long a training takes, in seconds: what comes once, and each row.

    Not each step: rows that may not go together make more and smaller batches than planned.
    """

    once: float
    row: float


@dataclass(frozen=True)
class Forecast:
    """What is to be done, and how long each part of it takes; seconds throughout.

    Attributes
    ----------
    texts
        What the assay encodes with each variant: (role, text), each once.
    scoring
        How long the assay of one variant takes once its texts are encoded.
    """

    making: Making
    texts: Sequence[Text]
    scoring: float

    def rows(self, stage: Stage) -> int:
        """Return how many rows a stage reads in an epoch, at most."""
        material = self.making.material
        if stage.kind == "pretrain":
            return len(material.sentences)
        pairs = sum(len(dict.fromkeys(question.right)) for question in material.train)
        return pairs * (stage.options["per_question"] if stage.options["loss"] == "triplet" else 1)

    def evaluations(self, stage: Stage) -> int:
        """Return how often a stage asks how good the model is, at most; each time all documents are encoded."""
        asked = stage.kind == "finetune" and self.making.material.dev
        return stage.evaluations(self.rows(stage)) if asked else 0

    def training(self, stage: Stage) -> float:
        """Return how long a stage takes; 0 where its model is there."""
        if not self.making.due(stage):
            return 0.0
        evaluated = self.evaluations(stage) * (self._documents + self._asked("dev"))
        pace = self._pace(stage)
        return pace.once + stage.settings.epochs * self.rows(stage) * pace.row + evaluated * self._token

    def mining(self) -> float:
        """Return how long it takes to look for negatives; 0 where nothing is to be fine-tuned."""
        due = any(stage.kind == "finetune" and self.making.due(stage) for stage in self.making.stages)
        return self._loading + (self._documents + self._asked("train")) * self._token if due else 0.0

    def assay(self) -> float:
        """Return how long the assay of the base and all variants takes, with an empty cache."""
        by_role: dict[Role, list[str]] = {}
        for role, text in self.texts:
            by_role.setdefault(role, []).append(text)
        tokens = sum(self._count(texts, role) for role, texts in by_role.items())
        return (1 + len(self.making.stages)) * (self._loading + tokens * self._token + self.scoring)

    def _pace(self, stage: Stage) -> Pace:
        """Return the pace of a kind of training, measured once: variants differ only in what they begin with."""
        if stage.kind not in self._paces:
            self._paces[stage.kind] = self._measured(stage)
        return self._paces[stage.kind]

    @cached_property
    def _paces(self) -> dict[str, Pace]:
        """The paces that were measured."""
        return {}

    def _measured(self, stage: Stage) -> Pace:
        """Do the first steps of a training, in a folder that is removed afterwards.

        The first step is also the warm-up, so that the others tell how long one takes.
        """
        from embassay.training.finetuning import finetune
        from embassay.training.pretraining import pretrain

        order, material = self.making.order, self.making.material
        settings = replace(stage.settings, max_steps=STEPS)
        ended: list[tuple[float, int]] = []

        def advance(done: int, total: int) -> None:
            ended.append((time.perf_counter(), done))

        start = time.perf_counter()
        with TemporaryDirectory() as folder:
            place = Path(folder) / stage.variant
            if stage.kind == "pretrain":
                objective = stage.options["objective"]
                pretrain(order.base, material.sentences, place, objective=objective, settings=settings, advance=advance)
            else:
                # Without dev questions nothing is evaluated: how long that takes is counted by its tokens.
                loss, triplets = stage.options["loss"], self._triplets(stage)
                finetune(order.base, triplets, (), material.union, place, loss=loss, settings=settings, advance=advance)
        whole = time.perf_counter() - start
        (first, begun), (last, done) = ended[0], ended[-1]
        row = (last - first) / (done - begun) if done > begun else 0.0
        return Pace(max(whole - done * row, 0.0), row)

    def _triplets(self, stage: Stage) -> list[Triplet]:
        """Return triplets as mining would find them, but with the next documents for wrong ones: it takes its time."""
        union = self.making.material.union
        place = {document.id: n for n, document in enumerate(union.documents)}
        found = []
        for question in self.making.material.train:
            for name in dict.fromkeys(question.right):
                others = range(place[name] + 1, place[name] + 1 + stage.options["per_question"])
                right, *wrong = (union.documents[n % len(place)].passages[0] for n in (place[name], *others))
                found.append(Triplet(question.question, right, tuple(wrong)))
        return found

    @cached_property
    def _passages(self) -> list[str]:
        return [text for document in self.making.material.union.documents for text in document.passages]

    @cached_property
    def _documents(self) -> float:
        """The number of tokens of all documents."""
        return self._count(self._passages, "document")

    def _asked(self, part: str) -> float:
        """Return the number of tokens of the ``train`` or ``dev`` questions."""
        questions = self.making.material.dev if part == "dev" else self.making.material.train
        return self._count([question.question for question in questions], "query")

    @property
    def _token(self) -> float:
        """How long the base takes to encode one token of a document, the loading of the model apart."""
        return self._encoding[1]

    @property
    def _loading(self) -> float:
        """How long it takes to load the base."""
        return self._encoding[0]

    @cached_property
    def _encoding(self) -> tuple[float, float]:
        """How long it takes to load the base, and to encode one token."""
        texts = list(dict.fromkeys(self._passages))
        texts = texts[:: max(1, len(texts) // TIMED)][:TIMED]
        base = self.making.base
        base.encode(texts[:1], "document")
        # The first time libraries are imported as well, which comes once: what counts is the second.
        base.release()
        start = time.perf_counter()
        base.encode(texts[:1], "document")
        loaded = time.perf_counter()
        base.encode(texts, "document")
        return loaded - start, (time.perf_counter() - loaded) / max(self._count(texts, "document"), 1)

    def _count(self, texts: Sequence[str], role: Role) -> float:
        """Return the number of tokens of texts, cut as the model cuts them."""
        base = self.making.base
        try:
            found = base.count_tokens(texts, role)
        except EncoderError:
            found = np.array([len(text) / LETTERS for text in texts])
        return float(np.minimum(found, base.card.max_tokens or np.inf).sum())
