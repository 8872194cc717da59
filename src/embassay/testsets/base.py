"""What every builder returns, and how it tells how far it is.

A builder is a file of this folder with ``build(sources, *, seed, count, advance, OPTIONS) -> Built``. The type of its
sources says whether it takes pairs of sentences as well (``SourcePair``); with ``read(path, *, OPTIONS)`` it reads its
file by itself and returns what it read, or a ``Reading``; with ``LANGUAGES = "any"`` it takes other languages than
English.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any, Protocol

from embassay.samples.base import Sample
from embassay.samples.choice import Choice
from embassay.samples.composition import Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SHAPES: Mapping[type, str] = {
    Choice: "choice",
    Composition: "composition",
    Grouped: "groups",
    MinimalPairs: "minimal_pairs",
    Question: "retrieval",
}
"""What a corpus of such samples is called."""


class Advance(Protocol):
    """Is told how far a builder is."""

    def __call__(self, done: int, total: int, /) -> None:
        """Take note that ``done`` of ``total`` sources have been read."""
        ...


def silent(done: int, total: int) -> None:
    """Take note of nothing: the advance of who does not ask."""


@dataclass(frozen=True)
class Material:
    """A library, word list or model that a builder took words or judgements from.

    Attributes
    ----------
    name, version, licence
        As its makers write them; the version is empty where it has none.
    purpose
        What it was used for, in a few words.
    """

    name: str
    version: str
    licence: str
    purpose: str


def library(distribution: str, purpose: str, licence: str = "") -> Material:
    """Describe an installed Python package by its own metadata, or by the licence that is given."""
    try:
        found = metadata(distribution)
    except PackageNotFoundError:
        return Material(distribution, "", licence or "unknown", purpose)
    written = [licence, *(found[key] for key in ("License-Expression", "License") if key in found)]
    classified = [c.rpartition(" :: ")[2] for c in found.get_all("Classifier") or () if c.startswith("License ::")]
    told = next((name for name in (*written, *classified) if name and name.upper() != "UNKNOWN"), "unknown")
    return Material(distribution, found["Version"], told.splitlines()[0], purpose)


@dataclass(frozen=True)
class Reading:
    """What a builder's own ``read`` found in a file, and what it had to assume."""

    sources: tuple[Any, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Built:
    """What a builder made of its sources.

    Attributes
    ----------
    samples
        The test set: samples of one shape, their ids unique.
    rejected
        How many sources, or edits, were left out for each reason; a reason is a short phrase for people.
    notes
        What was assumed or done otherwise than asked, one sentence each.
    seconds
        How long the work took.
    read
        How many rows were read; a builder leaves it to its caller.
    doubtful
        Choices that rules cannot decide on: not in the test set, one of each quadruple, for people to confirm.
    materials
        What it was made with, for the data card.
    ways
        How an edit of a sample was made, by (sample id, edit name): ``"WordNet, sense 2"``; of a question or a
        composition under the name ``question`` or that of its operator. Written as ``source``.
    documents
        Where the samples are questions: what is to be found.
    splits, answers
        Of questions, by their ids: ``train`` or ``test``; the words of the document that answer it.
    filtered_with
        Specs of the encoders that samples were chosen by, which they favour.
    prompt
        What a generator was told, with places for what it was given; empty where there was none.
    """

    samples: tuple[Sample, ...]
    rejected: Counter[str]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    read: int = 0
    materials: tuple[Material, ...] = ()
    doubtful: tuple[Choice, ...] = ()
    ways: Mapping[tuple[str, str], str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    splits: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    filtered_with: tuple[str, ...] = ()
    prompt: str = ""

    @property
    def shape(self) -> str:
        """What its corpus is: ``minimal_pairs``, ``choice``, ``retrieval`` …; empty where nothing was built."""
        return SHAPES[type(self.samples[0])] if self.samples else ""

    def corpus(self, name: str = "built", licence: str = "unknown") -> Corpus[Any]:
        """Return the samples as a corpus, which :func:`embassay.assay` takes."""
        return Corpus(
            name,
            self.shape,
            self.samples,
            licence=licence,
            source="built from the user's own text",
            notes=self.notes,
            filtered_with=self.filtered_with,
            documents=self.documents,
        )
