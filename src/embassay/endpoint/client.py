"""Requests to one service: sent again when that may help, several at a time, within a budget.

Nothing is written to a log, and no message has a key, a user, a password or a query in it.
"""

from __future__ import annotations

import base64
import json
import time
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import SystemRandom
from threading import Event, Lock
from typing import Any, TypeVar

from embassay._version import __version__
from embassay.endpoint import answers, lanes
from embassay.endpoint.address import leads_to, read_address
from embassay.endpoint.spending import KEPT, Spending
from embassay.errors import EndpointError, SpecError

T = TypeVar("T")
R = TypeVar("R")
LARGEST = 1 << 29
"""Bytes of an answer that are read."""
CONNECT = 15.0
"""Seconds that connecting may take."""


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


class _PassingError(Exception):
    """A failure that another attempt may mend, with the pause that the service asks for."""

    def __init__(self, error: EndpointError, asked: float | None = None):
        super().__init__(str(error))
        self.error, self.asked = error, asked


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

        Raises
        ------
        SpecError
            If the address is none, or the key would travel unencrypted.
        """
        self.address = read_address(base_url)
        self.concurrency, self.spending = concurrency, Spending(price, budget, kept)
        self._key, self._key_name, self._timeout = "" if self.address.user else key, key_name, timeout
        self._retries = retries or Retries()
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
            How many it will take, roughly; what the answer says of that is counted instead.
        used
            Reads from an answer how many it took; None where it does not say.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts.
        EncoderError
            If the budget does not suffice.
        """
        self.spending.reserve(tokens)
        try:
            answer = self._persist(path, json.dumps(payload, allow_nan=False).encode())
        except BaseException:
            self.spending.release(tokens)
            raise
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

    def _persist(self, path: str, content: bytes) -> Any:
        """Send a request until there is an answer, or no hope for one."""
        stop = self._stop
        for attempt in range(1, self._retries.attempts + 1):
            try:
                return self._once(path, content)
            except _PassingError as trouble:
                if attempt < self._retries.attempts:
                    self._retries.pause(stop, self._retries.seconds(attempt, trouble.asked))
                if attempt == self._retries.attempts or stop.is_set():
                    raise trouble.error.after(attempt) from None
                self.spending.again()
        raise AssertionError("at least one attempt")

    def _once(self, path: str, content: bytes) -> Any:
        import httpx2

        try:
            status, headers, body = self._exchange(path, content)
        except httpx2.TimeoutException:
            raise _PassingError(self.error(f"no whole answer within {self._timeout:g} s")) from None
        except httpx2.RequestError as error:
            reason = answers.excerpt(str(error).encode(), self._hide) or type(error).__name__
            raise _PassingError(self.error(f"the connection failed: {reason}")) from None
        if 200 <= status < 300:
            return self._json(status, body)
        raise self._refusal(status, headers, body, self.address.path + path)

    def _refusal(self, status: int, headers: Mapping[str, str], body: bytes, path: str) -> Exception:
        """Return what to raise for an answer that is none."""
        if 300 <= status < 400:
            place = self._hide(leads_to(headers.get("location", ""))) or "another address"
            return self.error(f"it redirects to {place}; give the right address as base_url", status)
        error = self.error(answers.problem(status, self._key_name if self._token else "", path), status, body)
        if status in answers.AGAIN and answers.SPENT.encode() not in body:
            return _PassingError(error, answers.pause_asked(headers))
        return error

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
                raise _PassingError(self.error("its JSON is damaged or cut short", status, body)) from None
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
