"""What every builder returns, and how it reports its progress.

A builder is a module of ``kinds/`` with ``build(sources, *, seed, count, advance, OPTIONS) -> Built``. It may also
define

- ``read(path, *, OPTIONS)``: its own reader, which returns the sources, and notes on what had to be assumed;
- ``given(sources)``: converts sources that are passed in Python to what ``build`` takes;
- ``LANGUAGES = "any"``: its rules are valid for languages other than English.

Without ``read`` its sources are sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import metadata
from typing import Any

from embassay.core.samples.base import Sample
from embassay.core.samples.checks import SAMPLES
from embassay.core.samples.retrieval import Document
from embassay.core.types import Corpus

Reasons = Counter[str]
"""The number of sources or edits that were rejected, by reason; a reason is a short phrase to read."""


Advance = Callable[[int, int], None]
"""A callback that a builder reports its progress to: how many of how many sources have been processed."""


def silent(done: int, total: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True)
class Resource:
    """A library, word list or model that a builder took words or judgements from.

    Attributes
    ----------
    name, version, licence
        As its authors write them; the version is empty if there is none.
    purpose
        What it was used for, in a few words.
    """

    name: str
    version: str
    licence: str
    purpose: str


def library(distribution: str, purpose: str, licence: str = "") -> Resource:
    """Describe an installed Python package by its own metadata; ``licence`` overrides the metadata's."""
    package = metadata(distribution)
    licences = [licence, *(package[key] for key in ("License-Expression", "License") if key in package), "unknown"]
    # Some packages put the whole text of their licence into this field.
    first_lines = [text.partition("\n")[0] for text in licences if text]
    return Resource(distribution, package["Version"], first_lines[0], purpose)


@dataclass(frozen=True)
class Built:
    """The result of a builder.

    Attributes
    ----------
    samples
        The test set: samples of one shape, their ids unique.
    rejected
        The number of sources, or of edits, that were rejected for each reason; a reason is a short phrase to read.
    notes
        What was assumed, or done differently from what was requested: one sentence each.
    read, sha256
        The number of rows that were read, and the hash of the sources; a builder leaves both to its caller.
    materials
        Libraries, word lists and models that were used, for the data card.
    fields
        Further fields of a sample's line, by its id: ``source``, how it was made (of minimal pairs, each edit); of a
        question its ``split``, ``train`` or ``test``, and as ``answer`` the words of its document that answer it.
    documents
        The documents to search, if the samples are questions.
    filtered_with
        Specs of the encoders that selected the samples; the test set favours them.
    prompt
        The generator's prompt, with placeholders; empty without a generator.
    source
        How the samples were made, for the corpus.
    """

    samples: tuple[Sample, ...]
    rejected: Reasons
    notes: tuple[str, ...] = ()
    read: int = 0
    materials: tuple[Resource, ...] = ()
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    filtered_with: tuple[str, ...] = ()
    prompt: str = ""
    source: str = "built from the user's own text"
    sha256: str = ""

    @property
    def shape(self) -> str:
        """The shape of its corpus: ``minimal_pairs``, ``choice``, ``retrieval`` …; empty if nothing was built."""
        if not self.samples:
            return ""
        return next(shape for shape, kind in SAMPLES.items() if kind is type(self.samples[0]))

    def corpus(self, name: str = "built", licence: str = "unknown") -> Corpus[Sample]:
        """Return the samples as a corpus, which :func:`embassay.assay` takes."""
        return Corpus(
            name,
            self.shape,
            self.samples,
            licence=licence,
            source=self.source,
            notes=self.notes,
            filtered_with=self.filtered_with,
            documents=self.documents,
        )
