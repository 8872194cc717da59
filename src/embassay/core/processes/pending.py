"""Submitted work whose result is collected later: it may run for one encoder while the next one encodes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Submit(Protocol):
    """Submits a call of a function that can be pickled; when and in which process it runs is not specified."""

    def __call__(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Return the future of the result."""
        ...


@dataclass(frozen=True)
class Pending(Generic[T]):
    """Futures of unfinished work, and the function that combines their results."""

    parts: tuple[Future[Any], ...]
    finish: Callable[[], T]

    @property
    def ready(self) -> bool:
        """Whether :attr:`finish` would return at once."""
        return all(part.done() for part in self.parts)


def at_once(function: Callable[..., T], *arguments: object) -> Future[T]:
    """Call the function immediately, in this process, and return a finished future."""
    done: Future[T] = Future()
    done.set_result(function(*arguments))
    return done
