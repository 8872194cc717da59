"""What is loaded for the first text."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Generic, TypeVar

from embassay.core.errors import EncoderError, InputError, reason_of
from embassay.models.base import BaseEncoder

M = TypeVar("M")
"""The type of a loaded model."""


class LoadedEncoder(BaseEncoder, Generic[M]):
    """An encoder with a model of type ``M``, loaded at the first access. A subclass has :meth:`load`."""

    @abstractmethod
    def load(self) -> M:
        """Load the model."""

    @cached_property
    def model(self) -> M:
        """The model; it is loaded at the first access.

        Raises
        ------
        EncoderError
            If it cannot be loaded.
        """
        try:
            return self.load()
        except EncoderError:
            raise
        except InputError as error:
            raise EncoderError(str(error)) from None
        except Exception as error:
            raise EncoderError(f"the model cannot be loaded: {self.explain(error)}") from error

    def explain(self, error: Exception) -> str:
        """Return a library's error as text."""
        return reason_of(error)

    def release(self) -> None:
        """Release the model; it is loaded again for the next text."""
        vars(self).pop("model", None)

    def prepare(self) -> None:
        """Load the model."""
        _ = self.model
