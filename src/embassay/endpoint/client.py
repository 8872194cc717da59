"""Requests to one service: sent again when that may help, several at a time, within a budget.

Nothing is written to a log, and no message has a key, a user, a password or a query in it.
"""

from __future__ import annotations

import base64
import json
import time
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from threading import Event, Lock
from typing import Any, TypeVar

from embassay._version import __version__
from embassay.endpoint import answers, lanes
from embassay.endpoint.address import leads_to, read_address
from embassay.endpoint.attempts import LostError, PassingError, Pauses, Retries
from embassay.endpoint.spending import KEPT, Spending
from embassay.errors import EndpointError, SpecError

__all__ = ["Endpoint", "Retries"]
T = TypeVar("T")
R = TypeVar("R")
LARGEST = 1 << 29
"""Bytes of an answer that are read."""
CONNECT = 15.0
"""Seconds that connecting may take."""
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
            Seconds for one answer, connecting included.
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
    ) -> Any:
        """Send JSON to a path and return the JSON of the answer.

        Parameters
        ----------
        tokens
            How many it will take, roughly; what the answer says of that is counted instead. An answer that may have
            been made but did not arrive is counted with so many.
        used
            Reads from an answer how many it took; None where it does not say.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts; a LostError where that may be due to the payload.
        EncoderError
            If the budget does not suffice.
        """
        answer = self._persist(path, json.dumps(payload, allow_nan=False).encode(), tokens)
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
        return EndpointError(self.address.host, problem, status, answers.excerpt(body, self._hide))

    def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        with self._lock:
            if client := vars(self).pop("_client", None):
                client.close()

    def _persist(self, path: str, content: bytes, tokens: int) -> Any:
        """Send a request until there is an answer, or no hope for one; the tokens of the answer stay set apart."""
        stop, most = self._stop, self._retries.attempts
        for attempt in range(1, most + 1):
            try:
                return self._within_budget(path, content, tokens)
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

    def _within_budget(self, path: str, content: bytes, tokens: int) -> Any:
        """Send a request once, with its tokens set apart."""
        self.spending.reserve(tokens)
        try:
            return self._once(path, content)
        except BaseException as error:
            if isinstance(error, PassingError) and error.spent:
                self.spending.lose(tokens)
            else:
                self.spending.release(tokens)
            raise

    def _once(self, path: str, content: bytes) -> Any:
        import httpx2

        try:
            status, headers, body = self._exchange(path, content)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            refused_here = self.address.loopback and isinstance(error, httpx2.ConnectError)
            raise PassingError(
                self._unconnected(error), general=True, attempts=HERE if refused_here else None
            ) from None
        except httpx2.TimeoutException:
            raise PassingError(self.error(f"no whole answer within {self._timeout:g} s"), spent=True) from None
        except httpx2.RequestError as error:
            raise PassingError(self._unconnected(error), spent=True) from None
        if not 200 <= status < 300:
            raise self._refusal(status, headers, body, path)
        found = self._json(status, body)
        if (said := answers.error_within(found)) is None:
            return found
        if said or answers.SPENT.encode() in body:
            raise self._refusal(said or status, headers, body, path)
        failure = self.error("it sent an error instead of an answer", status, body)
        if answers.is_empty(found):
            raise PassingError(failure)
        raise LostError(failure.host, failure.problem, failure.status, failure.said)

    def _unconnected(self, error: Exception) -> EndpointError:
        reason = answers.excerpt(str(error).encode(), self._hide) or type(error).__name__
        return self.error(f"the connection failed: {reason}")

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
        if found is None:
            return "it redirects to another address; look at base_url"
        shown = self._hide(found.shown)
        base = shown.removesuffix(path)
        if base in (shown, self.address.shown):
            return f"it redirects to {shown}; look at base_url"
        return f"it redirects to {shown}; if that is the service you mean, write base_url={base}"

    def _exchange(self, path: str, content: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request and read the answer to its end."""
        import httpx2

        end, body = time.monotonic() + self._timeout, bytearray()
        with self._lock:
            client = self._client
        with client.stream("POST", self.address.url(path), content=content) as response:
            for chunk in response.iter_bytes():
                body += chunk
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout("too slow")
                if len(body) > LARGEST:
                    raise self.error("the answer does not end", response.status_code)
            return response.status_code, response.headers, bytes(body)

    def _json(self, status: int, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            if body.lstrip()[:1] in (b"{", b"["):
                error = self.error("its JSON is damaged or cut short", status, body)
                raise PassingError(error, spent=True) from None
            raise self.error("that is no JSON; look at base_url", status, body) from None

    @cached_property
    def _client(self) -> Any:
        import httpx2

        headers = {"content-type": "application/json", "user-agent": f"embassay/{__version__}"}
        if token := self._token:
            headers["authorization"] = token
        # What goes to this machine itself takes no way round a proxy.
        client = httpx2.Client(
            headers=headers,
            timeout=httpx2.Timeout(self._timeout, connect=min(self._timeout, CONNECT)),
            follow_redirects=False,
            trust_env=not self.address.loopback,
        )
        weakref.finalize(self, client.close).atexit = False
        return client

    @property
    def _token(self) -> str:
        if self.address.user or self.address.password:
            pair = f"{self.address.user}:{self.address.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
        return f"Bearer {self._key}" if self._key else ""

    @cached_property
    def _hide(self) -> Callable[[str], str]:
        return answers.hider([self._key, self._token.partition(" ")[2], *self.address.secrets])
