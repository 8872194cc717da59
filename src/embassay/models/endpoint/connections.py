"""Connections to a service, with one deadline for each exchange and a maximum length for answers.

Exchanges run in an event loop in its own thread: a socket's timeout starts again with every byte, but a deadline of an
event loop ends the whole exchange.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import aclosing, suppress
from dataclasses import dataclass
from socket import gaierror
from ssl import SSLError
from threading import Thread
from typing import TYPE_CHECKING

from embassay.models.endpoint.answers import LONGEST_REFUSAL

if TYPE_CHECKING:
    import httpx2

CONNECT = 15.0
"""Maximum seconds for connecting, and again for encrypting the connection."""
NOT_ENCRYPTED = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
"""How versions of OpenSSL call an answer that is not encrypted."""
GZIP = 31
"""The value by which zlib knows gzip."""


@dataclass(frozen=True)
class Received:
    """A received answer; the decompressed body has more bytes than allowed if the answer is too long."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connections:
    """Connections that stay open between requests."""

    def __init__(self, headers: Mapping[str, str], seconds: float, *, trust_env: bool):
        """Start the thread of the event loop; no connection is opened yet.

        Parameters
        ----------
        headers
            Headers of each request.
        seconds
            Maximum duration of an exchange, from connecting to the end of the answer.
        trust_env
            Whether proxies are taken from the environment.
        """
        import httpx2

        # Connecting and encrypting end before the deadline, so a request that reaches the deadline was sent.
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
        # The thread keeps neither the process nor this object alive.
        run = (self._loop, self._client, self._closed)
        Thread(target=_run, args=run, daemon=True, name="embassay-http").start()

    def send(self, method: str, url: str, content: bytes, longest: int) -> Future[Received]:
        """Start sending a request; at most ``longest`` bytes of the answer are read, and one more.

        The future raises an exception of httpx2 if there is no answer, or a TimeoutError after the deadline.
        """
        return asyncio.run_coroutine_threadsafe(self._exchange(method, url, content, longest), self._loop)

    def close(self) -> None:
        """Close all connections; the requests under way are cancelled."""
        with suppress(RuntimeError):  # closed before
            self._loop.call_soon_threadsafe(self._closed.set)

    async def _exchange(self, method: str, url: str, content: bytes, longest: int) -> Received:
        import httpx2

        # The library logs the address of each request, so the query, which may contain a key, is passed separately.
        without_query = url.partition("?")[0]
        target = {"target": httpx2.URL(url).raw_path}
        request = self._client.stream(method, without_query, content=content, extensions=target)
        async with asyncio.timeout(self._seconds), request as response:
            return Received(response.status_code, response.headers, await _body(response, longest))


async def _body(response: httpx2.Response, longest: int) -> bytes:
    """Return the decompressed body of an answer; of one that is too long, one byte more than ``longest``."""
    if not response.is_success:
        longest = LONGEST_REFUSAL
    body = bytearray()
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > longest:
                break
    if response.headers.get("content-encoding", "").strip().lower() == "gzip":
        # Not decompressed by the library, which would do so without a limit.
        return zlib.decompressobj(GZIP).decompress(body, longest + 1)
    return bytes(body)


def _run(loop: asyncio.AbstractEventLoop, client: httpx2.AsyncClient, closed: asyncio.Event) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_serve(client, closed))


async def _serve(client: httpx2.AsyncClient, closed: asyncio.Event) -> None:
    """Let exchanges run until ``closed`` is set, then cancel unfinished ones and close the connections."""
    await closed.wait()
    under_way = asyncio.all_tasks() - {asyncio.current_task()}
    for exchange in under_way:
        exchange.cancel()
    await asyncio.gather(*under_way, return_exceptions=True)
    await client.aclose()
    # Sockets are closed in the next iteration of the loop.
    await asyncio.sleep(0)


def reason(error: BaseException) -> str:
    """Return why a connection failed: the operating system's message if there is one, otherwise the library's."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):
            # A group has one failure for each address of the host.
            cause = cause.exceptions[0]
        if getattr(cause, "reason", "") in NOT_ENCRYPTED:
            return "it does not answer encrypted; is the address http://?"
        # The numbers of SSLError and gaierror are not those of the operating system.
        if isinstance(cause, OSError) and not isinstance(cause, SSLError | gaierror) and cause.errno:
            return os.strerror(cause.errno)
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
