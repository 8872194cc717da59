"""Repeating failed requests: number of attempts, pauses between them, and announcements of long pauses."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from http import HTTPStatus
from random import SystemRandom
from threading import Event, Lock
from typing import TypeVar

from embassay.core.errors import EndpointError
from embassay.models.endpoint.answers import LONGEST_PAUSE, RETRYABLE

T = TypeVar("T")
NOTABLE = 2.0
"""Pauses of at least this many seconds are announced."""
IMPATIENT = 3
"""Attempts after which an error inside the service (500) is taken to be caused by what was sent."""


class LostError(EndpointError):
    """No attempt got an answer although the service is reachable, possibly because of what was sent."""


class RetryableError(Exception):
    """A failure after which another attempt may succeed.

    Attributes
    ----------
    error
        The error to raise after the last attempt.
    retry_after
        The pause that the service requests, in seconds; None if it requests none.
    answer_lost
        Whether an answer may have been generated, and charged, but did not arrive.
    """

    def __init__(self, error: EndpointError, retry_after: float | None = None, *, answer_lost: bool = False):
        super().__init__(str(error))
        self.error = error
        self.retry_after = retry_after
        self.answer_lost = answer_lost

    @property
    def reason(self) -> str:
        """The failure in a few words, for example ``429 Too Many Requests``."""
        status = self.error.status
        if status in RETRYABLE:
            return f"{status} {HTTPStatus(status).phrase}"
        return self.error.problem


@dataclass(frozen=True)
class Retries:
    """Number of attempts for a request, and the pauses between them, which start at ``first`` seconds and double."""

    attempts: int = 6
    first: float = 0.5
    pause: Callable[[Event, float], object] = Event.wait

    def seconds(self, attempt: int, retry_after: float | None) -> float:
        """Return the seconds to wait after an attempt (from 1): the service's pause or our own, with jitter."""
        share = SystemRandom().uniform(0.5, 1.0)
        if retry_after is not None:
            return retry_after + share * self.first
        return min(LONGEST_PAUSE, share * self.first * 2.0**attempt)

    def run(
        self, send: Callable[[], T], stop: Event, announce: Callable[[str, float, int], None], *, patient: bool = True
    ) -> T:
        """Call ``send`` until it returns, raises another error than RetryableError, or has failed too often.

        Parameters
        ----------
        stop
            If set, it ends the current pause, and there are no further attempts.
        announce
            Called before each pause with the reason, the seconds, and the number of the next attempt.
        patient
            Whether an error inside the service (500) gets all attempts, not only ``IMPATIENT``.

        Raises
        ------
        EndpointError
            The last failure, if no attempt succeeded.
        CancelledError
            If ``stop`` was set before an attempt succeeded.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return send()
            except RetryableError as error:
                failure = error
            if not patient and attempt >= IMPATIENT and failure.error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
                break
            if attempt < self.attempts and not stop.is_set():
                seconds = self.seconds(attempt, failure.retry_after)
                announce(failure.reason, seconds, attempt + 1)
                self.pause(stop, seconds)
            if stop.is_set():
                # Another request failed permanently, and that failure is reported.
                raise CancelledError
        raise failure.error.after(attempt)


@dataclass
class Announcements:
    """Announces long pauses with one line, also if several requests pause for the same reason."""

    tell: Callable[[str], None]
    attempts: int
    _until: dict[tuple[str, int], float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def announce(self, reason: str, seconds: float, attempt: int) -> None:
        """Announce a long wait and the attempt after it, unless another request that still waits has announced it."""
        if seconds < NOTABLE:
            return
        now = time.monotonic()
        with self._lock:
            if now < self._until.get((reason, attempt), now):
                return
            self._until[reason, attempt] = now + seconds
        self.tell(f"{reason}; waiting {seconds:.0f} s, then attempt {attempt} of {self.attempts}")
