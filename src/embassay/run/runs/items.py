"""The items of the corpora of a run: hashes of their content, and ``items.json`` with their texts.

Two runs are compared on the items that both have. An id alone does not tell whether an item is the same: a file of
questions may have been edited between two runs. The texts are for people, who want to read what has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from embassay.core.errors import SourceError, begun
from embassay.core.samples.base import Sample
from embassay.core.samples.groups import Grouped
from embassay.core.types import AnyCorpus, content_hash

FILE = "items.json"
NOT_CONTENT = ("id", "unit", "units")
"""The fields of a sample that its hash leaves out: a new line at the top of a file changes the numbers of all lines."""
UNIT_KEY = "group"
"""A field that the hash leaves out too, unless the group is the right answer (``Grouped``); elsewhere it is a unit."""
Texts = Mapping[str, Mapping[str, str]]
"""The texts of each item by the hash of its content, then by name, each cut after 400 characters."""


def item_hash(sample: Sample) -> str:
    """Return a hash of a sample's content: the same for the same content, whatever its id and unit."""
    left_out = {*NOT_CONTENT}
    if not isinstance(sample, Grouped):
        left_out.add(UNIT_KEY)
    content = {name: value for name, value in vars(sample).items() if name not in left_out}
    return content_hash([content, *sample.texts()])


def text_hash(sample: Sample) -> str:
    """Return a hash of a sample's texts: the same where they differ in case and white space only."""
    return content_hash([" ".join(text.casefold().split()) for _, text in sample.texts()])


def documents_hash(corpus: AnyCorpus) -> str:
    """Return a hash of the documents that are searched, as they are cut; empty where there are none."""
    if corpus.stored_documents is not None:
        return corpus.stored_documents.fingerprint
    if not corpus.documents:
        return ""
    return content_hash([[document.id, *document.passages] for document in corpus.documents])


def texts_of(corpora: Iterable[AnyCorpus]) -> Texts:
    """Return the texts of all items of some corpora."""
    samples = [sample for corpus in corpora for sample in corpus.samples]
    return {item_hash(sample): {name: begun(text) for name, text in sample.fields().items()} for sample in samples}


def read_texts(folder: Path) -> Texts:
    """Return the texts of the items of a run; empty where they are not stored.

    Raises
    ------
    SourceError
        If the file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        texts: Texts = json.loads(path.read_bytes())
        if all(isinstance(text, str) for of_item in texts.values() for text in of_item.values()):
            return texts
    except (OSError, ValueError, AttributeError):
        pass
    raise SourceError("the texts of the items are damaged; repeat the run's command with --overwrite", path)
