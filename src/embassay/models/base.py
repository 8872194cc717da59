"""The base of encoders: what a run asks of one beyond :class:`~embassay.core.types.Encoder`, each with a default.

What is known of an encoder without running it is in its :class:`~embassay.core.types.Card`.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias, cast

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from embassay.core.samples.base import Role
from embassay.core.samples.retrieval import StoredDocuments
from embassay.core.types import Encoder, cache_key
from embassay.core.vectors import Indices, Similarity, VectorMatrix

Route: TypeAlias = Mapping[str, object]
"""How an encoder ran, for ``run.json``: JSON values by name."""
Prompts: TypeAlias = Mapping[Role, str]
"""The prompt of each role; empty if it has none."""
Batch: TypeAlias = tuple[Sequence[int] | Indices, VectorMatrix]
"""Indices into texts, and their (m, d) float32 vectors."""
WINDOW = 8_192
"""Number of texts that are encoded together: what a model makes of all of them is in memory at once."""
UnknownWords: TypeAlias = tuple[int, int, int]
"""The number of words without a vector, of words, and of texts without any word vector."""


def changed_options(create: Callable[..., object], **options: Any) -> dict[str, Any]:
    """Return those options of a plug-in that differ from the defaults of the function that takes them.

    Parameters
    ----------
    options
        Arguments of that function. At its beginning, these are its ``locals()``; those without a default are left out.
    """
    parameters = inspect.signature(create).parameters
    changed = {}
    for name, value in options.items():
        default = parameters[name].default
        if default is not inspect.Parameter.empty and value != default:
            changed[name] = value
    return changed


def spec_of(head: str, options: Mapping[str, object]) -> str:
    """Return a spec, ``head,option=value…``. Options without a value (None, an empty text, 0) are left out.

    True, False and decimal numbers are always values, written ``true``, ``false`` and with six digits at most. The
    usual similarity, cosine, is left out too.
    """
    parts = [head]
    for name, value in options.items():
        if isinstance(value, bool):
            parts.append(f"{name}={str(value).lower()}")
        elif isinstance(value, float):
            parts.append(f"{name}={value:g}")
        elif value and (name, value) != ("similarity", "cosine"):
            parts.append(f"{name}={value}")
    return ",".join(parts)


def supported_similarity(name: object) -> Similarity:
    """Return the similarity with a model's own name for it: ``dot`` for ``dot``, and ``cosine`` for any other."""
    return "dot" if str(name) == "dot" else "cosine"


def encoder_of_vectors(encoder: Encoder) -> Encoder:
    """Return the encoder that has to encode for the vectors of this one: its full one, or else itself."""
    full = encoder.card.full
    return encoder if full is None else full


def key_in_cache(encoder: Encoder) -> str:
    """Return the key of an encoder's vectors in the cache; it holds the route."""
    return cache_key(encoder.fingerprint, encoder.card.route)


class BaseEncoder:
    """An encoder that learns nothing from texts and can do nothing beyond ``encode``; a subclass says what it can."""

    def __repr__(self) -> str:
        """Return class and spec; what an encoder holds is too much to show."""
        return f"<{type(self).__name__} {cast('Encoder', self).card.spec}>"

    def fit(self, texts: Sequence[str]) -> Self:
        """Return an encoder that has learnt from these texts; itself, because nothing is learnt."""
        return self

    def relearn(self, texts: Sequence[str]) -> Encoder:
        """Return, after ``fit``, an encoder that has learnt from these texts of a training fold only.

        It is asked where ``card.relearns``.
        """
        return cast("Encoder", self)

    def prepare(self) -> None:
        """Import and load what encoding needs, unless it is loaded already: this time counts as loading."""

    def release(self) -> None:
        """Release memory or a connection before the next encoder starts; it is loaded again for the next text."""

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[Batch] | None:
        """Return an iterator of (indices into ``texts``, their (m, d) float32 vectors), each index once, in any order.

        It gets all texts of a role at once. Vectors that were yielded are kept, even if a later batch fails. None if
        the encoder makes no batches itself.
        """
        return None

    def batch_invariant(self) -> bool:
        """Return whether a text has the same vector in every batch, bit by bit; False while that is not known."""
        return False

    def derive(self, rows: Any) -> Any:
        """Return this encoder's (n, d) vectors from the (n, m) ones of ``card.full``.

        Raises
        ------
        EncoderError
            If they have too few dimensions.
        """
        return rows

    def with_other(self, load: Callable[[str], Encoder]) -> Encoder:
        """Return this encoder with a function that loads another one, which makes some of its vectors, by its spec."""
        return cast("Encoder", self)

    def vectors_of(self, documents: StoredDocuments) -> Any:
        """Return the (p, d) vectors of stored documents, in their order, read on access; None if it stores none.

        Raises
        ------
        EncoderError
            If its vectors are those of other documents.
        """
        return None

    def count_tokens(self, texts: Sequence[str], role: Role) -> Sequence[int] | Indices | None:
        """Return the (n,) tokens of each text before truncation, with prompt and special tokens; None if unknown."""
        return None

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords | None:
        """Return (tokens without a vector, tokens, texts without any word vector); None if it knows no words."""
        return None

    def route(self) -> Route:
        """Return how the encoder ran, for ``run.json``: JSON values by name. This loads nothing."""
        return {}

    def training_datasets(self) -> tuple[str, ...]:
        """Return the data sets that its model card names as training data, as written there; empty without a card."""
        return ()

    def known_fingerprint(self) -> str | None:
        """Return the fingerprint without a request to a service: the last known one; None if there is none."""
        return cast("Encoder", self).fingerprint


class BatchEncoder(BaseEncoder):
    """An encoder that makes its vectors in batches. A subclass implements ``batches``."""

    @abstractmethod
    def batches(self, texts: Sequence[str], role: Role) -> Iterator[Batch]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors) of each batch as soon as it is ready."""

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, d) float32, dense or CSR; equal texts are encoded once."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        distinct = list(dict.fromkeys(texts))
        encoded: list[str] = []
        blocks: list[VectorMatrix] = []
        for start in range(0, len(distinct), WINDOW):
            window = distinct[start : start + WINDOW]
            # Batches come in any order.
            for places, vectors in self.batches(window, role):
                encoded += [window[place] for place in places]
                blocks.append(vectors)
        row_of = {text: row for row, text in enumerate(encoded)}
        rows = [row_of[text] for text in texts]
        if issparse(blocks[0]):
            return csr_array(vstack(blocks, format="csr")[rows])
        return np.asarray(np.concatenate(blocks)[rows])


class AdoptedEncoder(BaseEncoder):
    """An encoder of another package, which need not inherit from the base: what it does not have is the default."""

    def __init__(self, encoder: Encoder):
        self._encoder = encoder
        # What the class computes, such as ``card``, is left to __getattr__: it may load a model.
        for name in vars(BaseEncoder).keys() & dir(encoder):
            if not name.startswith("_"):
                setattr(self, name, getattr(encoder, name))

    def __getattr__(self, name: str) -> Any:
        """Return what the encoder has itself."""
        return getattr(self._encoder, name)


class FullEncoder(BaseEncoder, Encoder):
    """For type checkers: an encoder with all that a run may ask of it."""


def adopted(encoder: Encoder) -> FullEncoder:
    """Return an encoder with everything that a run may ask of it: itself, or one of another package in a shell."""
    return cast("FullEncoder", encoder if isinstance(encoder, BaseEncoder) else AdoptedEncoder(encoder))
