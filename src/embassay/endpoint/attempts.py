"""How often a request is sent, what a person hears meanwhile, and what it means where that brings no answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from random import SystemRandom
from threading import Event, Lock

from embassay.endpoint import answers, lanes
from embassay.errors import EndpointError

NOTABLE = 2.0
"""Seconds from which on a pause is told."""


@dataclass(frozen=True)
class Retries:
    """How often a request is sent, and how long the pauses between are: ``first``, then twice as long each time."""

    attempts: int = 6
    first: float = 0.5
    pause: Callable[[Event, float], None] = lanes.wait

    def seconds(self, attempt: int, asked: float | None) -> float:
        """Return the pause after an attempt, counted from 1: what the service asks for, else our own; with jitter."""
        share = SystemRandom().uniform(0.5, 1.0)
        if asked is not None:
            return asked + share * self.first
        return min(answers.LONGEST_PAUSE, share * self.first * 2.0**attempt)


class PassingError(Exception):
    """A failure that another attempt may mend.

    Attributes
    ----------
    asked
        The seconds that the service asks to wait; None where it asks for nothing.
    general
        Whether it is the service's, whatever was sent.
    spent
        Whether an answer may have been made, and lost on the way.
    attempts
        The most attempts that are worth it; None for as many as usual.
    """

    def __init__(
        self,
        error: EndpointError,
        asked: float | None = None,
        *,
        general: bool = False,
        spent: bool = False,
        attempts: int | None = None,
    ):
        super().__init__(str(error))
        self.error, self.asked, self.general, self.spent, self.attempts = error, asked, general, spent, attempts

    @property
    def reason(self) -> str:
        """The failure in few words: ``429 Too Many Requests``."""
        status = self.error.status
        return f"{status} {HTTPStatus(status).phrase}" if status in answers.AGAIN else self.error.problem


class Pauses:
    """Tells why nothing happens: a line for each pause that is long, one for all requests that pause for the same."""

    def __init__(self, tell: Callable[[str], None]):
        """Tell nothing yet; ``tell`` is given each line."""
        self._tell = tell
        self._until: dict[tuple[str, int], float] = {}
        self._lock = Lock()

    def announce(self, reason: str, seconds: float, attempt: int, attempts: int) -> None:
        """Say what is waited for, and which attempt comes then, unless another request has said so and still waits."""
        if seconds < NOTABLE:
            return
        now, which = time.monotonic(), (reason, attempt)
        with self._lock:
            if now < self._until.get(which, now):
                return
            self._until[which] = now + seconds
        self._tell(f"{reason}; waiting {seconds:.0f} s, then try {attempt} of {attempts}")


class LostError(EndpointError):
    """No attempt brought an answer although the service is there: it may be due to what was sent."""
