"""The vectors of a folder of parts, which ``embassay encode`` made.

Documents are searched in the folder. Questions are encoded by the model that made the parts, which is loaded for the
first question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from embassay.core.errors import EncoderError
from embassay.core.parts import PartVectors
from embassay.core.samples.base import Role
from embassay.core.samples.retrieval import StoredDocuments
from embassay.core.types import Card, Encoder, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.arrays import dense_rows
from embassay.models.base import supported_similarity
from embassay.models.loaded import LoadedEncoder


@dataclass(frozen=True, eq=False, repr=False)
class PartsEncoder(LoadedEncoder[Encoder]):
    """An encoder whose vectors of documents are in parts.

    Attributes
    ----------
    name
        The path of the folder, as it was given.
    load_spec
        Loads the model that made the parts, from its spec.
    """

    name: str
    vectors: PartVectors
    load_spec: Callable[[str], Encoder] | None = None

    @property
    def card(self) -> Card:
        """The properties that the manifest states. Its vectors need not be cached."""
        similarity = supported_similarity(self.vectors.manifest.similarity)
        return Card(f"vectors:{self.name}", cached=False, stores_vectors=True, similarity=similarity)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the model's fingerprint, and of the precision in which the vectors are stored."""
        return content_hash(["parts", self.vectors.manifest.fingerprint, self.vectors.manifest.dtype])

    def with_other(self, load: Callable[[str], Encoder]) -> PartsEncoder:
        """Return this encoder with a function that loads the model that made the parts, from its spec."""
        return replace(self, load_spec=load)

    def vectors_of(self, documents: StoredDocuments) -> PartVectors:
        """Return the (p, d) vectors of documents, if their ids and texts are those of this folder, in its order.

        Raises
        ------
        EncoderError
            If they are not.
        """
        if documents.fingerprint != self.vectors.manifest.texts_fingerprint:
            raise EncoderError(
                f"{self.vectors.folder} was made of other texts than {documents.vectors.folder}; encode the same "
                "files, in the same order"
            )
        return self.vectors

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32.

        Raises
        ------
        EncoderError
            For documents, whose texts are not stored, and if the model cannot encode.
        """
        if role == "document":
            raise EncoderError(
                f"{self.vectors.folder} has vectors of documents by their ids, not by their texts; to search them, use "
                f"the folder as documents: -c {self.name},questions=FILE"
            )
        # Parts hold no sparse vectors.
        return dense_rows(self.model.encode(texts, role))

    def load(self) -> Encoder:
        """Load the model that made the parts."""
        folder, manifest = self.vectors.folder, self.vectors.manifest
        if self.load_spec is None:
            raise EncoderError(f"{folder}: has vectors of documents only")
        model = self.load_spec(manifest.spec)
        if model.fingerprint != manifest.fingerprint:
            raise EncoderError(
                f"{manifest.spec} has changed since it made {folder} (fingerprint {manifest.fingerprint}, now "
                f"{model.fingerprint}); encode the documents again"
            )
        return model
