"""An encoder as BEIR's dense models are: ``encode_queries`` and ``encode_corpus`` (Thakur et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.errors import SpecError
from embassay.integrations.vectors import dense
from embassay.run.resolve import load_encoder
from embassay.types import Encoder


@dataclass(frozen=True)
class BeirModel:
    """What ``DenseRetrievalExactSearch`` takes as its model.

    Attributes
    ----------
    encoder
        Made by :func:`embassay.encoder`, and fitted where it learns from texts; what that function takes is made one.
    sep
        What stands between a document's title and its text, a blank as in BEIR's own models.

    Raises
    ------
    InputError
        If there is no such encoder.
    """

    encoder: Encoder
    sep: str = " "

    def __post_init__(self) -> None:
        """Load the encoder of a spec."""
        object.__setattr__(self, "encoder", load_encoder(self.encoder))

    def encode_queries(self, queries: Sequence[str], batch_size: int = 16, **more: Any) -> NDArray[np.float32]:
        """Return the (n, d) vectors of questions; batches are the encoder's own."""
        return dense(self.encoder, queries, "query")

    def encode_corpus(
        self,
        corpus: Sequence[Mapping[str, str | None] | str] | Mapping[str, Sequence[str | None]],
        batch_size: int = 8,
        **more: Any,
    ) -> NDArray[np.float32]:
        """Return the (n, d) vectors of documents, titles before texts; batches are the encoder's own.

        Parameters
        ----------
        corpus
            Documents with ``text`` and perhaps ``title`` (None is none), plain texts, or a list of each field by its
            name.

        Raises
        ------
        SpecError
            If a document has no text, or one that is no str.
        """
        if isinstance(corpus, Mapping):
            fields = corpus.keys()
            corpus = [dict(zip(fields, values, strict=True)) for values in zip(*corpus.values(), strict=True)]
        texts = [self._text(place, document) for place, document in enumerate(corpus)]
        return dense(self.encoder, texts, "document")

    def _text(self, place: int, document: Mapping[str, str | None] | str) -> str:
        if isinstance(document, str):
            return document
        if not isinstance(document, Mapping):
            raise SpecError(f"document {place} must be a text or have a field text, is {type(document).__name__}")
        if "text" not in document:
            raise SpecError(f"document {place} has no text; its fields: {', '.join(document) or 'none'}")
        title, text = document.get("title"), document["text"]
        if title is None:
            title = ""
        for name, value in (("title", title), ("text", text)):
            if not isinstance(value, str):
                raise SpecError(f"document {place}, field {name!r}: must be a str, is {type(value).__name__}")
        if not title:
            return str(text).strip()
        return f"{title}{self.sep}{text}".strip()
