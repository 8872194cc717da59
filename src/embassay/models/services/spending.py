"""The cost of a service: requests, tokens and money so far, and a budget that is never exceeded."""

from __future__ import annotations

import math
from dataclasses import dataclass

from embassay.core.errors import EncoderError

MILLION = 1_000_000
BYTES = 4
"""Approximate number of UTF-8 bytes per token, for English and also for scripts with two or three bytes per letter."""


def guess(text: str) -> int:
    """Return the estimated number of tokens of a text, at least 1."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return max(1, math.ceil(size / BYTES))


@dataclass
class Spending:
    """Counts of requests and tokens, with a budget.

    Attributes
    ----------
    price, budget
        The price of a million tokens, and the maximum cost, which needs a price; None if unknown, and for no limit.
    requests, tokens, retries
        Number of answered requests, of tokens used in total, and of repeated requests. For an answer that may have been
        generated but did not arrive, the reserved tokens count.
    """

    price: float | None = None
    budget: float | None = None
    requests: int = 0
    tokens: int = 0
    retries: int = 0
    _reserved: int = 0

    @property
    def cost(self) -> float | None:
        """The money spent; None without a price."""
        return self.cost_of(self.tokens)

    def cost_of(self, tokens: int) -> float | None:
        """Return the cost of tokens; None without a price."""
        # Rounded, so that run.json has no cost such as 0.0008000000000000001.
        return None if self.price is None else round(tokens * self.price / MILLION, 9)

    def outlook(self, tokens: int) -> list[str]:
        """Return what a dry run says of sending so many tokens: their number and their cost."""
        cost = self.cost_of(tokens)
        shown = "pass price= for the cost"
        if cost is not None:
            shown = f"about {cost:,.4g} at {self.price:g} per million tokens"
        return [f"about {tokens:,} tokens to send", shown]

    def reserve(self, tokens: int) -> None:
        """Reserve tokens for a request that is about to be sent, perhaps repeatedly.

        Raises
        ------
        EncoderError
            If that would exceed the budget.
        """
        # Tokens reserved for unanswered requests count too, because several are under way.
        spent = self.cost or 0.0
        more = self.cost_of(self._reserved + tokens) or 0.0
        if self.budget is not None and spent + more > self.budget:
            raise EncoderError(
                f"the next request exceeds the budget of {self.budget:.6g}: {spent:.6g} spent, about {more:.6g} "
                "more needed; what is in a cache or journal is kept: to continue, run the same command with a "
                "higher budget"
            )
        self._reserved += tokens

    def settle(self, reserved: int, used: int) -> None:
        """Count the tokens that a request used, 0 if it was refused, instead of the reserved ones."""
        self._reserved -= reserved
        self.tokens += used
