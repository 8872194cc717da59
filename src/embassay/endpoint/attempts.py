"""How often a request is sent, and what it means where that brings no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from threading import Event

from embassay.endpoint import answers, lanes
from embassay.errors import EndpointError


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
    """

    def __init__(self, error: EndpointError, asked: float | None = None, *, general: bool = False, spent: bool = False):
        super().__init__(str(error))
        self.error, self.asked, self.general, self.spent = error, asked, general, spent


class LostError(EndpointError):
    """No attempt brought an answer although the service is there: it may be due to what was sent."""
