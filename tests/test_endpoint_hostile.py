"""Answers that no honest service gives: each ends in one line, with bounded memory, and without any part of the key."""

import contextlib
import gzip
import json
import time
import tracemalloc

import pytest

from connecting import connect, one
from embassay.core.errors import EndpointError
from embassay.core.types import Card
from embassay.models.services.api import ApiEncoder
from embassay.models.services.chat import Chat

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdefGHIJKL"


def raw(*pieces):
    """Send pieces of bytes, whatever they are, and hang up."""

    def behave(handler, payload):
        handler.close_connection = True
        for piece in pieces:
            handler.wfile.write(piece)

    return behave


def answer(body, *headers, status="200 OK"):
    """Send a body with a length, as HTTP wants it."""
    # Without "Connection: close" the client may send its second try into the connection that is just being closed.
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return raw("\r\n".join(head).encode("latin-1"), body)


def entries(*rows, indices=(0, 1)):
    """Send vectors, written as they are given."""
    data = [f'{{"index": {index}, "embedding": {row}}}' for index, row in zip(indices, rows, strict=True)]
    return answer(f'{{"data": [{", ".join(data)}], "model": "{KEY}"}}'.encode())


def says(message, *headers, status="400 Bad"):
    """Refuse with a message in JSON."""
    return answer(json.dumps({"error": {"message": message}}).encode(), *headers, status=status)


def endless(handler, payload):
    """Send white space for as long as somebody reads it."""
    handler.close_connection = True
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n{")
        for _ in range(2200):
            handler.wfile.write(b" " * 65536)


def chunks(*pieces):
    return raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *pieces)


def bomb(copies):
    """Send as many megabytes of white space as gzip makes small."""
    return answer(gzip.compress(b"{" + b" " * copies * 1_000_000), "Content-Encoding: gzip")


HOSTILE = {
    "NaN": (entries("[1, 2]", "[NaN, 1]"), "no list of finite numbers"),
    "a number beyond float64": (entries("[1, 2]", "[1e999, 1]"), "no list of finite numbers"),
    "an integer beyond float64": (entries("[1, 2]", f"[{10**400}, 1]"), "no list of finite numbers"),
    "an integer of 5,000 digits": (entries("[1, 2]", f"[{'9' * 5000}, 1]"), "damaged"),
    "lists in lists": (answer(b"[" * 200_000), "damaged"),
    "errors within errors": (answer(b'{"error":' * 3000 + b"1" + b"}" * 3000, status="400 Bad"), "answered 400"),
    "one vector less": (entries("[1, 2]", indices=(0,)), "1 result for 2 texts"),
    "one vector more": (entries("[1]", "[1]", "[1]", indices=(0, 1, 2)), "3 results for 2 texts"),
    "vectors of two lengths": (entries("[1, 2]", "[1]"), "have 1 dimensions instead of 2"),
    "an index twice": (entries("[1]", "[1]", indices=(1, 1)), "are not 0 to 1, each once"),
    "a list as an index": (entries("[1]", "[1]", indices=("[0]", "{}")), "no list of objects"),
    "no UTF-8": (answer(b'{"data": "\xff\xfe ' + KEY.encode() + b'"}'), "damaged"),
    "UTF-16": (answer(json.dumps({"data": KEY}).encode("utf-16")), "no list of objects"),
    "half a character": (says(f"\ud800 {KEY}"), "it says: …"),
    "control characters": (says(f"\x1b[2J\r\n\u2028\u202e{KEY}\x07"), r"it says: \[2J …"),
    "a long message": (says(f"{KEY} " * 50_000), "it says: {.*… … …"),
    "no content": (raw(f"HTTP/1.1 204 {KEY}\r\n\r\n".encode()), "the answer is not JSON"),
    "a redirect with the key": (answer(b"", f"Location: https://{KEY}.example/", status="302 Gone"), "redirects to"),
    "a long redirect": (answer(b"", f"Location: /{KEY * 900}", status="307 Gone"), "redirects to"),
    "a pause of 400 digits": (answer(b"", f"Retry-After: {'9' * 400}", status="429 No"), "answered 429"),
    "chunks of nonsense": (chunks(KEY.encode(), b"\r\n{}\r\n"), "the connection failed"),
    "an enormous length": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{"), "the connection failed"),
    "no HTTP": (raw(f"SSH-2.0-{KEY}\r\n".encode()), "the connection failed"),
    "a header without end": (raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000), "the connection failed"),
    "nothing": (raw(), "the connection failed"),
    "an answer without end": (endless, "the limit is 134,217,728 bytes"),
    "gzip that unpacks to much": (bomb(100), "the answer is not JSON"),
    "damaged gzip": (answer(KEY.encode(), "Content-Encoding: gzip"), "the answer is not JSON"),
    "gzip in gzip": (answer(KEY.encode(), "Content-Encoding: gzip, gzip"), "the answer is not JSON"),
    "another compression": (answer(b"\x1b\x00", f"Content-Encoding: br{KEY}"), "the answer is not JSON"),
}  # fmt: skip


@pytest.fixture
def endpoint(service, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    return connect(service.url, "MY_KEY", attempts=2, timeout=60, price=1.0)


def model(endpoint):
    return ApiEncoder("m", Card("api:m"), endpoint, {}, {"text": ""})


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_ends_in_one_line_without_the_key(service, endpoint, name):
    behaviour, message = HOSTILE[name]
    service.script(behaviour, behaviour)
    with pytest.raises(EndpointError, match=message) as caught:
        list(model(endpoint).batches(["a", "b"], "text"))
    shown = str(caught.value)
    assert shown.startswith(service.host)
    assert shown.isprintable()
    assert len(shown) < 2000
    shown += f"{caught.value!r}{caught.value.problem}{caught.value.said}".lower()
    assert not any(KEY[start : start + 12].lower() in shown for start in range(len(KEY) - 11))
    # The next answer is read as ever.
    service.behaviours.clear()
    assert [rows.shape for _, rows in model(endpoint).batches(["a", "b"], "text")] == [(2, service.dim)]


@pytest.mark.parametrize(
    "found",
    [{"usage": {"total_tokens": 10**400}}, {"usage": {"prompt_tokens": 10**400, "completion_tokens": 10**4000}},
     {"usage": {"total_tokens": float("nan")}}, {"usage": {"total_tokens": -1}}, {"model": KEY * 9000}, {"model": []}],
)  # fmt: skip
def test_what_comes_with_an_answer_of_a_chat_does_no_harm(service, endpoint, found):
    message = {"message": {"content": "Yes, I know."}, "finish_reason": "stop"}
    service.script(answer(json.dumps({"choices": [message], **found}).encode()))
    got = one(endpoint, Chat(endpoint, "m").ask, "Do you?")
    assert got.text == "Yes, I know."
    assert got.tokens < 100
    assert len(got.model) <= 201
    assert KEY[:8] not in got.model
    assert endpoint.spending.cost < 0.001


def test_lists_in_an_answer_of_a_chat(service, endpoint):
    service.script(answer(b'{"choices": ' + b"[" * 900 + b"]" * 900 + b"}"))
    with pytest.raises(EndpointError, match="is not a chat completion"):
        one(endpoint, Chat(endpoint, "m").ask, "Do you?")


def test_what_is_compressed_is_not_unpacked(service, endpoint):
    packed = gzip.compress(b'{"data": [' + b"[]," * 12_000_000)
    service.script(answer(packed, "Content-Encoding: gzip"))
    tracemalloc.start()
    try:
        with pytest.raises(EndpointError, match="the answer is not JSON"):
            list(model(endpoint).batches(["a", "b"], "text"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


def test_the_key_does_not_follow_a_redirect(service, lasting_service, endpoint):
    before = len(lasting_service.seen)
    for status in (301, 302, 303, 307, 308):
        service.script(answer(b"", f"Location: {lasting_service.url}/embeddings", status=f"{status} Moved"))
        with pytest.raises(EndpointError, match="the service redirects to"):
            model(endpoint).encode(["a"])
    time.sleep(0.05)
    assert len(lasting_service.seen) == before
