"""The documents of a corpus that are rows of a folder of shards."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import overload

from embassay.core.samples.retrieval import Document, StoredDocuments
from embassay.core.shards.vectors import ShardVectors
from embassay.core.types import content_hash


class ShardDocuments(StoredDocuments):
    """The rows of a folder of shards as documents, each with its id; nothing is read until it is needed."""

    def __init__(self, vectors: ShardVectors) -> None:
        """Take the documents of a complete folder."""
        self._vectors = vectors

    @property
    def path(self) -> Path:
        """The folder."""
        return self._vectors.folder.path

    @property
    def fingerprint(self) -> str:
        """A hash of the ids and the texts, in their order; the same for folders of different encoders."""
        return texts_fingerprint(self._vectors)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._vectors)

    @overload
    def __getitem__(self, place: int) -> Document: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Document, ...]: ...

    def __getitem__(self, place: int | slice) -> Document | tuple[Document, ...]:
        """Return a document by its row."""
        if isinstance(place, slice):
            return tuple(self[row] for row in range(len(self))[place])
        # range() refuses rows that do not exist.
        name = self._vectors.id_of(range(len(self))[place])
        return Document(name, (name,))

    def places(self, ids: Collection[str]) -> dict[str, int]:
        """Return the row of each id; ids that no row has are missing."""
        return self._vectors.rows_of("id", ids)


def texts_fingerprint(vectors: ShardVectors) -> str:
    """Return a hash of the ids and the texts of a folder of shards, in their order."""
    return content_hash(["shards", [plan.sha256 for plan in vectors.manifest.shards]])
