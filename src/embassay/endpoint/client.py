"""Requests to one service: sent again when that may help, several at a time, within a budget.

Nothing is written to a log, and no message has a key, a user, a password or a query in it.
"""

from __future__ import annotations

import base64
import json
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Event, Lock
from typing import TypeVar

from embassay._version import __version__
from embassay.endpoint import answers, workers
from embassay.endpoint.address import read_address, redirect_target
from embassay.endpoint.attempts import Announcements, LostError, Retries, RetryableError
from embassay.endpoint.connections import Connections, Received, reason
from embassay.endpoint.secrets import hider
from embassay.endpoint.spending import Spending
from embassay.errors import EndpointError, SpecError

__all__ = ["Endpoint", "Retries"]
T = TypeVar("T")
R = TypeVar("R")
LONGEST_SHORT = 1 << 16


@dataclass(frozen=True)
class Request:
    """What is sent, about how many tokens it takes, and the most bytes of its answer."""

    path: str
    content: bytes
    tokens: int
    longest: int


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
        spending: Spending | None = None,
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
            Maximum number of simultaneous requests.
        spending
            Counts requests and tokens, and holds the budget.
        tell
            Takes a line for people each time that a request has to wait for long before it is sent again.

        Raises
        ------
        SpecError
            If the address is none, or the key would travel unencrypted.
        """
        self.address = read_address(base_url)
        self.concurrency = concurrency
        self.spending = spending or Spending()
        # A user in the address is sent instead of the key.
        self._key = "" if self.address.user else key
        self._key_name = key_name
        self._timeout = timeout
        self._retries = retries or Retries()
        self._announcements = Announcements(tell, self._retries.attempts)
        self._stop = Event()
        self._lock = Lock()
        secret = self._key or self.address.user or self.address.password
        if secret and self.address.scheme == "http" and not self.address.loopback:
            raise SpecError(
                f"base_url {self.address.shown}: the key would be sent unencrypted; use https://, or send no key"
            )
        if not (self._key.isascii() and self._key.isprintable() and " " not in self._key):
            raise SpecError(f"{key_name} contains characters that no key has, for example a space or a line break")

    def __repr__(self) -> str:
        """Return the address without anything secret."""
        return f"Endpoint({self.address.shown!r})"

    def post(
        self,
        path: str,
        payload: Mapping[str, object],
        tokens: int = 0,
        used: Callable[[object], int | None] = answers.used_tokens,
        longest: int = LONGEST_SHORT,
    ) -> object:
        """Send JSON to a path and return the JSON of the answer.

        Parameters
        ----------
        tokens
            About how many it will take; the number that the answer reports is counted instead. An answer that may
            have been made but did not arrive is counted with this estimate.
        used
            Reads from an answer how many it took; None if it does not say.
        longest
            The most bytes of an answer, unpacked; of a longer one the rest is not read.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts; a LostError where that may be due to the payload.
        EncoderError
            If the budget does not suffice.
        """
        content = json.dumps(payload, allow_nan=False).encode()
        stop = self._stop
        send = partial(self._within_budget, Request(path, content, tokens, longest), stop)
        answer = self._retries.run(send, stop, self._announce)
        taken = used(answer)
        # An answer that does not say what it took is counted at the estimate.
        self.spending.settle(tokens, tokens if taken is None else taken)
        return answer

    def each(self, work: Callable[[T], R], items: Sequence[T]) -> Generator[tuple[int, R], None, None]:
        """Work on items, several at a time, and yield (place, result) as they are ready.

        After a failure nothing new is begun; what was under way is waited for and yielded, then the failure is raised.
        An interrupt waits for nothing.
        """
        stop = self._stop = Event()
        try:
            yield from workers.each(work, items, self.concurrency, stop)
        except (KeyboardInterrupt, GeneratorExit):
            # Threads that wait for an answer would keep the process from ending.
            stop.set()
            self.close()
            raise
        finally:
            self._stop = Event()

    def error(self, problem: str, status: int | None = None, body: bytes = b"") -> EndpointError:
        """Return an error of this service, without secrets."""
        return EndpointError(self.address.host, problem, status, answers.excerpt(body, self.hide))

    def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        with self._lock:
            if connections := vars(self).pop("_connections", None):
                connections.close()

    def _announce(self, reason: str, seconds: float, attempt: int) -> None:
        self.spending.again()
        self._announcements.announce(reason, seconds, attempt)

    def _within_budget(self, request: Request, stop: Event) -> object:
        """Send a request once, with its tokens reserved; they stay reserved where there is an answer."""
        if stop.is_set():
            raise CancelledError
        self.spending.reserve(request.tokens)
        try:
            return self._answer(request)
        except BaseException as error:
            if isinstance(error, RetryableError) and error.answer_lost:
                self.spending.lose(request.tokens)
            else:
                self.spending.release(request.tokens)
            raise

    def _answer(self, request: Request) -> object:
        """Send a request once and return the JSON of the answer."""
        received = self._exchange(request)
        if not 200 <= received.status < 300:
            raise self._refusal(received.status, received, request.path)
        answer = self._json(received, request.longest)
        if not answers.has_error(answer):
            return answer
        status = answers.status_within(answer)
        if status is not None or answers.QUOTA_USED_UP in received.body:
            raise self._refusal(status or received.status, received, request.path)
        error = self.error("the service sent an error instead of an answer", received.status, received.body)
        raise RetryableError(_lost(error))

    def _exchange(self, request: Request) -> Received:
        """Send a request and read the answer to its end.

        What fails before anything was sent is the service's failure; from then on it may be due to what was sent, and
        an answer may have been made.
        """
        import httpx2

        with self._lock:
            # Begun under the lock: what is begun is cancelled by close(), and nothing waits for a loop that has ended.
            connections = self._connections
            exchange = connections.post(self.address.url(request.path), request.content, request.longest)
        try:
            return exchange.result()
        except CancelledError:
            raise self.error("the connections were closed") from None
        except httpx2.ConnectTimeout:
            raise RetryableError(self.error(f"no connection within {connections.connect_seconds:g} s")) from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            failure = self._connection_failed(error)
            if self.address.loopback and isinstance(error, httpx2.ConnectError):
                # A port of this machine itself that is closed stays closed.
                raise failure from None
            raise RetryableError(failure) from None
        except (TimeoutError, httpx2.TimeoutException):
            failure = self.error(f"no complete answer within {self._timeout:g} s")
            raise RetryableError(_lost(failure), answer_lost=True) from None
        except httpx2.RequestError as error:
            raise RetryableError(_lost(self._connection_failed(error)), answer_lost=True) from None

    def _connection_failed(self, error: Exception) -> EndpointError:
        return self.error(f"the connection failed: {answers.one_line(reason(error), self.hide)}")

    def _refusal(self, status: int, received: Received, path: str) -> Exception:
        """Return what to raise for an answer that is none."""
        if 300 <= status < 400:
            return self.error(self._redirect(received.headers.get("location", ""), path), status)
        key_name = self._key_name if self._authorization else ""
        error = self.error(answers.problem(status, key_name, self.address.path + path), status, received.body)
        if status not in answers.RETRYABLE or answers.QUOTA_USED_UP in received.body:
            return error
        # A limit of requests, or a service that is down, has nothing to do with what was sent.
        if status not in answers.OF_THE_SERVICE:
            error = _lost(error)
        return RetryableError(error, answers.retry_after(received.headers))

    def _redirect(self, location: str, path: str) -> str:
        """Return where a redirect leads, and what to write as base_url where that is clear."""
        target = redirect_target(location, self.address.url(path))
        if target is None or len(target.shown) > answers.SHOWN:
            return "the service redirects to another address; check base_url"
        shown = self.hide(target.shown)
        base = target.shown.removesuffix(path)
        # Where the address holds a secret, or the path is another one, no base_url can be given.
        if shown == target.shown and base not in (target.shown, self.address.shown):
            return f"the service redirects to {shown}; if that is the service you mean, set base_url={base}"
        return f"the service redirects to {shown}; check base_url"

    def _json(self, received: Received, longest: int) -> object:
        status, body = received.status, received.body
        if received.encoding:
            encoding = answers.one_line(received.encoding, self.hide)
            raise self.error(f"the answer has the content encoding {encoding!r}; only gzip is supported", status)
        if received.too_long:
            raise self.error(f"the answer is too long: the limit is {longest:,} bytes", status)
        try:
            return json.loads(body.decode("utf-8-sig", "surrogatepass"))
        except RecursionError:
            raise self.error("the JSON of the answer is nested too deeply", status) from None
        except ValueError:
            if body.lstrip()[:1] in (b"{", b"["):
                error = self.error("the JSON of the answer is damaged or truncated", status, body)
                raise RetryableError(_lost(error), answer_lost=True) from None
            raise self.error("the answer is not JSON; check base_url", status, body) from None

    @cached_property
    def _connections(self) -> Connections:
        headers = {"content-type": "application/json", "user-agent": f"embassay/{__version__}"}
        if self._authorization:
            headers["authorization"] = self._authorization
        # What goes to this machine itself takes no way round a proxy.
        connections = Connections(headers, self._timeout, trust_env=not self.address.loopback)
        weakref.finalize(self, connections.close).atexit = False
        return connections

    @property
    def _authorization(self) -> str:
        if self.address.user or self.address.password:
            pair = f"{self.address.user}:{self.address.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
        return f"Bearer {self._key}" if self._key else ""

    @cached_property
    def hide(self) -> Callable[[str], str]:
        """Takes a text of the service, and returns it without any part of a secret."""
        token = self._authorization.partition(" ")[2]
        return hider([self._key, token, *self.address.secrets], whole=[self.address.query])


def _lost(error: EndpointError) -> LostError:
    """Return the same failure as one that may be due to what was sent."""
    return LostError(error.host, error.problem, error.status, error.said)
