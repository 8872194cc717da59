"""The connections to a service: an exchange ends at its deadline, and no more is read than an answer can have.

Exchanges run in an event loop, in a thread of its own. The timeouts of a socket begin again with every byte that comes;
a deadline of an event loop ends an exchange wherever it is.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from embassay.endpoint.answers import LONGEST_REFUSAL

if TYPE_CHECKING:
    import httpx2

CONNECT = 15.0
"""Seconds that connecting may take, and as many encrypting the connection."""
ENCODINGS = frozenset({"", "identity", "gzip"})
"""The content encodings that are read. Encodings upon encodings unpack without any limit."""


@dataclass(frozen=True)
class Received:
    """What came back.

    Attributes
    ----------
    encoding
        The content encoding, where it is one that is not read; then the body is empty.
    body
        The answer, unpacked; of one that is too long, what was read of it.
    too_long
        Whether there was more than ``body``.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    encoding: str = ""
    too_long: bool = False


class Connections:
    """Connections that are kept open from one request to the next."""

    def __init__(self, headers: Mapping[str, str], seconds: float, *, trust_env: bool):
        """Connect to nothing yet.

        Parameters
        ----------
        headers
            Sent with each request.
        seconds
            How long an exchange may take, from connecting to the answer's end.
        trust_env
            Whether proxies are taken from the environment.
        """
        import httpx2

        # Connecting and encrypting together end before the deadline, so what passes the deadline was sent.
        self.connect_seconds = min(CONNECT, seconds / 2)
        self._seconds = seconds
        self._client = httpx2.AsyncClient(
            headers={**headers, "accept-encoding": "gzip"},
            timeout=httpx2.Timeout(None, connect=self.connect_seconds),
            follow_redirects=False,
            trust_env=trust_env,
        )
        self._loop = asyncio.new_event_loop()
        self._closed = asyncio.Event()
        # The thread keeps neither the process from ending, nor this object from being collected.
        run = (self._loop, self._client, self._closed)
        Thread(target=_run, args=run, daemon=True, name="embassay-http").start()

    def post(self, url: str, content: bytes, longest: int) -> Future[Received]:
        """Begin to send a request; at most ``longest`` bytes of the answer are read.

        The result is an exception of httpx2 where there is no answer, or a TimeoutError where the deadline has passed.
        """
        return asyncio.run_coroutine_threadsafe(self._exchange(url, content, longest), self._loop)

    def close(self) -> None:
        """Close all connections; the requests under way are cancelled."""
        with suppress(RuntimeError):  # closed before
            self._loop.call_soon_threadsafe(self._closed.set)

    async def _exchange(self, url: str, content: bytes, longest: int) -> Received:
        import httpx2

        # The library writes each request's address to its log: the query goes out apart from it.
        without_query = url.partition("?")[0]
        target = {"target": httpx2.URL(url).raw_path}
        request = self._client.stream("POST", without_query, content=content, extensions=target)
        async with asyncio.timeout(self._seconds), request as response:
            return await _read(response, longest)


async def _read(response: httpx2.Response, longest: int) -> Received:
    """Read an answer, or the beginning of one that is too long."""
    status, headers = response.status_code, response.headers
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ENCODINGS:
        return Received(status, headers, encoding=encoding)
    if not response.is_success:
        longest = LONGEST_REFUSAL
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > longest:
                return Received(status, headers, bytes(body), too_long=True)
    return Received(status, headers, bytes(body))


def _run(loop: asyncio.AbstractEventLoop, client: httpx2.AsyncClient, closed: asyncio.Event) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_serve(client, closed))


async def _serve(client: httpx2.AsyncClient, closed: asyncio.Event) -> None:
    """Let exchanges run until the connections are to be closed, then cancel those that are under way."""
    await closed.wait()
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    for exchange in under_way:
        exchange.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
    await client.aclose()
    # Sockets are closed one turn of the loop later.
    await asyncio.sleep(0)


def reason(error: BaseException) -> str:
    """Return why a connection failed: in the words of the system where it has some, else in the library's."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            # One failure for each address of a host.
            cause = cause.exceptions[0]
        if isinstance(cause, OSError) and cause.errno and not isinstance(cause, ssl.SSLError | socket.gaierror):
            return os.strerror(cause.errno)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
