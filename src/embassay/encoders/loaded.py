"""What encoders share that learn nothing and load a model when the first text is encoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Generic, Self, TypeVar

from embassay.errors import EncoderError, SourceError

M = TypeVar("M")
"""The type of a loaded model."""


class LoadedEncoder(ABC, Generic[M]):
    """The base of such encoders: a subclass says how its model is loaded, and encodes texts with it."""

    @abstractmethod
    def load(self) -> M:
        """Load the model."""

    @cached_property
    def model(self) -> M:
        """The model, loaded when it is first needed.

        Raises
        ------
        EncoderError
            If it cannot be loaded, for whatever reason.
        """
        try:
            return self.load()
        except EncoderError:
            raise
        except SourceError as error:
            raise EncoderError(str(error)) from None
        except Exception as error:
            raise EncoderError(f"the model cannot be loaded: {self.explain(error)}") from error

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return "model" in vars(self)

    def explain(self, error: Exception) -> str:
        """Return what a library's error says."""
        return f"{type(error).__name__}: {error}"

    def fit(self, texts: Sequence[str]) -> Self:
        """Return itself: nothing is learnt."""
        return self

    def release(self) -> None:
        """Let go of the model; the next text loads it again."""
        vars(self).pop("model", None)
