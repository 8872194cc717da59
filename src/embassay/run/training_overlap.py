"""Notes on models that were trained on a corpus of the run, according to their model cards.

``core/data/training_sets.toml`` has the data sets: their names in model cards, and how a corpus of each is recognised.
The label of the corpus is not used.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path

from embassay.core.formatting import names
from embassay.core.types import AnyCorpus
from embassay.reports.findings import templates
from embassay.run.candidates import RunEncoder

Family = Mapping[str, Sequence[str]]
"""A data set, with all corpora that are made from its texts: lists of patterns, see the file."""


@cache
def families() -> dict[str, Family]:
    """Return the known data sets by their titles."""
    text = files("embassay.core.data").joinpath("training_sets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def overlaps(entries: Sequence[RunEncoder], corpora: Sequence[AnyCorpus]) -> Iterator[str]:
    """Yield a note for each encoder and corpus where the encoder's model card names the corpus's data set."""
    for corpus, (title, family) in product(corpora, families().items()):
        evidence = recognised_by(family, corpus)
        for entry in entries if evidence else ():
            if datasets := named_datasets(family, entry):
                yield templates.TRAINED_ON.sentence(
                    encoder=entry.label,
                    datasets=names(datasets[:3]),
                    corpus=corpus.name,
                    family=title,
                    evidence=evidence,
                )


def named_datasets(family: Family, entry: RunEncoder) -> list[str]:
    """Return the training data sets of an encoder that belong to a family, as its model card writes them."""
    datasets = () if entry.retriever else entry.encoder.training_datasets()
    # "sentence-transformers/all-NLI" -> "allnli"
    return [name for name in datasets if _matches(re.sub("[^a-z0-9]|.*/", "", name.lower()), family["datasets"])]


def recognised_by(family: Family, corpus: AnyCorpus) -> str:
    """Return the evidence that a corpus belongs to a family; empty where there is none."""
    content = (corpus.loader, corpus.fingerprint, *(sample.id for sample in corpus.samples))
    if any(_matches(one, family.get("content", ())) for one in content):
        return "by its content"
    path = Path(corpus.file)
    # A folder has no suffix: a dot belongs to its name.
    name = path.name if path.is_dir() else path.stem
    return f"by the name of its file, {path.name}" if _matches(name.lower(), family["files"]) else ""


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
