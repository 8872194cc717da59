"""A service that is asked over HTTP: JSON is sent and comes back, repeated if that may help, within a budget.

A protocol (embeddings, chat, rerank, search) says what is sent and how an answer is read; everything else is here.
Nothing is logged, and no message contains a key, a password or a query.

Requests run in an event loop in a thread of its own: a socket's timeout starts again with every byte, but a deadline of
an event loop ends the whole exchange.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import weakref
from base64 import b64encode
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from contextlib import aclosing, suppress
from functools import cache
from random import SystemRandom
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit

import numpy as np

from embassay._version import __version__
from embassay.core.errors import EndpointError, SpecError, begun, quoted
from embassay.core.formatting import counted
from embassay.core.vectors import DenseVectors
from embassay.models.services.secrets import hider
from embassay.models.services.spending import Spending

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
R = TypeVar("R")
Received: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body of an answer."""
OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
BLANK = " "
"""Sent in place of an empty text, which services refuse."""
BUSY = (429, 503)
"""HTTP statuses of a service that asks to wait, whatever the request."""
RETRYABLE = (*BUSY, 408, 409, 425, 500, 502, 504)
"""HTTP statuses after which a request is repeated."""
OF_THE_TEXTS = (400, 413, 422, 500)
"""HTTP statuses that a single text, or too many texts, may cause."""
CONNECT = 15.0
"""Maximum seconds for connecting, and again for encrypting the connection."""
LONGEST_PAUSE = 60.0
NOTABLE = 2.0
"""Pauses of at least this many seconds are announced."""
LONGEST_REFUSAL = 1 << 16
"""Maximum number of bytes that are read of an answer without a result."""
SHORTEST_SECRET = 8
"""Values of a query with fewer characters are settings, such as a version; others may be a key."""
MAX_SHOWN = 200
"""Maximum number of characters of an answer that a message quotes."""
MOST_TOKENS = 10**12
"""Larger numbers are not plausible as numbers of tokens."""
QUOTA_USED_UP = b"insufficient_quota"
"""Part of OpenAI's answer with status 429 if the account is empty; waiting does not help then."""
PROBLEMS = {
    200: "the service sent an error instead of an answer",
    401: "the key is missing, or was not accepted (key_env={key_env})",
    403: "the key does not allow this (key_env={key_env})",
    404: "no such model, or nothing at {path}; check the address",
    413: "the request is too large",
    429: "too many requests, or the account has no credit left",
}
LOCAL = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")
"""The names of this machine. Others are not looked up, because that would send them to a name server."""
VARIABLE = re.compile(r"[A-Z][A-Z_]{0,63}\d{0,3}")
"""The names that a message quotes; anything else may be a key in their place."""
MESSAGE = re.compile(r'"(?:error|message|detail)"\s*:\s*("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")')
"""The message of an error in JSON."""


class Service:
    """A service that takes JSON and answers with JSON.

    Attributes
    ----------
    attempts, first_pause, pause
        The maximum number of attempts; the seconds before the second one, which double from attempt to attempt; and
        the function that waits.
    url, place, host, query
        The address, without its user, password and query; its host (with port) and path; its host; and its query, which
        must not be shown.
    spending
        The counts of requests and tokens, with the budget.
    hide
        Removes secrets from a text that is stored.
    """

    attempts = 6
    first_pause = 0.5
    pause: Callable[[Event, float], object] = staticmethod(Event.wait)

    def __init__(
        self,
        place: str,
        address: str,
        key_env: str,
        *,
        timeout: float,
        concurrency: int,
        price: float | None = None,
        budget: float | None = None,
        headers: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ):
        """Read the key from the environment; nothing is sent yet.

        Parameters
        ----------
        place
            The encoder or command that has these options, for messages, for example ``"encoder 'api:m'"``.
        address
            The address. Default: ``$OPENAI_BASE_URL``, otherwise OpenAI's. A user and a password in it are sent instead
            of a key.
        key_env
            The name of the environment variable with the key; empty to send no key.
        timeout
            Seconds for one attempt, from connecting to the last byte of the answer.
        concurrency
            Maximum number of simultaneous requests.
        price, budget
            See :class:`~embassay.models.services.spending.Spending`.
        headers
            Further headers of each request; ``$NAME`` as a value stands for the environment variable, a secret.
        tell
            Called with a line of text before each long pause between two attempts.

        Raises
        ------
        SpecError
            If there is a budget and no price, the address is not valid, or the key is missing or would be sent
            unencrypted.
        """
        if budget is not None and price is None:
            raise SpecError(f"{place}, option 'budget': also needs price=, the price of a million tokens")
        parts = read_address(place, address or os.environ.get("OPENAI_BASE_URL") or OPENAI)
        user, _, host = parts.netloc.rpartition("@")
        self.host = host.lower()
        self.place = self.host + parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{self.place}"
        self.query = parts.query
        self.concurrency = concurrency
        self.spending = Spending(price, budget)
        self._timeout = timeout
        # Connecting and encrypting end before the deadline, so a request that reaches the deadline was sent.
        self._connect = min(CONNECT, timeout / 2)
        self._tell = tell
        self._what = place
        self._stop = Event()
        self._client: httpx2.AsyncClient | None = None
        self._under_way: set[Future[Any]] = set()
        self._is_local = LOCAL.fullmatch(str(parts.hostname)) is not None

        # A server on this machine rarely needs a key.
        needs_key = key_env and not user and not (key_env == OPENAI_KEY and self._is_local)
        key = read_key(place, key_env) if needs_key or os.environ.get(key_env) else ""
        # Where there is no such variable, its name may be a key.
        self._key_env = key_env if key else ""
        user = unquote(user)
        token = b64encode(user.encode()).decode() if user else key
        # A name without a password is a key.
        hidden = [token, user.partition(":")[2] or user]
        self._headers = {
            "content-type": "application/json",
            "user-agent": f"embassay/{__version__}",
            "accept-encoding": "identity",
        }
        if token:
            self._headers["authorization"] = f"{'Basic' if user else 'Bearer'} {token}"
        for name, value in (headers or {}).items():
            if not (name + value).isascii() or not (name + value).isprintable():
                raise SpecError(f"{place}: the header {name!r} may only have printable ASCII characters")
            self._headers[name] = value
            if value.startswith("$"):
                self._headers[name] = read_key(place, value[1:])
                hidden.append(self._headers[name])
        if any(hidden) and parts.scheme == "http" and not self._is_local:
            raise SpecError(f"{place}: {self.url}: the key would be sent unencrypted; use https://, or send no key")
        for parameter in parts.query.split("&"):
            value = parameter.partition("=")[2]
            if len(value) >= SHORTEST_SECRET:
                # A service that repeats the path repeats its values percent-encoded, as they were sent.
                hidden += [value, unquote_plus(value)]
        self.hide = hider(hidden)

    def route(self) -> dict[str, object]:
        """Return address, requests, retries, tokens and cost, for ``run.json``."""
        spent = self.spending
        counts = {"requests": spent.requests, "retries": spent.retries, "tokens": spent.tokens, "cost": spent.cost}
        return {"url": self.url, **counts}

    def ask(
        self,
        path: str,
        payload: Mapping[str, object] | None,
        read: Callable[[Any], tuple[T, int | None]],
        *,
        longest: int,
        tokens: int = 0,
        query: str = "",
    ) -> T:
        """Send JSON to a path, or ask for it if there is none to send, and return what is read of the answer.

        Parameters
        ----------
        read
            Returns the result of an answer, and the number of tokens that the answer reports; None if it reports none.
            Raises ValueError if the answer cannot be used.
        longest
            Maximum bytes of an answer; a longer one is not read to its end.
        tokens
            The estimated number of tokens. It is replaced by the number in the answer. An answer that may have been
            generated but did not arrive counts with this estimate.
        query
            Parameters of the address, encoded, besides its own.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts.
        EncoderError
            If the budget would be exceeded.
        CancelledError
            If another request of :meth:`each` has failed meanwhile.
        """
        import httpx2

        url = self.url + path
        parameters = "&".join(filter(None, (self.query, query)))
        request = httpx2.Request(
            "GET" if payload is None else "POST",
            url,
            headers=self._headers,
            content=None if payload is None else json.dumps(payload),
            extensions={
                # The library logs the address of each request, so the query, which may contain a key, is kept apart.
                "target": httpx2.URL(f"{url}?{parameters}").raw_path.rstrip(b"?"),
                "timeout": {"connect": self._connect},
            },
        )
        stop = self._stop
        attempt = 0
        while not stop.is_set():
            attempt += 1
            self.spending.reserve(tokens, is_repeated=attempt > 1)
            used = answered = 0
            try:
                answer = self._answer(request, longest)
                # An answer that cannot be read, or does not report its tokens, counts with the estimate.
                used, answered = tokens, 1
                result, reported = read(answer)
                used = tokens if reported is None else reported
                return result
            except ValueError as problem:
                raise self.error(str(problem), 200) from None
            except EndpointError as error:
                used = tokens if error.kind == "lost" else 0
                if error.kind == "refused" or attempt == self.attempts:
                    if attempt > 1:
                        error.args = (f"{error} (tried {attempt} times)",)
                    raise error from None
                failure = error
            finally:
                self.spending.settle(tokens, used, answered)
            self._wait(failure, attempt, stop)
        # Another request failed permanently, and that failure is reported.
        raise CancelledError

    def each(self, work: Callable[[T], R], items: Sequence[T]) -> Generator[tuple[int, R], None, None]:
        """Work on items, several at a time, and yield (index, result) as they are ready.

        After a failure no new item is started; the results of started items are yielded, then the failure is raised.
        After an interrupt, nothing is waited for.
        """
        stop = self._stop = Event()
        # Made before the threads, which might make several.
        loop()

        def run(item: T) -> R:
            if stop.is_set():
                raise CancelledError
            try:
                return work(item)
            except BaseException:
                # Set here, because the collecting thread would set it too late for the next item of this thread.
                stop.set()
                raise

        pool = ThreadPoolExecutor(self.concurrency, "embassay-request")
        place_of = {pool.submit(run, item): place for place, item in enumerate(items)}
        failure = None
        try:
            for future in as_completed(place_of):
                place = place_of.pop(future)
                error = future.exception()
                if error is None:
                    yield place, future.result()
                elif not isinstance(error, CancelledError):
                    failure = failure or error
        finally:
            stop.set()
            self._stop = Event()
            pool.shutdown(wait=False, cancel_futures=True)
            if place_of:
                # Otherwise threads that wait for an answer would keep the process alive.
                self.close()
        if failure is not None:
            raise failure

    def in_parts(self, ask: Callable[[Sequence[str]], DenseVectors], texts: Sequence[str]) -> DenseVectors:
        """Return the rows of texts that one request returns, or, where it is refused, two requests of half of them.

        Services limit a request by tokens that they count differently, so only they know what is too large.

        Raises
        ------
        EndpointError
            If there is no usable answer; the message names a text that is refused alone.
        """
        try:
            return ask(texts)
        except EndpointError as error:
            if error.status not in OF_THE_TEXTS:
                raise
            if len(texts) == 1:
                problem = f"{error.problem}, for the text {quoted(texts[0])}"
                raise EndpointError(self.host, problem, error.status, error.said) from None
        half = len(texts) // 2
        return np.concatenate([self.in_parts(ask, texts[:half]), self.in_parts(ask, texts[half:])])

    def error(
        self, problem: str, status: int | None = None, body: bytes = b"", kind: str = "refused", pause: str = ""
    ) -> EndpointError:
        """Return an error of this service, without secrets; ``pause`` is a number of seconds."""
        text = body[:LONGEST_REFUSAL].decode("utf-8", "replace")
        message = MESSAGE.search(text)
        said = self.one_line(json.loads(message[1], strict=False) if message else text)
        seconds = min(float(pause), LONGEST_PAUSE) if re.fullmatch(r"\d+(\.\d+)?", pause) else None
        return EndpointError(self.host, self.hide(problem), status, said, kind, seconds)

    def one_line(self, text: str) -> str:
        """Return the beginning of a text on one line, without secrets."""
        printable = "".join(character if character.isprintable() else " " for character in text)
        return begun(self.hide(" ".join(printable.split())), MAX_SHOWN)

    def close(self) -> None:
        """Close all connections, which ends the requests under way; the next request opens new ones."""
        # Before anything else, because a later request is not to be cancelled.
        for future in list(self._under_way):
            future.cancel()
        client, self._client = self._client, None
        if client is not None:
            run_in_loop(client.aclose)

    def _wait(self, failure: EndpointError, attempt: int, stop: Event) -> None:
        """Wait before the next attempt, or until ``stop`` is set; a long wait is announced."""
        jitter = SystemRandom().uniform(0.5, 1.0) * self.first_pause
        seconds = min(LONGEST_PAUSE, jitter * 2.0**attempt) if failure.pause is None else failure.pause + jitter
        if seconds >= NOTABLE:
            reason = f"{self._what}: {failure.status or self.host}: {failure.problem}"
            self._tell(f"{reason}; waiting {seconds:.0f} s, then attempt {attempt + 1} of {self.attempts}")
        self.pause(stop, seconds)

    def _answer(self, request: httpx2.Request, longest: int) -> Any:
        """Send a request once, and return the JSON of the answer, or raise the error that it stands for."""
        status, headers, body = self._exchange(request, longest)
        if 300 <= status < 400:
            # Redirects are not followed: the texts and the key are for the address that the user named.
            target = self.one_line(headers.get("location", "").partition("?")[0])
            raise self.error(f"the service redirects to {target}; check the address", status)
        if 200 <= status < 300:
            if len(body) > longest:
                raise self.error(f"the answer is too long: the limit is {longest:,} bytes", status)
            try:
                answer = json.loads(body)
            except (ValueError, RecursionError):
                problem, kind = "the answer is not JSON; check the address", "refused"
                if body.lstrip()[:1] in (b"{", b"["):
                    # It was probably cut off on its way.
                    problem, kind = "the JSON of the answer is damaged or truncated", "lost"
                raise self.error(problem, status, body, kind) from None
            # Some services send an error as a success if their provider failed.
            if not isinstance(answer, dict) or not answer.get("error"):
                return answer
            status = 200
        kind = "refused"
        if status in (200, *RETRYABLE) and QUOTA_USED_UP not in body:
            kind = "busy" if status in BUSY else "failed"
        problem = PROBLEMS.get(status, "it failed" if status >= 500 else "the request was refused")
        problem = problem.format(key_env=self._key_env, path=request.url.path)
        raise self.error(problem, status, body, kind, headers.get("retry-after", ""))

    def _exchange(self, request: httpx2.Request, longest: int) -> Received:
        """Send a request and return status, headers and body of the answer.

        A failure before anything was sent is the service's. A later failure may be due to the content of the request,
        and an answer may have been generated.
        """
        import httpx2

        kind = "lost"
        future = run_in_loop(self._send, request, longest)
        self._under_way.add(future)
        try:
            return future.result()
        except TimeoutError:
            problem = f"no complete answer within {self._timeout:g} s"
        except httpx2.RequestError as error:
            problem = f"the connection failed: {self.one_line(str(error) or type(error).__name__)}"
            if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
                problem += "; check the address, and whether it is http:// or https://"
                # A closed port of this machine stays closed, so another attempt would not help.
                kind = "refused" if self._is_local else "busy"
        finally:
            self._under_way.discard(future)
        raise self.error(problem, kind=kind)

    async def _send(self, request: httpx2.Request, longest: int) -> Received:
        import httpx2

        client = self._client
        if client is None:
            # Requests to this machine do not use a proxy.
            client = self._client = httpx2.AsyncClient(trust_env=not self._is_local)
            weakref.finalize(self, run_in_loop, client.aclose).atexit = False
        body = bytearray()
        async with asyncio.timeout(self._timeout), aclosing(await client.send(request, stream=True)) as response:
            if not response.is_success:
                longest = LONGEST_REFUSAL
            # Not decompressed, because no compression was requested.
            async with aclosing(response.aiter_raw()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > longest:
                        break
            return response.status_code, response.headers, bytes(body)


@cache
def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all requests; its thread does not keep the process alive."""
    made = asyncio.new_event_loop()
    Thread(target=made.run_forever, daemon=True, name="embassay-http").start()
    return made


def run_in_loop(work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> Future[T]:
    """Start a coroutine in the loop."""
    return asyncio.run_coroutine_threadsafe(work(*arguments), loop())


def read_address(place: str, text: str) -> SplitResult:
    """Return the parts of the address of a service.

    Raises
    ------
    SpecError
        If it is not an address. The message does not quote it, because it may contain a password.
    """
    with suppress(ValueError):
        parts = urlsplit(text)
        is_plain = re.fullmatch(r"https?://[!-~]+", text) and not parts.fragment
        if is_plain and parts.hostname and parts.port != 0:
            return parts
    raise SpecError(f"{place}: the address must start with https:// or http://, such as {OPENAI}")


def read_key(place: str, name: str) -> str:
    """Return the key in an environment variable.

    Raises
    ------
    SpecError
        If the variable is not set. The message quotes its name only if it looks like one, because it may be the key.
    """
    key = os.environ.get(name, "").strip()
    if not key:
        shown = name if VARIABLE.fullmatch(name) else "…"
        raise SpecError(
            f"{place}: the environment variable {shown} is not set; give the name of an environment variable that "
            "holds the key (key_env= sends no key)"
        )
    if not (key.isascii() and key.isprintable()):
        raise SpecError(f"{place}: {name} contains characters that no key has, such as a line break")
    return key


def used_tokens(answer: Any, *names: str) -> int | None:
    """Return the first plausible number of tokens that an answer reports under these names; None if there is none."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    for name in names or ("total_tokens", "prompt_tokens"):
        number = usage.get(name) if isinstance(usage, dict) else None
        if type(number) is int and 0 <= number <= MOST_TOKENS:
            return number
    return None


def in_order(entries: Any, count: int) -> list[Any]:
    """Return the entries of an answer, one for each of ``count`` texts, in the order of the texts.

    Raises
    ------
    ValueError
        If there is not one entry for each text.
    """
    try:
        # Not all services number their entries, and protobuf leaves out the number 0.
        numbered = [(entry.get("index", place), entry) for place, entry in enumerate(entries)]
        entry_of = dict(numbered)
        is_complete = len(numbered) == count and sorted(entry_of) == [*range(count)]
    except (AttributeError, TypeError):
        raise ValueError(f"the answer has no list of objects, but {quoted(entries)}") from None
    if not is_complete:
        problem = f"the answer has {counted(len(numbered), 'result')} for {counted(count, 'text')}"
        raise ValueError(f"{problem}, or their 'index' values are not 0 to {count - 1}, each once")
    return [entry_of[place] for place in range(count)]
