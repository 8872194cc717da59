"""What a service costs: requests, tokens and money so far, and a budget that is not exceeded."""

from __future__ import annotations

from threading import Lock

from embassay.errors import EncoderError

MILLION = 1_000_000
BYTES = 4
"""UTF-8 bytes to a token, roughly: right for English, and near enough where letters take two or three bytes."""
KEPT = "with a cache, finished vectors are kept"


def guess(text: str) -> int:
    """Return about how many tokens a text is."""
    return max(1, -(-len(text.encode("utf-8", "surrogatepass")) // BYTES))


class Spending:
    """Counts what is spent; several threads may do so at once.

    Attributes
    ----------
    requests, tokens
        Those that were answered, and what was taken in all; of an answer that was lost, as much as was reserved.
    retries, lost
        Requests that were sent once more, and answers that may have been made but did not arrive.
    earlier
        Tokens that were taken before, which count towards the budget alone.
    """

    def __init__(self, price: float | None = None, budget: float | None = None, kept: str = KEPT):
        """Start from nothing.

        Parameters
        ----------
        price
            What a million tokens cost.
        budget
            The most that may be spent: money where there is a price, else tokens.
        kept
            What is not lost where the budget does not suffice, for the message; empty for nothing.
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
        """Return what tokens cost; None without a price."""
        if self.price is None:
            return None
        # Rounded, so that run.json has no cost such as 0.0008000000000000001.
        return round(tokens * self.price / MILLION, 9)

    def beyond_budget(self, tokens: int) -> str:
        """Return by how much the tokens exceed the budget, and how far it goes; empty if it suffices."""
        needed = self._amount(tokens)
        if self.budget is None or needed <= self.budget:
            return ""
        return (
            f"{needed - self.budget:,.4g} more than the budget of {self.budget:.6g}: "
            f"a run would stop after about {int(tokens * self.budget / needed):,} tokens"
        )

    def reserve(self, tokens: int) -> None:
        """Reserve tokens for a request that is about to be sent.

        Raises
        ------
        EncoderError
            If that would exceed the budget.
        """
        with self._lock:
            # What is reserved for requests under way counts too: several threads spend at once.
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
        """Give back what was reserved for a request that failed."""
        with self._lock:
            self._reserved -= tokens

    def settle(self, reserved: int, used: int) -> None:
        """Count an answered request: the tokens reserved for it, and those that it took."""
        with self._lock:
            self._reserved -= reserved
            self.requests += 1
            self.tokens += used

    def lose(self, reserved: int) -> None:
        """Count an answer that may have been made but did not arrive: all that was reserved for it."""
        with self._lock:
            self._reserved -= reserved
            self.lost += 1
            self.tokens += reserved

    def begin_with(self, tokens: int) -> None:
        """Count towards the budget what was taken before."""
        with self._lock:
            self.earlier += tokens

    def again(self) -> None:
        """Count a request that is sent once more."""
        with self._lock:
            self.retries += 1

    def _amount(self, tokens: int) -> float:
        """Return tokens in the budget's unit."""
        cost = self.cost_of(tokens)
        return tokens if cost is None else cost
