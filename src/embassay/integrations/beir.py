"""An encoder with the interface of BEIR's dense models: ``encode_queries``, ``encode_corpus`` (Thakur et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embassay.errors import SpecError
from embassay.integrations.vectors import dense
from embassay.run.resolve import load_encoder
from embassay.types import Encoder


@dataclass(frozen=True)
class BeirModel:
    """A model for BEIR's ``DenseRetrievalExactSearch``.

    Attributes
    ----------
    encoder
        An encoder from :func:`embassay.encoder`, fitted if it learns from texts, or anything that this function takes.
    sep
        The separator between a document's title and its text: a space, as in BEIR's own models.

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

    def encode_queries(self, queries: Sequence[str], batch_size: int = 16, **more: object) -> NDArray[np.float32]:
        """Return the (n, d) vectors of questions; the encoder chooses its own batches."""
        return dense(self.encoder, queries, "query")

    def encode_corpus(
        self,
        corpus: Sequence[Mapping[str, str | None] | str] | Mapping[str, Sequence[str | None]],
        batch_size: int = 8,
        **more: object,
    ) -> NDArray[np.float32]:
        """Return the (n, d) vectors of documents, titles before texts; the encoder chooses its own batches.

        Parameters
        ----------
        corpus
            Documents with ``text`` and optionally ``title`` (may be None), plain texts, or a dictionary with a list for
            each field.

        Raises
        ------
        SpecError
            If a document has no text, or a text that is not a str.
        """
        if isinstance(corpus, Mapping):
            # A list for each field becomes a dictionary for each document.
            fields = corpus.keys()
            rows = zip(*corpus.values(), strict=True)
            corpus = [dict(zip(fields, values, strict=True)) for values in rows]
        texts = [self._text(place, document) for place, document in enumerate(corpus)]
        return dense(self.encoder, texts, "document")

    def _text(self, place: int, document: Mapping[str, str | None] | str) -> str:
        if isinstance(document, str):
            return document
        if not isinstance(document, Mapping):
            raise SpecError(f"document {place} must be a text or have a field text, is {type(document).__name__}")
        if "text" not in document:
            raise SpecError(f"document {place} has no text; its fields: {', '.join(document) or 'none'}")
        # Data sets without titles have None or an empty text there.
        title, text = document.get("title"), document["text"]
        if title is None:
            title = ""
        for name, value in (("title", title), ("text", text)):
            if not isinstance(value, str):
                raise SpecError(f"document {place}, field {name!r}: must be a str, is {type(value).__name__}")
        if not title:
            return str(text).strip()
        return f"{title}{self.sep}{text}".strip()
