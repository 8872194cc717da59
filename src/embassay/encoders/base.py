"""What an encoder may do beyond :class:`~embassay.types.Encoder`: one protocol for each optional ability.

An encoder has an ability when it has the method or property of that name; it need not inherit from anything here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from embassay.samples.base import Role
from embassay.types import Encoder
from embassay.vectors import VectorMatrix


def spec_of(head: str, options: Mapping[str, object]) -> str:
    """Return a spec, ``head,option=value…``; options without a value (None, an empty text, 0) are left out.

    True and False are written as a command line takes them, and both are values.
    """
    parts = [head]
    for name, value in options.items():
        if isinstance(value, bool):
            parts.append(f"{name}={str(value).lower()}")
        elif value:
            parts.append(f"{name}={value}")
    return ",".join(parts)


@runtime_checkable
class Batches(Protocol):
    """Batches by itself: it is given all texts of a role at once, to sort and tokenise as suits it."""

    def batches(
        self, texts: Sequence[str], role: Role
    ) -> Iterator[tuple[Sequence[int] | NDArray[np.int64], VectorMatrix]]:
        """Yield (places in ``texts``, from 0; their (m, d) float32 vectors), each place once, in any order.

        What has been yielded is kept, also if a later batch fails.
        """
        ...


@runtime_checkable
class BatchInvariant(Protocol):
    """Knows whether the texts beside it change a text's vector."""

    @property
    def batch_invariant(self) -> bool:
        """Whether a text has the same vector in every batch, bit by bit. Without this property it may have others."""
        ...


@runtime_checkable
class Relearns(Protocol):
    """Learns something anew inside each training fold, so that no test text is learnt from."""

    def relearn(self, texts: Sequence[str]) -> Encoder:
        """Return, after ``fit``, an encoder that has learnt from these texts only."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """Cuts texts into tokens: with it, a run says how many texts are longer than ``card.max_tokens``."""

    def count_tokens(self, texts: Sequence[str], role: Role) -> Sequence[int] | NDArray[np.int64]:
        """Return the (n,) number of tokens of each text before truncation, prompt and special tokens included."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """Has vectors of some words and of no others."""

    def unknown_words(self, texts: Sequence[str]) -> tuple[int, int, int]:
        """Return how many tokens of the texts have no vector, how many there are, and how many texts have no other."""
        ...


@runtime_checkable
class Reworded(Protocol):
    """Puts a prompt before texts: with it, a run says how much the vectors depend on the prompt's wording."""

    def reworded(self, role: Role) -> Iterable[Encoder]:
        """Return the same model with other wordings of a role's prompt; nothing if the role has none."""
        ...


@runtime_checkable
class Routed(Protocol):
    """Has several ways to compute the same vectors."""

    @property
    def route(self) -> Mapping[str, object]:
        """How it ran, for ``run.json``: JSON values by name. Nothing of it changes what a vector means."""
        ...


@runtime_checkable
class Releases(Protocol):
    """Holds memory or a connection: it lets go before the next encoder starts."""

    def release(self) -> None:
        """Release what was loaded; it is loaded again for the next text."""
        ...


@runtime_checkable
class Remote(Protocol):
    """Asks a service, which costs money; needed where ``card.remote`` is True."""

    @property
    def known_fingerprint(self) -> str | None:
        """The fingerprint of the last time, without a request; None if there is none."""
        ...

    def estimate(self, texts: Sequence[str], role: Role = "text") -> tuple[int, float | None]:
        """Return about how many tokens the texts are, and what they cost where the price is known; nothing is sent."""
        ...

    def estimate_tokens(self, texts: Sequence[str], role: Role) -> NDArray[np.int64]:
        """Return (n,) about how many tokens each text is, prompt included."""
        ...

    def beyond_budget(self, tokens: int) -> str:
        """Return by how much the tokens exceed the budget, and how far it goes; empty if it suffices."""
        ...


@runtime_checkable
class OfKnownContent(Protocol):
    """May be made of something whose content cannot be read, such as a function without a source file."""

    @property
    def known(self) -> bool:
        """Whether its fingerprint says all that its vectors depend on; where not, no later run takes up its scores."""
        ...


@runtime_checkable
class MayChange(Protocol):
    """May compute otherwise from call to call, because it wraps an object of a user."""

    def of_one_run(self) -> Encoder:
        """Return it as it is now: during one run it is taken to stay so."""
        ...
