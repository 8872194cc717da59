"""The cost of a service: requests, tokens and money so far, and a budget that is never exceeded."""

from __future__ import annotations

import math
from threading import Lock

from embassay.core.errors import EncoderError

MILLION = 1_000_000
BYTES = 4
"""Approximate number of UTF-8 bytes per token, for English and also for scripts with two or three bytes per letter."""
KEPT = "with a cache, finished vectors are kept"


def guess(text: str) -> int:
    """Return the estimated number of tokens of a text, at least 1."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return max(1, math.ceil(size / BYTES))


class Spending:
    """Counts of requests and tokens, with a budget; several threads may use it at the same time.

    Attributes
    ----------
    requests, tokens
        Number of answered requests, and of tokens used in total. For a lost answer, the reserved tokens count.
    retries, lost
        Number of repeated requests, and of answers that may have been generated but did not arrive.
    earlier
        Number of tokens used by earlier runs; they count only towards the budget.
    """

    def __init__(self, price: float | None = None, budget: float | None = None, kept: str = KEPT):
        """Start all counts at 0.

        Parameters
        ----------
        price
            The price of a million tokens; None if unknown.
        budget
            The maximum cost if there is a price, otherwise the maximum number of tokens; None for no limit.
        kept
            The part of the message on an exceeded budget about the work that is kept; empty if none is.
        """
        self.price = price
        self.budget = budget
        self._kept = kept
        self.requests = 0
        self.tokens = 0
        self.retries = 0
        self.lost = 0
        self.earlier = 0
        self._reserved = 0
        self._lock = Lock()

    @property
    def cost(self) -> float | None:
        """The money spent; None without a price."""
        return self.cost_of(self.tokens)

    def cost_of(self, tokens: int) -> float | None:
        """Return the cost of tokens; None without a price."""
        if self.price is None:
            return None
        # Rounded, so that run.json has no cost such as 0.0008000000000000001.
        return round(tokens * self.price / MILLION, 9)

    def outlook(self, tokens: int) -> list[str]:
        """Return what a dry run says of sending so many tokens: their number, their cost, what exceeds the budget."""
        parts = [f"about {tokens:,} tokens to send"]
        if self.price is None:
            parts.append("pass price= for the cost")
        else:
            parts.append(f"about {self.cost_of(tokens):,.4g} at {self.price:g} per million tokens")
        needed = self._amount(tokens)
        if self.budget is not None and needed > self.budget:
            parts.append(
                f"{needed - self.budget:,.4g} more than the budget of {self.budget:.6g}: "
                f"a run would stop after about {int(tokens * self.budget / needed):,} tokens"
            )
        return parts

    def reserve(self, tokens: int) -> None:
        """Reserve tokens for a request that is about to be sent.

        Raises
        ------
        EncoderError
            If that would exceed the budget.
        """
        with self._lock:
            # Tokens reserved for unanswered requests count too, because several threads send requests.
            spent = self._amount(self.earlier + self.tokens)
            more = self._amount(self._reserved + tokens)
            if self.budget is not None and spent + more > self.budget:
                unit = " tokens" if self.price is None else ""
                message = (
                    f"the next request exceeds the budget of {self.budget:.6g}{unit}: {spent:.6g}{unit} spent, "
                    f"about {more:.6g}{unit} more needed"
                )
                if self._kept:
                    message += f"; {self._kept}: run the same command with a higher budget to continue"
                raise EncoderError(message)
            self._reserved += tokens

    def release(self, tokens: int) -> None:
        """Release the tokens reserved for a failed request."""
        with self._lock:
            self._reserved -= tokens

    def settle(self, reserved: int, used: int, *, lost: bool = False) -> None:
        """Count the tokens used by a request instead of the reserved ones.

        A lost answer may have been generated but did not arrive.
        """
        with self._lock:
            self._reserved -= reserved
            self.tokens += used
            if lost:
                self.lost += 1
            else:
                self.requests += 1

    def begin_with(self, tokens: int) -> None:
        """Count tokens of earlier runs towards the budget."""
        with self._lock:
            self.earlier += tokens

    def again(self) -> None:
        """Count a repeated request."""
        with self._lock:
            self.retries += 1

    def _amount(self, tokens: int) -> float:
        """Return tokens in the unit of the budget: money if there is a price, otherwise tokens."""
        cost = self.cost_of(tokens)
        return tokens if cost is None else cost
