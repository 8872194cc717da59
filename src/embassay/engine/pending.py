"""Work that has been handed out and is waited for: a diagnostic may start it for one encoder while the next encodes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Submit(Protocol):
    """Hands out a call of a function that can be pickled; somewhere, some time."""

    def __call__(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Return what will hold the result."""
        ...


@dataclass(frozen=True)
class Pending(Generic[T]):
    """What is being waited for, and how the result is put together of it."""

    parts: tuple[Future[Any], ...]
    finish: Callable[[], T]

    @property
    def ready(self) -> bool:
        """Whether :attr:`finish` would return at once."""
        return all(part.done() for part in self.parts)


def at_once(function: Callable[..., T], *arguments: object) -> Future[T]:
    """Call the function here and now."""
    done: Future[T] = Future()
    done.set_result(function(*arguments))
    return done
