"""A service that is asked over HTTP: JSON is sent and comes back, repeated if that may help, within a budget.

A protocol (embeddings, chat, rerank, search) says what is sent and how an answer is read; everything else is here. Its
signature has the options of :class:`Service` that it offers, with its own defaults; what they mean is documented here.
Nothing is logged, and no message contains a key or a query.

Requests run in an event loop in a thread of its own: a socket's timeout starts again with every byte, but a deadline of
an event loop ends the whole exchange.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, unquote_plus, urlsplit

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
LONGEST = 1 << 27
"""Maximum number of bytes of an answer; a longer one is not read to its end. 2,048 vectors of OpenAI's have 70 MB."""
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
    # Not followed: the texts and the key are for the address that the user named.
    **dict.fromkeys((301, 302, 303, 307, 308), "the service redirects to another address; check the address"),
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
    attempts, first_pause, sleep
        The maximum number of attempts; the seconds before the second one, which double from attempt to attempt; and
        the function that waits.
    url, place, host, query
        The address, without its query; its host (with port) and path; its host; and its query, which must not be shown.
    spending
        The counts of requests and tokens, with the budget.
    hide
        Removes secrets from a text that is stored.
    """

    attempts = 6
    first_pause = 0.5
    sleep: Callable[[float], Awaitable[object]] = staticmethod(asyncio.sleep)

    def __init__(
        self,
        what: str,
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
        what
            The encoder or command that has these options, for messages, for example ``"encoder 'api:m'"``.
        address
            The address. Default: ``$OPENAI_BASE_URL``, otherwise OpenAI's.
        key_env
            The name of the environment variable with the key; empty to send no key.
        timeout
            Seconds for one attempt, from connecting to the last byte of the answer.
        concurrency
            Maximum number of simultaneous requests.
        price, budget
            The price of a million tokens, and the maximum cost, which needs a price; None if unknown, and for no limit.
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
            raise SpecError(f"{what}, option 'budget': also needs price=, the price of a million tokens")
        parts = read_address(what, address or os.environ.get("OPENAI_BASE_URL") or OPENAI)
        self.host = parts.netloc.lower()
        self.place = self.host + parts.path.rstrip("/")
        self.url = f"{parts.scheme}://{self.place}"
        self.query = parts.query
        self.concurrency = concurrency
        self.spending = Spending(price, budget)
        self._timeout = timeout
        self._tell = tell
        self._what = what
        self._client: httpx2.AsyncClient
        self._failure: Exception | None = None
        self._is_local = LOCAL.fullmatch(str(parts.hostname)) is not None

        # A server on this machine rarely needs a key.
        needs_key = key_env and not (key_env == OPENAI_KEY and self._is_local)
        key = read_key(what, key_env) if needs_key or os.environ.get(key_env) else ""
        # Where there is no such variable, its name may be a key.
        self._key_env = key_env if key else ""
        secrets = [key]
        self._headers = {
            "content-type": "application/json",
            "user-agent": f"embassay/{__version__}",
            "accept-encoding": "identity",
        }
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        for name, value in (headers or {}).items():
            if value.startswith("$"):
                value = read_key(what, value[1:])
                secrets.append(value)
            # In lower case, so that it replaces one of ours instead of being sent beside it.
            self._headers[name.lower()] = value
        for name, value in self._headers.items():
            if not (name + value).isascii() or not (name + value).isprintable():
                raise SpecError(f"{what}: the header {name!r} may only have printable ASCII characters")
        if any(secrets) and parts.scheme == "http" and not self._is_local:
            raise SpecError(f"{what}: {self.url}: the key would be sent unencrypted; use https://, or send no key")
        for parameter in parts.query.split("&"):
            value = parameter.partition("=")[2]
            if len(value) >= SHORTEST_SECRET:
                # A service that repeats the path repeats its values percent-encoded, as they were sent.
                secrets += [value, unquote_plus(value)]
        self.hide = hider(secrets)

    def route(self) -> dict[str, object]:
        """Return address, requests, retries, tokens and cost, for ``run.json``."""
        spent = self.spending
        return {
            "url": self.url,
            "requests": spent.requests,
            "retries": spent.retries,
            "tokens": spent.tokens,
            "cost": spent.cost,
        }

    def each(self, work: Callable[[T], Awaitable[R]], items: Sequence[T]) -> Generator[tuple[int, R, float]]:
        """Work on items, several at a time, and yield (index, result, seconds) as they are ready.

        After a failure no new item is started; the results of started items are yielded, then the failure is raised.
        After an interrupt, nothing is waited for. Connections are kept for all items.
        """
        remaining = iter(enumerate(items))
        results: SimpleQueue[tuple[int, R, float] | None] = SimpleQueue()
        self._failure = None

        async def worker() -> None:
            for place, item in remaining:
                if self._failure is not None:
                    return
                start = time.perf_counter()
                try:
                    results.put((place, await work(item), time.perf_counter() - start))
                except Exception as error:
                    self._failure = self._failure or error

        async def workers() -> None:
            import httpx2

            timeout = httpx2.Timeout(None, connect=CONNECT)
            # Requests to this machine do not use a proxy.
            async with httpx2.AsyncClient(
                headers=self._headers, timeout=timeout, trust_env=not self._is_local
            ) as self._client:
                await asyncio.gather(*[worker() for _ in range(self.concurrency)])
            if self._failure is not None:
                raise self._failure

        running = asyncio.run_coroutine_threadsafe(workers(), loop())
        running.add_done_callback(lambda _: results.put(None))
        try:
            while (ready := results.get()) is not None:
                yield ready
            running.result()
        finally:
            running.cancel()

    async def ask(
        self,
        path: str,
        payload: Mapping[str, object] | None,
        read: Callable[[Any], T],
        *,
        tokens: int = 0,
        query: str = "",
        divisible: bool = False,
    ) -> T:
        """Send JSON to a path, or ask for it if there is none to send, and return what is read of the answer.

        It is called by the work of :meth:`each`.

        Parameters
        ----------
        read
            Returns the result of an answer. Raises ValueError if the answer cannot be used.
        tokens
            The estimated number of tokens. It is replaced by the number in the answer. An answer that may have been
            generated but did not arrive counts with this estimate.
        query
            Parameters of the address, encoded, besides its own.
        divisible
            Whether :meth:`in_parts` can divide the request. If so, it is not repeated after a failure that one of its
            texts may cause: each division would otherwise wait for all attempts.

        Raises
        ------
        EndpointError
            If there is no usable answer after all attempts, or after this one if other work has failed meanwhile.
        EncoderError
            If the budget would be exceeded.
        """
        import httpx2

        url = self.url + path
        parameters = "&".join(filter(None, (self.query, query)))
        request = self._client.build_request(
            "GET" if payload is None else "POST",
            url,
            content=None if payload is None else json.dumps(payload),
            # The library logs the address of each request, so the query, which may contain a key, is kept apart.
            extensions={"target": httpx2.URL(f"{url}?{parameters}").raw_path.rstrip(b"?")},
        )
        attempt = 1
        while True:
            self.spending.reserve(tokens)
            used = 0
            try:
                answer = await self._answer(request)
                self.spending.requests += 1
                reported = used_tokens(answer)
                used = tokens if reported is None else reported
                return read(answer)
            except ValueError as problem:
                raise self.error(str(problem), 200) from None
            except EndpointError as error:
                used = tokens if error.kind == "lost" else 0
                is_divided = divisible and error.status in OF_THE_TEXTS
                if error.kind == "refused" or is_divided or attempt == self.attempts or self._failure:
                    if attempt > 1:
                        error.args = (f"{error} (tried {attempt} times)",)
                    raise error from None
                failure = error
            finally:
                self.spending.settle(tokens, used)
            attempt += 1
            self.spending.retries += 1
            await self._wait(failure, attempt)

    async def in_parts(
        self, ask: Callable[[Sequence[str]], Awaitable[DenseVectors]], texts: Sequence[str]
    ) -> DenseVectors:
        """Return the rows of texts that one request returns, or, where it is refused, two requests of half of them.

        Services limit a request by tokens that they count differently, so only they know what is too large. They refuse
        an empty text; a space has as little content.

        Raises
        ------
        EndpointError
            If there is no usable answer; the message names a text that is refused alone.
        """
        texts = [text or BLANK for text in texts]
        try:
            return await ask(texts)
        except EndpointError as error:
            if error.status not in OF_THE_TEXTS:
                raise
            if len(texts) == 1:
                error.args = (f"{error}; the text is {quoted(texts[0])}",)
                raise
        half = len(texts) // 2
        return np.concatenate([await self.in_parts(ask, texts[:half]), await self.in_parts(ask, texts[half:])])

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

    async def _wait(self, failure: EndpointError, attempt: int) -> None:
        """Wait before an attempt; a long wait is announced."""
        seconds = failure.pause
        if seconds is None:
            seconds = min(LONGEST_PAUSE, self.first_pause * 2.0 ** (attempt - 2))
        if seconds >= NOTABLE:
            reason = f"{self._what}: {failure.status or self.host}: {failure.problem}"
            self._tell(f"{reason}; waiting {seconds:.0f} s, then attempt {attempt} of {self.attempts}")
        await self.sleep(seconds)

    async def _answer(self, request: httpx2.Request) -> Any:
        """Send a request once, and return the JSON of the answer, or raise the error that it stands for."""
        response, body = await self._exchange(request)
        status = response.status_code
        if response.is_success:
            if len(body) > LONGEST:
                raise self.error(f"the answer is too long: the limit is {LONGEST:,} bytes", status)
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
        problem = problem.format(key_env=self._key_env, path=response.url.path)
        raise self.error(problem, status, body, kind, response.headers.get("retry-after", ""))

    async def _exchange(self, request: httpx2.Request) -> tuple[httpx2.Response, bytes]:
        """Send a request and return the answer and its body.

        A failure before anything was sent is the service's. A later failure may be due to the content of the request,
        and an answer may have been generated.
        """
        import httpx2

        kind = "lost"
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self._timeout),
                aclosing(await self._client.send(request, stream=True)) as response,
                # Not decompressed, because no compression was requested.
                aclosing(response.aiter_raw()) as pieces,
            ):
                longest = LONGEST if response.is_success else LONGEST_REFUSAL
                async for piece in pieces:
                    body += piece
                    if len(body) > longest:
                        break
                return response, bytes(body)
        except TimeoutError:
            problem = f"no complete answer within {self._timeout:g} s"
        except httpx2.RequestError as error:
            problem = f"the connection failed: {self.one_line(str(error) or type(error).__name__)}"
            if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
                problem += "; check the address, and whether it is http:// or https://"
                # A closed port of this machine stays closed, so another attempt would not help.
                kind = "refused" if self._is_local else "busy"
        raise self.error(problem, kind=kind)


@cache
def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of all requests; its thread does not keep the process alive."""
    made = asyncio.new_event_loop()
    Thread(target=made.run_forever, daemon=True, name="embassay-http").start()
    return made


def read_address(what: str, text: str) -> SplitResult:
    """Return the parts of the address of a service.

    Raises
    ------
    SpecError
        If it is not an address, or has a user. The message does not quote it, because it may contain a password.
    """
    with suppress(ValueError):
        parts = urlsplit(text)
        is_plain = re.fullmatch(r"https?://[!-~]+", text) and not parts.fragment
        if is_plain and parts.hostname and parts.port != 0 and "@" not in parts.netloc:
            return parts
    raise SpecError(
        f"{what}: the address must start with https:// or http://, such as {OPENAI}, and have no user or password; "
        "a key is read from an environment variable, key_env="
    )


def read_key(what: str, name: str) -> str:
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
            f"{what}: the environment variable {shown} is not set; give the name of an environment variable that "
            "holds the key (key_env= sends no key)"
        )
    return key


def used_tokens(answer: Any) -> int | None:
    """Return the number of tokens that an answer reports; None if there is no plausible one."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return None
    counts = {name: number for name, number in usage.items() if type(number) is int and 0 <= number <= MOST_TOKENS}
    if "prompt_tokens" in counts:
        # A total may include tokens of reasoning, which are no part of the answer.
        counts.setdefault("total_tokens", counts["prompt_tokens"] + counts.get("completion_tokens", 0))
    return counts.get("total_tokens")


def in_order(answer: Any, name: str, count: int) -> list[Any]:
    """Return the entries of a list in an answer, one for each of ``count`` texts, in the order of the texts.

    Parameters
    ----------
    name
        The field of the answer that has the list.

    Raises
    ------
    ValueError
        If there is not one entry for each text.
    """
    try:
        entries = answer[name]
        # Not all services number their entries, and protobuf leaves out the number 0.
        entry_of = {entry.get("index", place): entry for place, entry in enumerate(entries)}
        number = len(entries)
    except (AttributeError, KeyError, TypeError):
        problem = f"the answer has no list of objects ({name!r}), but {quoted(answer)}; check the address"
        raise ValueError(problem) from None
    if number != count:
        raise ValueError(f"the answer has {counted(number, 'result')} for {counted(count, 'text')}")
    if any(place not in entry_of for place in range(count)):
        raise ValueError(f"the 'index' values of the results are not 0 to {count - 1}, each once")
    return [entry_of[place] for place in range(count)]
