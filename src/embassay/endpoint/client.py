"""Requests to one service: sent again when that may help, several at a time, within a budget.

Nothing is written to a log, and no message has a key, a user, a password or a query in it.
"""

from __future__ import annotations

import base64
import json
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import cached_property
from threading import Event, Lock
from typing import Any, TypeVar

from embassay._version import __version__
from embassay.endpoint import answers, lanes
from embassay.endpoint.address import leads_to, read_address
from embassay.endpoint.attempts import LostError, PassingError, Pauses, Retries
from embassay.endpoint.connections import CONNECT, Connections, Received, reason, unknown_encoding
from embassay.endpoint.hiding import hider
from embassay.endpoint.limits import SHORT, AnswerLimit, count_values
from embassay.endpoint.spending import KEPT, Spending
from embassay.errors import EndpointError, SpecError

__all__ = ["Endpoint", "Retries"]
T = TypeVar("T")
R = TypeVar("R")
HERE = 2
"""Attempts to connect to this machine itself: a port that is closed here stays closed."""


class Endpoint:
    """A service that takes JSON and answers with JSON."""

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        key_name: str = "the key",
        timeout: float = 120.0,
        concurrency: int = 4,
        retries: Retries | None = None,
        price: float | None = None,
        budget: float | None = None,
        kept: str = KEPT,
        tell: Callable[[str], None] = lambda line: None,
    ):
        """Describe the service; nothing is sent yet.

        Parameters
        ----------
        base_url
            Its address; a user and a password in it are sent instead of a key.
        key, key_name
            The bearer token, and what messages call it.
        timeout
            Seconds for one attempt, from connecting to the last byte of the answer, however the service spreads them.
        concurrency
            The most requests under way at a time.
        price, budget
            What a million tokens cost, and the most to spend: money where there is a price, else tokens.
        kept
            What is not lost where the budget does not suffice, for the message.
        tell
            Takes a line for people each time that a request has to wait for long before it is sent again.

        Raises
        ------
        SpecError
            If the address is none, or the key would travel unencrypted.
        """
        self.address = read_address(base_url)
        self.concurrency, self.spending = concurrency, Spending(price, budget, kept)
        self._key, self._key_name, self._timeout = "" if self.address.user else key, key_name, timeout
        self._retries, self._pauses = retries or Retries(), Pauses(tell)
        self._stop, self._lock = Event(), Lock()
        secret = self._key or self.address.user or self.address.password
        if secret and self.address.scheme == "http" and not self.address.loopback:
            raise SpecError(
                f"base_url {self.address.shown}: a key would travel unencrypted; write https://, or send no key"
            )
        if not (self._key.isascii() and self._key.isprintable() and " " not in self._key):
            raise SpecError(f"{key_name} holds characters that no key has, a space or a line break for example")

    def __repr__(self) -> str:
        """Return the address without anything secret."""
        return f"Endpoint({self.address.shown!r})"

    def post(
        self,
        path: str,
        payload: Mapping[str, Any],
        tokens: int = 0,
        used: Callable[[Any], int | None] = answers.used_tokens,
        limit: AnswerLimit = SHORT,
    ) -> Any:
        """Send JSON to a path and return the JSON of the answer.

        Parameters
        ----------
        tokens
            How many it will take, roughly; what the answer says of that is counted instead. An answer that may have
            been made but did not arrive is counted with so many.
        used
            Reads from an answer how many it took; None where it does not say.
        limit
            How long an answer can be; of a longer one the rest is not read.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts; a LostError where that may be due to the payload.
        EncoderError
            If the budget does not suffice.
        """
        answer = self._persist(path, json.dumps(payload, allow_nan=False).encode(), tokens, limit)
        taken = used(answer)
        self.spending.settle(tokens, tokens if taken is None else taken)
        return answer

    def each(self, work: Callable[[T], R], items: Sequence[T]) -> Generator[tuple[int, R], None, None]:
        """Work on items, several at a time, and yield (place, result) as they are ready.

        After a failure nothing new is begun; what was under way is waited for and yielded, then the failure is raised.
        An interrupt waits for nothing.
        """
        stop = self._stop = Event()
        try:
            yield from lanes.each(work, items, self.concurrency, stop)
        finally:
            self._stop = Event()

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Work on items, several at a time, and return the results in the items' order."""
        found = dict(self.each(work, items))
        return [found[place] for place in range(len(items))]

    def error(self, problem: str, status: int | None = None, body: bytes = b"") -> EndpointError:
        """Return an error of this service, without secrets."""
        return EndpointError(self.address.host, problem, status, answers.excerpt(body, self.hide))

    def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        with self._lock:
            if connections := vars(self).pop("_connections", None):
                connections.close()

    def _persist(self, path: str, content: bytes, tokens: int, limit: AnswerLimit) -> Any:
        """Send a request until there is an answer, or no hope for one; the tokens of the answer stay set apart."""
        stop, most = self._stop, self._retries.attempts
        for attempt in range(1, most + 1):
            try:
                return self._within_budget(path, content, tokens, limit)
            except PassingError as trouble:
                last = min(most, trouble.attempts or most)
                if attempt < last and not stop.is_set():
                    seconds = self._retries.seconds(attempt, trouble.asked)
                    self._pauses.announce(trouble.reason, seconds, attempt + 1, last)
                    self._retries.pause(stop, seconds)
                if attempt >= last or stop.is_set():
                    error = trouble.error.after(attempt)
                    if attempt >= last and not trouble.general:
                        error = LostError(error.host, error.problem, error.status, error.said)
                    raise error from None
                self.spending.again()
        raise AssertionError("at least one attempt")

    def _within_budget(self, path: str, content: bytes, tokens: int, limit: AnswerLimit) -> Any:
        """Send a request once, with its tokens set apart."""
        self.spending.reserve(tokens)
        try:
            return self._once(path, content, limit)
        except BaseException as error:
            if isinstance(error, PassingError) and error.spent:
                self.spending.lose(tokens)
            else:
                self.spending.release(tokens)
            raise

    def _once(self, path: str, content: bytes, limit: AnswerLimit) -> Any:
        import httpx2

        try:
            received = self._exchange(path, content, limit.size)
        except httpx2.ConnectTimeout:
            seconds = min(self._timeout, CONNECT)
            raise PassingError(self.error(f"no connection within {seconds:g} s"), general=True) from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            refused_here = self.address.loopback and isinstance(error, httpx2.ConnectError)
            raise PassingError(
                self._unconnected(error), general=True, attempts=HERE if refused_here else None
            ) from None
        except httpx2.TimeoutException:
            raise PassingError(self.error(f"no whole answer within {self._timeout:g} s"), spent=True) from None
        except httpx2.RequestError as error:
            raise PassingError(self._unconnected(error), spent=True) from None
        status, headers, body = received.status, received.headers, received.body
        if not 200 <= status < 300:
            raise self._refusal(status, headers, body, path)
        found = self._json(received, limit)
        if (said := answers.error_within(found)) is None:
            return found
        if said or answers.SPENT.encode() in body:
            raise self._refusal(said or status, headers, body, path)
        failure = self.error("it sent an error instead of an answer", status, body)
        if answers.is_empty(found):
            raise PassingError(failure)
        raise LostError(failure.host, failure.problem, failure.status, failure.said)

    def _unconnected(self, error: Exception) -> EndpointError:
        return self.error(f"the connection failed: {answers.one_line(reason(error), self.hide)}")

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes, path: str) -> Exception:
        """Return what to raise for an answer that is none."""
        if 300 <= status < 400:
            return self.error(self._redirect(headers.get("location", ""), path), status)
        key = self._key_name if self._token else ""
        error = self.error(answers.problem(status, key, self.address.path + path), status, body)
        if status in answers.AGAIN and answers.SPENT.encode() not in body:
            return PassingError(error, answers.pause_asked(headers), general=status in answers.OF_THE_SERVICE)
        return error

    def _redirect(self, location: str, path: str) -> str:
        """Say where a redirect leads, and what to write as base_url where that can be told."""
        found = leads_to(location, self.address.url(path))
        if found is None or len(found.shown) > answers.SHOWN:
            return "it redirects to another address; look at base_url"
        shown = self.hide(found.shown)
        base = shown.removesuffix(path)
        if base in (shown, self.address.shown) or shown != found.shown:
            return f"it redirects to {shown}; look at base_url"
        return f"it redirects to {shown}; if that is the service you mean, write base_url={base}"

    def _exchange(self, path: str, content: bytes, most: int) -> Received:
        """Send a request and read the answer to its end."""
        with self._lock:
            # Begun under the lock: what is begun is cancelled by close(), and nothing waits for a loop that has ended.
            exchange = self._connections.post(self.address.url(path), content, most)
        try:
            return exchange.result()
        except CancelledError:
            raise self.error("the connections were closed") from None

    def _json(self, received: Received, limit: AnswerLimit) -> Any:
        status, body = received.status, received.body
        if encoding := unknown_encoding(received.headers):
            encoding = answers.one_line(encoding, self.hide)
            raise self.error(f"the answer has the content encoding {encoding!r}; only gzip is read", status)
        if received.too_long:
            longest = f"{limit.what} should take at most {limit.size:,} bytes"
            raise self.error(f"the answer is too long: {longest}, and {received.length} came", status)
        if (values := count_values(body, limit.values)) > limit.values:
            most = f"{limit.what} should have at most {limit.values:,} values"
            raise self.error(f"the answer is too large: {most}, and about {values:,} came", status)
        try:
            return json.loads(body.decode("utf-8-sig", "surrogatepass"))
        except RecursionError:
            raise self.error("its JSON is nested too deeply", status) from None
        except ValueError:
            if body.lstrip()[:1] in (b"{", b"["):
                error = self.error("its JSON is damaged or cut short", status, body)
                raise PassingError(error, spent=True) from None
            raise self.error("that is no JSON; look at base_url", status, body) from None

    @cached_property
    def _connections(self) -> Connections:
        headers = {"content-type": "application/json", "user-agent": f"embassay/{__version__}"}
        if token := self._token:
            headers["authorization"] = token
        # What goes to this machine itself takes no way round a proxy.
        connections = Connections(headers, self._timeout, trust_env=not self.address.loopback)
        weakref.finalize(self, connections.close).atexit = False
        return connections

    @property
    def _token(self) -> str:
        if self.address.user or self.address.password:
            pair = f"{self.address.user}:{self.address.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
        return f"Bearer {self._key}" if self._key else ""

    @cached_property
    def hide(self) -> Callable[[str], str]:
        """Takes a text of the service, and returns it without any part of a secret."""
        token = self._token.partition(" ")[2]
        return hider([self._key, token, *self.address.secrets], whole=[self.address.query])
