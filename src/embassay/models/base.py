"""Optional abilities of encoders beyond :class:`~embassay.core.types.Encoder`: one protocol for each.

An encoder has an ability if it has the methods of that protocol; it need not inherit from it. The protocols have no
properties, because ``isinstance`` computes them, and one might load a model. What is known of an encoder without
running it is in its :class:`~embassay.core.types.Card`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from embassay.core.samples.base import Role
from embassay.core.samples.retrieval import StoredDocuments
from embassay.core.types import Encoder, cache_key
from embassay.core.vectors import DenseVectors, Indices, Similarity, VectorMatrix

Route: TypeAlias = Mapping[str, object]
"""How an encoder ran, for ``run.json``: JSON values by name."""
Prompts: TypeAlias = Mapping[Role, str]
"""The prompt of each role; empty if it has none."""
UnknownWords: TypeAlias = tuple[int, int, int]
"""The number of words without a vector, of words, and of texts without any word vector."""


def spec_of(head: str, options: Mapping[str, object]) -> str:
    """Return a spec, ``head,option=value…``. Options without a value (None, an empty text, 0) are left out.

    True and False are values, written ``true`` and ``false``. The usual similarity, cosine, is left out too.
    """
    parts = [head]
    for name, value in options.items():
        if isinstance(value, bool):
            parts.append(f"{name}={str(value).lower()}")
        elif value and (name, value) != ("similarity", "cosine"):
            parts.append(f"{name}={value}")
    return ",".join(parts)


def supported_similarity(name: object) -> Similarity:
    """Return the similarity with a model's own name for it: ``dot`` for ``dot``, and ``cosine`` for any other."""
    return "dot" if str(name) == "dot" else "cosine"


@runtime_checkable
class Batches(Protocol):
    """Makes its own batches: it receives all texts of a role at once."""

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[Sequence[int] | Indices, VectorMatrix]]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors), each index once, in any order.

        Vectors that were yielded are kept, even if a later batch fails.
        """
        ...


@runtime_checkable
class Prepares(Protocol):
    """Loads a model; a run has it loaded before the first text is encoded, so that this time counts as loading."""

    def prepare(self) -> None:
        """Import and load what encoding needs, unless it is loaded already."""
        ...


@runtime_checkable
class Derived(Protocol):
    """May have vectors that follow from those of another encoder (cut, scaled or quantised): ``card.full``."""

    def derive(self, rows: DenseVectors) -> DenseVectors:
        """Return this encoder's (n, d) vectors from the (n, m) ones of ``card.full``.

        Raises
        ------
        EncoderError
            If they have too few dimensions.
        """
        ...


def encoder_of_vectors(encoder: Encoder) -> Encoder:
    """Return the encoder that has to encode for the vectors of this one: its full one, or else itself."""
    full = encoder.card.full
    return encoder if full is None else full


def key_in_cache(encoder: Encoder) -> str:
    """Return the key of an encoder's vectors in the cache; it holds the route."""
    return cache_key(encoder.fingerprint, encoder.card.route)


@runtime_checkable
class HasStoredVectors(Protocol):
    """Has the vectors of texts that are not at hand: the documents of a folder of parts."""

    def vectors_of(self, documents: StoredDocuments) -> Any:
        """Return the (p, d) vectors of the documents, in their order, which are read on access.

        Raises
        ------
        EncoderError
            If its vectors are those of other documents.
        """
        ...


@runtime_checkable
class EncodesWithAnother(Protocol):
    """Looks up some vectors and lets another encoder make the others."""

    def with_other(self, load: Callable[[str], Encoder]) -> Encoder:
        """Return this encoder with a function that loads an encoder from its spec, called when it is first needed."""
        ...


@runtime_checkable
class BatchInvariant(Protocol):
    """Reports whether other texts of a batch change a text's vector."""

    def batch_invariant(self) -> bool:
        """Return whether a text has the same vector in every batch, bit by bit; False while that is not known.

        It may be known only after ``prepare``; False is assumed without this method.
        """
        ...


@runtime_checkable
class Relearns(Protocol):
    """Learns again in each training fold, so that it never learns from test texts."""

    def relearn(self, texts: Sequence[str]) -> Encoder:
        """Return, after ``fit``, an encoder that has learnt from these texts only."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """Counts tokens; a run then reports how many texts are longer than ``card.max_tokens``."""

    def count_tokens(self, texts: Sequence[str], role: Role) -> Sequence[int] | Indices:
        """Return the (n,) number of tokens of each text before truncation, prompt and special tokens included."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """Has vectors of some words and of no others."""

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        ...


@runtime_checkable
class Routed(Protocol):
    """Has several ways to compute the same vectors."""

    def route(self) -> Route:
        """Return how the encoder ran, for ``run.json``: JSON values by name. This loads nothing."""
        ...


@runtime_checkable
class NamesTrainingData(Protocol):
    """May know what it was trained on; a run then warns of corpora of the same data."""

    def training_datasets(self) -> tuple[str, ...]:
        """Return the data sets that its model card names as training data, as written there; empty without a card."""
        ...


@runtime_checkable
class KnownByWeights(Protocol):
    """Can be recognised, by its weights, as a model with published figures, whatever its folder is called."""

    def name_of_weights(self) -> str:
        """Return what papers call the model that has these weights; empty where that is not known."""
        ...


@runtime_checkable
class Releases(Protocol):
    """Holds memory or a connection, which is released before the next encoder starts."""

    def release(self) -> None:
        """Release what was loaded; it is loaded again for the next text."""
        ...


@runtime_checkable
class Remote(Protocol):
    """Sends texts to a service, which may cost money; required if ``card.remote`` is True."""

    def known_fingerprint(self) -> str | None:
        """Return the last fingerprint, without a request; None if there is none."""
        ...

    def estimate_tokens(self, texts: Sequence[str], role: Role) -> Indices:
        """Return the (n,) estimated number of tokens of each text, prompt included."""
        ...

    def outlook(self, tokens: int) -> list[str]:
        """Return what a dry run says of sending so many tokens: their number, their cost, what exceeds a budget."""
        ...


@runtime_checkable
class MayChange(Protocol):
    """May change between calls, because it wraps an object of the user."""

    def of_one_run(self) -> Encoder:
        """Return the encoder in its current state; during one run it is assumed not to change."""
        ...
