"""``items/`` in a run's folder: the items of each corpus with a hash of their content, and their texts.

Two runs are compared on the items that both have. An id alone does not tell whether an item is the same: a file of
questions may have been edited between two runs. The texts are for people, who want to read what has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from embassay.core.errors import begun
from embassay.core.samples.base import Sample
from embassay.core.samples.groups import Grouped
from embassay.core.types import AnyCorpus, content_hash

NOT_CONTENT = ("id", "unit", "units")
"""The fields of a sample that its hash leaves out: a new line at the top of a file changes the numbers of all lines."""
UNIT_KEY = "group"
"""A field that the hash leaves out too, unless the group is the right answer (``Grouped``); elsewhere it is a unit."""


@dataclass(frozen=True)
class StoredItem:
    """One item of a corpus.

    Attributes
    ----------
    hash
        16 hexadecimal digits of its content: texts, and what is right.
    text_hash
        The same of its texts alone, without case and white space: near-duplicates have the same.
    texts
        By name, each cut after 400 characters; empty where texts are not stored.
    """

    id: str
    hash: str
    text_hash: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CorpusItems:
    """The items of a corpus, in its order.

    Attributes
    ----------
    corpus
        The label of the corpus.
    fingerprint
        That of the corpus.
    documents
        A hash of the documents that are searched, as they are cut; empty where there are none.
    """

    corpus: str
    fingerprint: str
    items: tuple[StoredItem, ...]
    documents: str = ""

    @classmethod
    def of(cls, corpus: AnyCorpus, *, texts: bool) -> CorpusItems:
        """Return the items of a corpus, with or without texts."""
        items = []
        for sample in corpus.samples:
            shown = {}
            if texts:
                shown = {name: begun(text) for name, text in sample.fields().items()}
            items.append(StoredItem(sample.id, item_hash(sample), text_hash(sample), shown))
        documents = ""
        if corpus.stored_documents is not None:
            documents = corpus.stored_documents.fingerprint
        elif corpus.documents:
            parts = [[document.id, *document.passages] for document in corpus.documents]
            documents = content_hash(parts)
        return cls(corpus.name, corpus.fingerprint, tuple(items), documents)

    def without_texts(self) -> CorpusItems:
        """Return the same items without their texts."""
        return replace(self, items=tuple(replace(item, texts={}) for item in self.items))


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
