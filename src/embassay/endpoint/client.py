"""Requests to a service: repeated if that may help, several at a time, within a budget.

Nothing is logged, and no message contains a key, a user, a password or a query.
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
    """The content of a request, its estimated tokens, and the maximum bytes of its answer."""

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
            The address. If it contains a user and a password, they are sent instead of a key.
        key, key_name
            The bearer token, and its name in messages.
        timeout
            Seconds for one attempt, from connecting to the last byte of the answer.
        concurrency
            Maximum number of simultaneous requests.
        spending
            The counts of requests and tokens, with the budget.
        tell
            Called with a line of text before each long pause between two attempts.

        Raises
        ------
        SpecError
            If the address is not valid, or the key would be sent unencrypted.
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
        """Return the address without secrets."""
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
            The estimated number of tokens. It is replaced by the number in the answer. An answer that may have been
            generated but did not arrive counts with this estimate.
        used
            Returns the number of tokens that an answer reports; None if it reports none.
        longest
            Maximum bytes of an answer after decompression; a longer answer is not read to its end.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts; a LostError if that may be due to the payload.
        EncoderError
            If the budget would be exceeded.
        """
        content = json.dumps(payload, allow_nan=False).encode()
        stop = self._stop
        send = partial(self._within_budget, Request(path, content, tokens, longest), stop)
        answer = self._retries.run(send, stop, self._announce)
        taken = used(answer)
        # An answer that does not report its tokens counts with the estimate.
        self.spending.settle(tokens, tokens if taken is None else taken)
        return answer

    def each(self, work: Callable[[T], R], items: Sequence[T]) -> Generator[tuple[int, R], None, None]:
        """Work on items, several at a time, and yield (index, result) as they are ready.

        After a failure no new item is started; the results of started items are yielded, then the failure is raised.
        After an interrupt, nothing is waited for.
        """
        stop = self._stop = Event()
        try:
            yield from workers.each(work, items, self.concurrency, stop)
        except (KeyboardInterrupt, GeneratorExit):
            # Otherwise threads that wait for an answer would keep the process alive.
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
        """Send a request once. Its tokens are reserved before, and stay reserved if there is an answer."""
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

        A failure before anything was sent is the service's. A later failure may be due to the content of the request,
        and an answer may have been generated.
        """
        import httpx2

        with self._lock:
            # The lock makes sure that close() cancels this request, and that it is not started after close().
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
                # A closed port of this machine stays closed, so another attempt would not help.
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
        """Return the error for an answer with another status than success."""
        if 300 <= status < 400:
            return self.error(self._redirect(received.headers.get("location", ""), path), status)
        key_name = self._key_name if self._authorization else ""
        error = self.error(answers.problem(status, key_name, self.address.path + path), status, received.body)
        if status not in answers.RETRYABLE or answers.QUOTA_USED_UP in received.body:
            return error
        # A rate limit or an outage is not caused by the content of the request.
        if status not in answers.OF_THE_SERVICE:
            error = _lost(error)
        return RetryableError(error, answers.retry_after(received.headers))

    def _redirect(self, location: str, path: str) -> str:
        """Return a message about a redirect, with the right base_url if it is clear."""
        target = redirect_target(location, self.address.url(path))
        if target is None or len(target.shown) > answers.SHOWN:
            return "the service redirects to another address; check base_url"
        shown = self.hide(target.shown)
        base = target.shown.removesuffix(path)
        # No base_url can be suggested if the address contains a secret, or if the path is another one.
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
            # An answer that begins like JSON was probably cut off on its way.
            if body.lstrip()[:1] in (b"{", b"["):
                error = self.error("the JSON of the answer is damaged or truncated", status, body)
                raise RetryableError(_lost(error), answer_lost=True) from None
            raise self.error("the answer is not JSON; check base_url", status, body) from None

    @cached_property
    def _connections(self) -> Connections:
        headers = {"content-type": "application/json", "user-agent": f"embassay/{__version__}"}
        if self._authorization:
            headers["authorization"] = self._authorization
        # Requests to this machine do not use a proxy.
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
        """A function that returns a text of the service without secrets or parts of them."""
        token = self._authorization.partition(" ")[2]
        return hider([self._key, token, *self.address.secrets], whole=[self.address.query])


def _lost(error: EndpointError) -> LostError:
    """Return the same failure as a LostError: it may be due to the content of the request."""
    return LostError(error.host, error.problem, error.status, error.said)
