"""About how long an adaptation takes, told from a few texts that the base encodes.

What is done is counted in tokens: those that training reads, each several times as dear as in encoding, and those that
are encoded to find negatives, to see how good a model is meanwhile, and in the assay.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embassay.adapt.making import Making
from embassay.adapt.variants import Stage
from embassay.errors import EncoderError
from embassay.samples import Role, Text

TIMED = 48
"""Texts that the base encodes for an estimate of the time."""
BACKWARD = 3.0
"""How many times as long a token takes in training as in encoding."""
LETTERS = 4
"""Letters of a token, about, where the model has no file to count tokens by."""


@dataclass(frozen=True)
class Forecast:
    """What is to be done, and how long each part of it takes; seconds throughout.

    Attributes
    ----------
    texts
        What the assay encodes with each variant: (role, text), each once.
    """

    making: Making
    texts: Sequence[Text]

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
        return (BACKWARD * stage.settings.epochs * self._read(stage) + evaluated) * self._token

    def mining(self) -> float:
        """Return how long it takes to look for negatives; 0 where nothing is to be fine-tuned."""
        due = any(stage.kind == "finetune" and self.making.due(stage) for stage in self.making.stages)
        return (self._documents + self._asked("train")) * self._token if due else 0.0

    def assay(self) -> float:
        """Return how long the base and all variants take to encode what the assay needs, with an empty cache."""
        by_role: dict[Role, list[str]] = {}
        for role, text in self.texts:
            by_role.setdefault(role, []).append(text)
        tokens = sum(self._count(texts, role) for role, texts in by_role.items())
        return (1 + len(self.making.stages)) * tokens * self._token

    def _read(self, stage: Stage) -> float:
        """Return how many tokens go through the model in an epoch of a stage."""
        if stage.kind == "pretrain":
            passes = 1 if stage.options["objective"] == "mlm" else 2
            return passes * self._count(self.making.material.sentences, "document")
        material = self.making.material
        question = self._asked("train") / max(len(material.train), 1)
        document = self._documents / max(len(self._passages), 1)
        wrong = 1 if stage.options["loss"] == "triplet" else stage.options["per_question"]
        return self.rows(stage) * (question + (1 + wrong) * document)

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

    @cached_property
    def _token(self) -> float:
        """How long the base takes to encode one token of a document, the loading of the model apart."""
        texts = list(dict.fromkeys(self._passages))
        texts = texts[:: max(1, len(texts) // TIMED)][:TIMED]
        base = self.making.base
        base.encode(texts[:1], "document")
        start = time.perf_counter()
        base.encode(texts, "document")
        return (time.perf_counter() - start) / max(self._count(texts, "document"), 1)

    def _count(self, texts: Sequence[str], role: Role) -> float:
        """Return the number of tokens of texts, cut as the model cuts them."""
        base = self.making.base
        try:
            found = base.count_tokens(texts, role)
        except EncoderError:
            found = np.array([len(text) / LETTERS for text in texts])
        return float(np.minimum(found, base.card.max_tokens or np.inf).sum())
