"""The vectors of a folder of shards, which ``embassay encode`` made.

Texts in the role of the shards are looked up. Questions are encoded by the model that made the shards; it is loaded
when the first question is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from embassay.core.errors import EncoderError, quoted
from embassay.core.samples.base import Role
from embassay.core.samples.retrieval import StoredDocuments
from embassay.core.shards.documents import texts_fingerprint
from embassay.core.shards.shards import text_hash
from embassay.core.shards.vectors import ShardVectors
from embassay.core.types import Card, Encoder, content_hash
from embassay.core.vectors import DenseVectors, Indices, VectorBatch, dense_rows
from embassay.models.base import Releases, Route, supported_similarity
from embassay.models.loaded import UnfittedEncoder


@dataclass(frozen=True)
class ShardsEncoder(UnfittedEncoder):
    """An encoder whose vectors of documents are in shards.

    Attributes
    ----------
    name
        The path of the folder, as it was given.
    load
        Loads the model that made the shards, from its spec.
    """

    name: str
    vectors: ShardVectors = field(repr=False)
    load: Callable[[str], Encoder] | None = field(default=None, repr=False)

    @property
    def card(self) -> Card:
        """The properties that the manifest states. Its vectors need not be cached."""
        similarity = supported_similarity(self.vectors.manifest.similarity)
        return Card(f"vectors:{self.name}", cached=False, similarity=similarity)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model's fingerprint, and of the role and the precision in which the vectors are stored."""
        manifest = self.vectors.manifest
        return content_hash(["shards", manifest.fingerprint, manifest.role, manifest.dtype])

    def with_other(self, load: Callable[[str], Encoder]) -> ShardsEncoder:
        """Return this encoder with a function that loads the model that made the shards, from its spec."""
        return replace(self, load=load)

    def vectors_of(self, documents: StoredDocuments) -> ShardVectors:
        """Return the (p, d) vectors of documents, if their ids and texts are those of this folder, in its order.

        Raises
        ------
        EncoderError
            If they are not.
        """
        if documents.fingerprint != texts_fingerprint(self.vectors):
            raise EncoderError(
                f"{self.vectors.folder.path} was made of other texts than {documents.path}, or they are cut into other "
                "shards; encode the same files with the same --shard"
            )
        return self.vectors

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            If a text in the role of the shards has no vector, or the model cannot encode.
        """
        if role == self.vectors.manifest.role:
            return self.vectors[self._rows(texts)]
        # Shards hold no sparse vectors.
        return dense_rows(self._model.encode(texts, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[VectorBatch]:
        """Yield one batch, because the shards are searched for all texts at once.

        Raises
        ------
        EncoderError
            As :meth:`encode`.
        """
        yield np.arange(len(texts)), self.encode(texts, role)

    def release(self) -> None:
        """Release the model."""
        model = vars(self).pop("_model", None)
        if isinstance(model, Releases):
            model.release()

    def route(self) -> Route:
        """Return facts about the folder, for ``run.json``."""
        rows, dim = self.vectors.shape
        manifest = self.vectors.manifest
        return {"form": "shards", "shards": len(manifest.shards), "dtype": manifest.dtype, "rows": rows, "dim": dim}

    def _rows(self, texts: Sequence[str]) -> Indices:
        """Return the (n,) rows of texts; raise EncoderError if one is missing."""
        hashes = [text_hash(text) for text in texts]
        row_of_hash = self.vectors.rows_of("text_hash", set(hashes))
        missing = [text for text, hashed in zip(texts, hashes, strict=True) if hashed not in row_of_hash]
        if missing:
            raise EncoderError(
                f"{self.vectors.folder.path}: {len(missing):,} of {len(texts):,} texts have no vector for the role "
                f"{self.vectors.manifest.role}; the first is {quoted(missing[0])}. Texts must be the same to the last "
                f"space; for retrieval, use the folder as documents: -c {self.name},questions=FILE"
            )
        return np.array([row_of_hash[hashed] for hashed in hashes], dtype=np.int64)

    @cached_property
    def _model(self) -> Encoder:
        """The model that made the shards, loaded at the first access."""
        manifest = self.vectors.manifest
        if self.load is None:
            raise EncoderError(f"{self.vectors.folder.path}: has no vectors for other roles than {manifest.role}")
        model = self.load(manifest.spec)
        if model.fingerprint != manifest.fingerprint:
            raise EncoderError(
                f"{manifest.spec} has changed since it made {self.vectors.folder.path} (fingerprint "
                f"{manifest.fingerprint}, now {model.fingerprint}); encode the documents again"
            )
        return model
