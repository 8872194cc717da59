"""Requests to a service: repeated if that may help, several at a time, within a budget.

Nothing is logged, and no message contains a key, a user, a password or a query.
"""

from __future__ import annotations

import base64
import json
import weakref
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import cached_property
from threading import Event, Lock
from typing import TypeVar
from urllib.parse import urlencode

from embassay._version import __version__
from embassay.core.errors import EndpointError, SpecError
from embassay.models.endpoint import answers, workers
from embassay.models.endpoint.address import read_address, redirect_target
from embassay.models.endpoint.attempts import Announcements, LostError, Retries, RetryableError
from embassay.models.endpoint.connections import Connections, Received, reason
from embassay.models.endpoint.secrets import hider
from embassay.models.endpoint.spending import Spending

T = TypeVar("T")
R = TypeVar("R")
LONGEST_SHORT = 1 << 16


class Endpoint:
    """A service that takes JSON and answers with JSON."""

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        key_name: str = "the key",
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        address_name: str = "base_url",
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
        headers
            Further headers of each request.
        secrets
            What must not be in a message nor sent unencrypted, besides the key: values of ``headers``, for example.
        address_name
            What the user calls the address, in messages.
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
        self._key_name = key_name
        self._address_name = address_name
        self._headers = dict(headers or {})
        self._timeout = timeout
        self._retries = retries or Retries()
        self._announcements = Announcements(tell, self._retries.attempts)
        self._stop = Event()
        self._lock = Lock()
        self._authorization = ""
        if self.address.user or self.address.password:
            pair = f"{self.address.user}:{self.address.password}".encode()
            self._authorization = f"Basic {base64.b64encode(pair).decode()}"
        elif key:
            self._authorization = f"Bearer {key}"
        has_secrets = bool(self._authorization or secrets)
        if has_secrets and self.address.scheme == "http" and not self.address.loopback:
            raise SpecError(
                f"{address_name} {self.address.shown}: the key would be sent unencrypted; use https://, or send no key"
            )
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise SpecError(f"{key_name} contains characters that no key has, for example a space or a line break")
        hidden = [self._authorization.partition(" ")[2], *self.address.secrets, *secrets]
        self.hide = hider(hidden)
        self._hide_in_messages = hider(hidden, quarters=True)

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
        parameters: Mapping[str, str] | None = None,
        patient: bool = True,
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
        parameters
            Parameters of the address, besides its own.
        patient
            Whether an error inside the service (500), which the payload may cause, gets all attempts.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts; a LostError if that may be due to the payload.
        EncoderError
            If the budget would be exceeded.
        """
        content = json.dumps(payload, allow_nan=False).encode()
        url = self.address.url(path, urlencode(parameters or {}))
        return self._answer("POST", path, url, content, tokens, used, longest, patient)

    def get(self, parameters: Mapping[str, str], longest: int = LONGEST_SHORT) -> object:
        """Ask the address itself with these parameters and return the JSON of the answer; see :meth:`post`."""
        url = self.address.url("", urlencode(parameters))
        return self._answer("GET", "", url, b"", 0, answers.used_tokens, longest)

    def _answer(
        self,
        method: str,
        path: str,
        url: str,
        content: bytes,
        tokens: int,
        used: Callable[[object], int | None],
        longest: int,
        patient: bool = True,
    ) -> object:
        stop = self._stop

        def send() -> object:
            """Send the request once. Its tokens are reserved before, and stay reserved if there is an answer."""
            if stop.is_set():
                raise CancelledError
            self.spending.reserve(tokens)
            try:
                return self._json(self._exchange(method, url, content, longest), path, longest)
            except BaseException as error:
                if isinstance(error, RetryableError) and error.answer_lost:
                    self.spending.settle(tokens, tokens, lost=True)
                else:
                    self.spending.release(tokens)
                raise

        answer = self._retries.run(send, stop, self._announce, patient=patient)
        taken = None
        try:
            taken = used(answer)
        finally:
            # An answer that does not report its tokens, or cannot be read, counts with the estimate.
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

    def error(
        self, problem: str, status: int | None = None, body: bytes = b"", kind: type[EndpointError] = EndpointError
    ) -> EndpointError:
        """Return an error of this service, without secrets."""
        error = kind(self.address.host, problem, status, answers.excerpt(body, self._hide_in_messages))
        error.whole = self._hide_in_messages(body[: answers.LONGEST_REFUSAL].decode("utf-8", "replace"))
        return error

    def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        with self._lock:
            if connections := vars(self).pop("_connections", None):
                connections.close()

    @property
    def _check(self) -> str:
        return f"check {self._address_name}"

    def _announce(self, reason: str, seconds: float, attempt: int) -> None:
        self.spending.again()
        self._announcements.announce(reason, seconds, attempt)

    def _exchange(self, method: str, url: str, content: bytes, longest: int) -> Received:
        """Send a request and read the answer to its end.

        A failure before anything was sent is the service's. A later failure may be due to the content of the request,
        and an answer may have been generated.
        """
        import httpx2

        with self._lock:
            # The lock makes sure that close() cancels this request, and that it is not started after close().
            connections = self._connections
            exchange = connections.send(method, url, content, longest)
        try:
            return exchange.result()
        except CancelledError:
            raise self.error("the connections were closed") from None
        except httpx2.ConnectTimeout:
            raise RetryableError(self.error(f"no connection within {connections.connect_seconds:g} s")) from None
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            failure = self.error(self._connection_failed(error))
            if self.address.loopback and isinstance(error, httpx2.ConnectError):
                # A closed port of this machine stays closed, so another attempt would not help.
                raise failure from None
            raise RetryableError(failure) from None
        except (TimeoutError, httpx2.TimeoutException):
            problem = f"no complete answer within {self._timeout:g} s"
        except (httpx2.RequestError, zlib.error) as error:
            problem = self._connection_failed(error)
        raise RetryableError(self.error(problem, kind=LostError), answer_lost=True)

    def _connection_failed(self, error: Exception) -> str:
        return f"the connection failed: {answers.one_line(reason(error), self._hide_in_messages)}"

    def _json(self, received: Received, path: str, longest: int) -> object:
        """Return the JSON of an answer, or raise the error that it stands for."""
        status, body = received.status, received.body
        if not 200 <= status < 300:
            raise self._refusal(status, received, path)
        if len(body) > longest:
            raise self.error(f"the answer is too long: the limit is {longest:,} bytes", status)
        try:
            answer: object = json.loads(body.decode("utf-8-sig", "surrogatepass"))
        except RecursionError:
            raise self.error("the JSON of the answer is nested too deeply", status) from None
        except ValueError:
            encoding = answers.one_line(received.headers.get("content-encoding", ""), self._hide_in_messages)
            if encoding.lower() not in ("", "identity", "gzip"):
                problem = f"the answer is compressed as '{encoding}', but only gzip was requested; {self._check}"
                raise self.error(problem, status) from None
            # An answer that begins like JSON was probably cut off on its way.
            if body.lstrip()[:1] in (b"{", b"["):
                failure = self.error("the JSON of the answer is damaged or truncated", status, body, LostError)
                raise RetryableError(failure, answer_lost=True) from None
            raise self.error(f"the answer is not JSON; {self._check}", status, body) from None
        error_status = answers.error_within(answer)
        if error_status is None:
            return answer
        if error_status or answers.QUOTA_USED_UP in body:
            raise self._refusal(error_status or status, received, path)
        raise RetryableError(self.error("the service sent an error instead of an answer", status, body, LostError))

    def _refusal(self, status: int, received: Received, path: str) -> Exception:
        """Return the error for an answer with another status than success."""
        if 300 <= status < 400:
            # Redirects are not followed: the texts and the key are for the address that the user named.
            target = redirect_target(received.headers.get("location", ""), self.address.url(path))
            shown = answers.one_line(target, self._hide_in_messages)
            return self.error(f"the service redirects to {shown}; {self._check}", status)
        key_name = self._key_name if self._authorization else ""
        is_passing = status in answers.RETRYABLE and answers.QUOTA_USED_UP not in received.body
        # A rate limit or an outage is not caused by the content of the request.
        kind = LostError if is_passing and status not in answers.OF_THE_SERVICE else EndpointError
        problem = answers.problem(status, key_name, self.address.path + path, self._check)
        error = self.error(problem, status, received.body, kind)
        return RetryableError(error, answers.retry_after(received.headers)) if is_passing else error

    @cached_property
    def _connections(self) -> Connections:
        headers = {"content-type": "application/json", "user-agent": f"embassay/{__version__}", **self._headers}
        if self._authorization:
            headers["authorization"] = self._authorization
        # Requests to this machine do not use a proxy.
        connections = Connections(headers, self._timeout, trust_env=not self.address.loopback)
        weakref.finalize(self, connections.close).atexit = False
        return connections
