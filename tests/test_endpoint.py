"""The HTTP client: what is sent again, what is refused, what a message may show, and how many requests at a time."""

import contextlib
import errno
import json
import logging
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from embassay.core.errors import EmbassayError, EncoderError, EndpointError, SpecError
from embassay.models.endpoint.address import read_address
from embassay.models.endpoint.answers import MAX_SHOWN, excerpt, retry_after, used_tokens
from embassay.models.endpoint.attempts import LostError, Retries
from embassay.models.endpoint.client import Endpoint
from embassay.models.endpoint.connections import reason
from embassay.models.endpoint.secrets import hider
from embassay.models.endpoint.spending import Spending
from embassay.models.endpoint.workers import each

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdefGHIJKL"
PAYLOAD = {"model": "m", "input": ["x"]}


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def endpoint(service, pauses):
    found = Endpoint(service.url, KEY, key_name="MY_KEY", timeout=5, retries=quick(pauses))
    yield found
    found.close()


def quick(pauses, attempts=6):
    return Retries(attempts, 0.001, lambda stop, seconds: pauses.append(seconds))


def failure(endpoint, path="/embeddings"):
    with pytest.raises(EndpointError) as caught:
        endpoint.post(path, PAYLOAD)
    assert KEY not in str(caught.value)
    return caught.value


def test_a_good_answer(service, endpoint):
    assert len(endpoint.post("/embeddings", PAYLOAD)["data"]) == 1
    path, headers, payload = service.seen[0]
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert payload == PAYLOAD
    assert endpoint.spending.tokens == 10


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(service, endpoint, pauses, status):
    service.script(service.status(status), service.status(status))
    assert endpoint.post("/embeddings", PAYLOAD)["data"]
    assert len(service.seen) == 3
    assert len(pauses) == endpoint.spending.retries == 2
    assert endpoint.spending.requests == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
def test_a_refusal_is_not_tried_again(service, endpoint, status):
    service.script(service.status(status, b'{"error": {"message": "so it is"}}'))
    error = failure(endpoint)
    assert error.status == status
    assert str(error).startswith(f"{service.host} answered {status}: ")
    assert str(error).endswith("it says: so it is")
    assert len(service.seen) == 1


def test_a_refused_key_is_named_by_its_variable_and_not_shown(service, endpoint):
    service.script(service.status(401, f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()))
    assert str(failure(endpoint)) == f"{service.host} answered 401: MY_KEY was not accepted; it says: bad key …"


def test_a_key_that_was_not_sent_is_no_wrong_key(service, pauses):
    endpoint = Endpoint(service.url, retries=quick(pauses))
    service.script(service.status(401))
    assert str(failure(endpoint)).endswith(
        "a key is required, but none was sent (set key_env= to the environment variable that holds it)"
    )
    endpoint.close()


def test_an_unknown_path_is_shown(service, endpoint):
    service.script(service.status(404, b"nothing"))
    assert "no such model, or nothing at /v1/embeddings; check base_url" in str(failure(endpoint))


def test_after_six_attempts_it_is_given_up(service, endpoint, pauses):
    service.script(*[service.status(500, b"out of order")] * 9)
    assert str(failure(endpoint)) == (f"{service.host} answered 500: it failed (tried 6 times); it says: out of order")
    assert len(service.seen) == 6
    assert len(pauses) == 5


def test_an_empty_account_is_not_waited_for(service, endpoint):
    service.script(service.status(429, b'{"error": {"message": "over quota", "code": "insufficient_quota"}}'))
    assert failure(endpoint).status == 429
    assert len(service.seen) == 1


def test_the_pauses_grow_with_jitter():
    retries = Retries()
    for attempt, longest in enumerate((1.0, 2.0, 4.0, 8.0, 16.0), start=1):
        found = {retries.seconds(attempt, None) for _ in range(50)}
        assert len(found) > 1
        assert longest / 2 <= min(found) <= max(found) <= longest
    assert retries.seconds(20, None) <= 60
    assert 7 <= retries.seconds(1, 7.0) <= 7.5


def test_a_service_is_waited_for_as_long_as_it_asks(service, endpoint, pauses):
    service.script(service.status(429, Retry_After="7"), service.status(429))
    endpoint.post("/embeddings", PAYLOAD)
    assert 7 <= pauses[0] < 7.1
    assert pauses[1] < 0.1


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "86400"}, 60),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=20), usegmt=True)}, 20),
        ({"retry-after": format_datetime(NOW - timedelta(days=1), usegmt=True)}, 0),
        ({"retry-after": format_datetime(NOW + timedelta(days=1), usegmt=True)}, 60),
    ],
)
def test_what_a_service_asks_for(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_a_web_page_is_no_answer(service, endpoint):
    service.script(
        service.status(200, b"<html>\n<title>Sign\x1b[31m in</title>" + b"x" * 900, Content_Type="text/html")
    )
    error = failure(endpoint)
    assert str(error).startswith(
        f"{service.host} answered 200: the answer is not JSON; check base_url; it says: <html> <title>Sign "
        "[31m in</title>xx"
    )
    assert len(error.said) == MAX_SHOWN + 1
    assert len(service.seen) == 1


def test_a_truncated_answer_is_asked_for_again(service, endpoint):
    service.script(lambda handler, payload: handler.answer(200, b'{"data": [', {}, length=500))
    service.script(service.status(200, b'{"data": ['))
    assert endpoint.post("/embeddings", PAYLOAD)["data"]
    assert len(service.seen) == 3


def test_an_answer_that_is_always_truncated(service, pauses):
    endpoint = Endpoint(service.url, retries=quick(pauses, 2))
    service.script(*[lambda handler, payload: handler.answer(200, b'{"data": [', {}, length=500)] * 2)
    assert "the connection failed" in str(failure(endpoint))
    service.script(*[service.status(200, b'{"data": [')] * 2)
    assert "the JSON of the answer is damaged or truncated (tried 2 times)" in str(failure(endpoint))
    endpoint.close()


def test_a_stalled_answer_is_not_waited_for_forever(service, pauses):
    endpoint = Endpoint(service.url, timeout=0.1, retries=quick(pauses, 2))
    given_up = threading.Event()

    def stall(handler, payload):
        handler.answer(200, b"{", {}, length=50)
        given_up.wait(60)

    service.script(stall, stall)
    assert str(failure(endpoint)) == f"{service.host}: no complete answer within 0.1 s (tried 2 times)"
    given_up.set()
    endpoint.close()


PIECES = 400
"""How many pieces a service would send, one every 50 ms, if nobody hung up."""


def dripping(before, piece):
    """Return a behaviour that sends pieces one by one, and the list of those that it could send."""
    sent = []

    def drip(handler, payload):
        handler.close_connection = True
        with contextlib.suppress(OSError):
            handler.wfile.write(before)
            for _ in range(PIECES):
                handler.wfile.write(piece)
                handler.wfile.flush()
                sent.append(piece)
                time.sleep(0.05)

    return drip, sent


@pytest.mark.parametrize(
    ("before", "piece"),
    [(b"HTTP/1.1 200 OK\r\n", b"X-Header: a\r\n"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
     (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", b" "),
     (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")],
)  # fmt: skip
def test_an_answer_that_drips_ends_at_the_deadline(service, pauses, before, piece):
    drip, sent = dripping(before, piece)
    endpoint = Endpoint(service.url, timeout=1, retries=quick(pauses, 1))
    service.script(drip)
    assert str(failure(endpoint)) == f"{service.host}: no complete answer within 1 s"
    # The service has seen that the connection was closed.
    for _ in range(1000):
        if service.now == 0:
            break
        time.sleep(0.01)
    assert 0 < len(sent) < PIECES
    endpoint.close()


@pytest.mark.parametrize("drips", [True, False])
def test_the_deadline_holds_while_the_connection_is_encrypted(pauses, drips):
    hung_up = threading.Event()

    def serve():
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            # The beginning of a TLS record of 16,384 bytes, then one byte at a time.
            connection.sendall(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
            for _ in range(PIECES if drips else 0):
                connection.sendall(b"\0")
                time.sleep(0.05)
            while connection.recv(65536):
                pass
        hung_up.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        endpoint = Endpoint(f"https://127.0.0.1:{listener.getsockname()[1]}", timeout=0.5, retries=quick(pauses, 1))
        error = failure(endpoint)
        assert str(error).endswith(": no connection within 0.25 s")
        assert endpoint.spending.lost == 0
        assert hung_up.wait(PIECES * 0.05 + 10)
        endpoint.close()


def test_the_deadline_holds_while_a_request_is_sent(pauses):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # Nothing is ever read here: the request does not fit into the buffers of the two sockets.
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=3, retries=quick(pauses, 1))
        with pytest.raises(EndpointError, match="no complete answer within 3 s"):
            endpoint.post("/embeddings", {"input": ["x" * 50_000_000]})
        endpoint.close()


def test_each_attempt_has_a_deadline_of_its_own(service, pauses):
    drip, _ = dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
    endpoint = Endpoint(service.url, timeout=1, retries=quick(pauses))
    service.script(drip, drip)
    assert endpoint.post("/embeddings", PAYLOAD)["data"]
    assert endpoint.spending.retries >= 2
    endpoint.close()


def test_closing_ends_the_requests_that_are_under_way(service, pauses):
    drip, _ = dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
    endpoint, messages = Endpoint(service.url, retries=quick(pauses, 1)), []
    service.script(drip)
    thread = threading.Thread(target=lambda: messages.append(str(failure(endpoint))), daemon=True)
    thread.start()
    while not service.seen:
        time.sleep(0.01)
    endpoint.close()
    thread.join(30)
    assert len(messages) == 1
    assert endpoint.post("/embeddings", PAYLOAD)["data"]
    endpoint.close()
    endpoint.close()


def test_nobody_there(service, pauses):
    service.close()
    endpoint = Endpoint(service.url, KEY, retries=quick(pauses, 3))
    error = failure(endpoint)
    assert "the connection failed: " in str(error)
    assert "refused" in str(error)
    # A closed port of this machine stays closed: it is not tried again.
    assert "tried" not in str(error)
    assert not pauses
    assert error.status is None
    assert not isinstance(error, LostError)
    assert endpoint.spending.lost == 0


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (OSError(errno.ENETUNREACH, "Connect call failed ('10.0.0.7', 1)"), os.strerror(errno.ENETUNREACH)),
        (ConnectionResetError(errno.ECONNRESET, "x"), os.strerror(errno.ECONNRESET)),
        (PermissionError(errno.EACCES, "x"), os.strerror(errno.EACCES)),
        # Their numbers are not those of the operating system.
        (ssl.SSLError(1, "the certificate has expired"), "the attempt failed"),
        (socket.gaierror(-2, "Name or service not known"), "the attempt failed"),
    ],
)
def test_why_a_connection_failed(cause, message):
    failure = OSError("the attempt failed")
    failure.__cause__ = ExceptionGroup("", [cause])
    assert reason(failure) == message


@pytest.mark.parametrize(
    "location", ["https://evil.example/v1/embeddings?key=secret99", "/v1/embeddings/", "", "http://["]
)
def test_no_redirect_is_followed(service, endpoint, location):
    service.script(service.status(307, Location=location))
    error = failure(endpoint)
    assert "the service redirects to " in str(error)
    assert "secret99" not in str(error)
    if "evil" in location:
        assert str(error).endswith("the service redirects to https://evil.example/v1/embeddings; check base_url")
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    ("location", "told"),
    [("http://ann:secret99@[::1]:8765/v2/embeddings/?key=secret99#secret99", "http://[::1]:8765/v2/embeddings"),
     ("/login", "http://HOST/login"), ("ftp://elsewhere/", "another address"), ("http://host:p/", "another address")],
)  # fmt: skip
def test_a_redirect_names_its_target_without_anything_secret(service, endpoint, location, told):
    service.script(service.status(308, Location=location))
    told = told.replace("HOST", service.host)
    assert str(failure(endpoint)).endswith(f"the service redirects to {told}; check base_url")


def test_a_long_wait_is_told_and_a_short_one_is_not(service, pauses):
    lines = []
    endpoint = Endpoint(service.url, KEY, retries=quick(pauses, 3), tell=lines.append)
    service.script(service.status(429, Retry_After="3600"), service.status(500), service.status(200, b"{}"))
    endpoint.post("/embeddings", PAYLOAD)
    assert lines == ["429 Too Many Requests; waiting 60 s, then attempt 2 of 3"]
    endpoint.close()


def test_requests_that_wait_for_the_same_are_told_once(service):
    lines, all_wait = [], threading.Barrier(4)
    retries = Retries(3, 0.001, lambda stop, seconds: all_wait.wait(5))
    endpoint = Endpoint(service.url, retries=retries, tell=lines.append)
    service.script(*[service.status(503, Retry_After="30")] * 4)
    list(endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}), list("abcd")))
    assert endpoint.spending.retries == 4
    assert lines == ["503 Service Unavailable; waiting 30 s, then attempt 2 of 3"]
    endpoint.close()


def test_a_failed_connection_is_told_without_anything_secret(service):
    lines = []
    retries = Retries(2, 3.0, lambda stop, seconds: None)
    url = service.url.replace("http://", "http://ann:secret99@") + "?key=secret99"
    endpoint = Endpoint(url, retries=retries, tell=lines.append)
    service.script(*[lambda handler, payload: handler.answer(200, b"{secret99", {}, length=500)] * 2)
    failure(endpoint)
    assert len(lines) == 1
    assert lines[0].startswith("the connection failed: ")
    assert "secret99" not in lines[0]
    endpoint.close()


@pytest.mark.parametrize(
    "host", ["api.example.org", "10.0.0.7", "127.0.0.1.example.org", "192.168.0.1", "[::ffff:10.0.0.7]"]
)
def test_a_key_does_not_travel_unencrypted(host):
    with pytest.raises(SpecError, match="the key would be sent unencrypted; use https://") as caught:
        Endpoint(f"http://{host}/v1", KEY)
    assert KEY not in str(caught.value)
    Endpoint(f"https://{host}/v1", KEY)
    Endpoint(f"http://{host}/v1")
    with pytest.raises(SpecError, match="would be sent"):
        Endpoint(f"http://user:password@{host}/v1")


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:11434"])
def test_to_this_machine_it_may(host):
    assert Endpoint(f"http://{host}/v1", KEY).address.place == f"{host}/v1"


@pytest.mark.parametrize(
    "text",
    ["", "api.example.org/v1", "ftp://host/v1", "https://", "https://user:secret99@", "https://host:port/v1",
     "https://[host/v1", "https://host/v1#secret99", "https://host/a b", "https://host/\x07", "https://hóst/v1"],
)  # fmt: skip
def test_what_is_no_address(text):
    with pytest.raises(SpecError, match=r"base_url (must start with|is not an address)") as caught:
        read_address(text)
    assert "secret99" not in str(caught.value)


def test_the_secret_parts_of_an_address_are_sent_and_never_shown(service, pauses):
    endpoint = Endpoint(
        service.url.replace("http://", "http://ann:pass%20word1@") + "?api-version=7&sig=abcdefgh12345", KEY,
        retries=quick(pauses, 2),
    )  # fmt: skip
    echo = b"ann / pass word1 / YW5uOnBhc3Mgd29yZDE= / sig=abcdefgh12345"
    service.script(service.status(403, echo))
    shown = f"{failure(endpoint)} {endpoint!r} {endpoint.address!r} {endpoint.address.shown}"
    for secret in ("ann", "pass word1", "pass%20word1", "YW5uOnBhc3Mgd29yZDE=", "api-version", "abcdefgh12345"):
        assert secret not in shown
    path, headers, _ = service.seen[0]
    assert path == "/v1/embeddings?api-version=7&sig=abcdefgh12345"
    assert headers["authorization"] == "Basic YW5uOnBhc3Mgd29yZDE="
    endpoint.close()


def test_a_value_of_the_query_is_hidden_as_it_is_written_too(service, pauses):
    endpoint = Endpoint(f"{service.url}?api-key=ab%2Fcd%2Bef%3Dgh12345678zz&abc%2Fdefghi", retries=quick(pauses))
    service.script(lambda handler, payload: handler.answer(404, handler.path.encode(), {}))
    said = failure(endpoint).said
    assert said == "/v1/embeddings?api-key=…&…"
    service.script(service.status(404, b"ab/cd+ef=gh12345678zz abc/defghi"))
    assert failure(endpoint).said == "… …"
    endpoint.close()


def test_a_key_that_cannot_be_sent():
    for key in ("two words", "line\nbreak", "schlüssel"):
        with pytest.raises(SpecError, match="MY_KEY contains characters that no key has") as caught:
            Endpoint("https://host/v1", key, key_name="MY_KEY")
        assert key not in str(caught.value)


def has_quarter(text):
    """Say whether a quarter of the key is in a text, in upper or lower case."""
    size = len(KEY) // 4
    quarters = [KEY[start : start + size] for start in range(0, 3 * size, size)] + [KEY[3 * size :]]
    return any(quarter.lower() in text.lower() for quarter in quarters)


@pytest.mark.parametrize("part", [slice(8), slice(16), slice(5, 18), slice(-8, None), slice(None)])
@pytest.mark.parametrize("body", ['{{"error": {{"message": "wrong key {}"}}}}', "x{}y"])
def test_no_quarter_of_the_key_is_shown(service, endpoint, part, body):
    service.script(service.status(401, body.format(KEY[part].upper()).encode()))
    error = failure(endpoint)
    assert not has_quarter(f"{error} {error.said} {error!r}")
    assert "…" in error.said


def test_what_is_no_secret_is_shown_as_it_is():
    hide = hider([KEY, "ann", ""], quarters=True)
    for text in ("", "\\", "100 % of \\u00e9 %zz", KEY[:5], KEY[-7:], '{"a": "\\"x"}'):
        assert hide(text) == text
    assert hide(f"?{KEY}&ann{KEY[:8]}") == "?…&…"
    assert hider([])("text") == hider([""])("text") == "text"


def test_words_of_a_short_key_are_no_secret():
    hide = hider(["local-server-token"], quarters=True)
    assert hide("the local server; the observer: local-server-token") == "the local server; the observer: …"


def test_a_secret_with_spaces_is_hidden_after_lines_are_joined():
    assert excerpt(b"it is pass \r\n word", hider(["pass word"])) == "it is …"


def test_the_location_of_a_redirect_shows_no_quarter_of_the_key(service, endpoint):
    service.script(service.status(307, Location=f"https://{KEY[:16]}.example/v1/embeddings"))
    assert not has_quarter(str(failure(endpoint)))


def test_nothing_shows_the_key(service, endpoint, caplog):
    caplog.set_level(logging.DEBUG)
    service.script(service.status(500, KEY.encode()), service.status(401, KEY.encode()))
    error = failure(endpoint)
    assert error.__cause__ is None
    assert KEY not in f"{endpoint!r}{error!r}{vars(error)}{error.__context__!r}"
    assert KEY not in caplog.text
    assert "Authorization" not in caplog.text
    assert not [r for r in caplog.records if r.name.startswith("embassay") or r.levelno > logging.INFO]


def test_a_log_has_no_query(service, caplog):
    caplog.set_level(logging.DEBUG)
    endpoint = Endpoint(f"{service.url}?sig=abcdefgh12345&a=%20b")
    endpoint.post("/embeddings", PAYLOAD)
    assert service.seen[0][0] == "/v1/embeddings?sig=abcdefgh12345&a=%20b"
    assert service.host in caplog.text
    assert "abcdefgh" not in caplog.text
    endpoint.close()


def test_a_proxy_is_no_way_to_this_machine(service, endpoint, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert endpoint.post("/embeddings", PAYLOAD)["data"]


def test_lone_surrogates_can_be_sent(service, endpoint):
    endpoint.post("/embeddings", {"model": "m", "input": ["\ud800 é"]})
    assert service.texts == [["\ud800 é"]]


def test_results_come_with_their_places_and_so_many_at_a_time(service):
    endpoint = Endpoint(service.url, concurrency=3)
    service.seconds = 0.03
    items = [{"model": "m", "input": [str(i)]} for i in range(12)]
    found = endpoint.each(lambda payload: endpoint.post("/embeddings", payload)["data"][0]["embedding"], items)
    assert dict(found) == {i: service.vector(str(i)) for i in range(12)}
    assert 2 <= service.most <= 3
    assert list(endpoint.each(str, [])) == []
    endpoint.close()


def test_after_a_failure_nothing_new_is_begun_and_what_is_ready_is_given():
    stop, begun, found = threading.Event(), [], []

    def work(item):
        begun.append(item)
        if item == "b":
            raise EncoderError("no")
        stop.wait(5)
        return item

    results = each(work, "abcdefgh", 2, stop)
    with pytest.raises(EncoderError, match="no"):
        while True:
            found.append(next(results))
    assert found == [(0, "a")]
    assert sorted(begun) == ["a", "b"]


def test_after_a_failure_it_can_be_used_again(service, endpoint):
    service.script(service.status(400))
    with pytest.raises(EndpointError):
        list(endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}), ["a"]))
    service.script(service.status(500))
    assert endpoint.post("/x", PAYLOAD)


def test_a_pause_ends_when_another_request_has_failed(service):
    pausing, ended = threading.Event(), []

    def pause(stop, seconds):
        pausing.set()
        ended.append(stop.wait(60))

    def refuse(handler, payload):
        pausing.wait(60)
        handler.answer(400, b"", {})

    endpoint = Endpoint(service.url, concurrency=2, retries=Retries(pause=pause))
    service.script(service.status(500), refuse)
    with pytest.raises(EndpointError):
        list(endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}), ["a", "b"]))
    endpoint.close()
    assert ended == [True]  # by the other's failure, not by its minute


def test_the_failure_that_ended_the_others_is_the_one_that_is_raised(service):
    """A request that pauses meanwhile is given up, and does not hide what went wrong."""

    def refuse(handler, payload):
        time.sleep(0.05)
        handler.answer(400, b"", {})

    endpoint = Endpoint(service.url, concurrency=2, retries=Retries(first=60))
    service.script(service.status(500), refuse)
    with pytest.raises(EndpointError, match="answered 400"):
        list(endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}), ["a", "b"]))
    endpoint.close()


def test_an_abandoned_iteration_sends_nothing_more(service):
    endpoint = Endpoint(service.url, concurrency=1)
    service.seconds = 0.02
    found = endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}), list("abcdefgh"))
    next(found)
    found.close()
    time.sleep(0.1)
    assert len(service.seen) <= 2
    endpoint.close()


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_is_heard_at_once(service, start_process, wait_until):
    interrupted = threading.Event()
    service.script(*[lambda handler, payload: interrupted.wait(60)] * 8)  # no answer before that
    code = (
        "import sys; from embassay.models.endpoint.client import Endpoint\n"
        f"e = Endpoint({service.url!r})\n"
        "try: list(e.each(lambda t: e.post('/x', {'input': [t], 'model': ''}), list('abcdefgh')))\n"
        "except KeyboardInterrupt: e.close(); sys.exit(130)"
    )
    process = start_process([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: service.now == 4, "four requests are under way")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    assert (len(service.seen), service.now) == (4, 4)
    interrupted.set()


def test_a_budget_in_tokens_and_in_money():
    tokens = Spending(budget=100)
    tokens.reserve(60)
    with pytest.raises(EncoderError, match=r"exceeds the budget of 100 tokens: 0 tokens spent, about 120 tokens"):
        tokens.reserve(60)
    tokens.settle(60, 30)
    tokens.reserve(60)
    tokens.release(60)
    assert (tokens.tokens, tokens.requests, tokens.cost) == (30, 1, None)
    money = Spending(price=2.0, budget=0.001)
    money.reserve(500)
    money.settle(500, 400)
    assert money.cost == 0.0008
    with pytest.raises(
        EncoderError, match=r"the next request exceeds the budget of 0.001: 0.0008 spent, about 0.0004 more needed"
    ) as e:
        money.reserve(200)
    assert "finished vectors are kept" in str(e.value)


def test_what_would_exceed_the_budget():
    assert Spending().outlook(10**9) == ["about 1,000,000,000 tokens to send", "pass price= for the cost"]
    money = Spending(price=2.0, budget=0.001)
    assert money.outlook(500) == ["about 500 tokens to send", "about 0.001 at 2 per million tokens"]
    beyond = "0.003 more than the budget of 0.001: a run would stop after about 500 tokens"
    assert money.outlook(2000) == ["about 2,000 tokens to send", "about 0.004 at 2 per million tokens", beyond]


def test_what_was_taken_before_counts_towards_the_budget_alone():
    tokens = Spending(budget=100)
    tokens.begin_with(60)
    tokens.reserve(40)
    tokens.settle(40, 30)
    assert (tokens.tokens, tokens.requests) == (30, 1)
    with pytest.raises(EncoderError, match="90 tokens spent, about 20 tokens more"):
        tokens.reserve(20)


def _cut(handler, payload):
    handler.answer(200, b'{"data": [', {}, length=500)


def _stall(handler, payload):
    # Until the client has hung up: there is nothing more to read then.
    handler.connection.recv(1)


@pytest.mark.parametrize("lose", [_cut, _stall, None])
def test_an_answer_that_is_lost_is_counted_at_its_longest(service, pauses, lose):
    endpoint = Endpoint(service.url, timeout=0.5 if lose is _stall else 60, retries=quick(pauses))
    service.script(*[lose or service.status(200, b'{"data": [')] * 2)
    endpoint.post("/embeddings", PAYLOAD, tokens=30)
    spent = endpoint.spending
    assert (spent.tokens, spent.requests, spent.lost, spent.retries) == (70, 1, 2, 2)
    endpoint.close()


@pytest.mark.parametrize("body", [{"error": "model not loaded"}, {"error": {"type": "overloaded"}, "data": []}])
def test_an_error_that_is_sent_as_an_answer_is_tried_again(service, pauses, body):
    endpoint = Endpoint(service.url, retries=quick(pauses, 2))
    service.script(*[service.status(200, json.dumps(body).encode())] * 2)
    error = failure(endpoint)
    assert "the service sent an error instead of an answer (tried 2 times); it says: " in str(error)
    assert isinstance(error, LostError)
    endpoint.close()


@pytest.mark.parametrize(("code", "attempts"), [(502, 2), (404, 1)])
def test_an_error_that_is_sent_as_an_answer_has_the_status_of_its_code(service, pauses, code, attempts):
    endpoint = Endpoint(service.url, retries=quick(pauses, 2))
    service.script(*[service.status(200, json.dumps({"error": {"code": code}}).encode())] * 2)
    assert failure(endpoint).status == code
    assert len(service.seen) == attempts
    endpoint.close()


def test_a_refusal_costs_nothing(service, pauses):
    endpoint = Endpoint(service.url, retries=quick(pauses), spending=Spending(budget=45))
    service.script(service.status(500), service.status(429), service.status(200, b'{"error": "busy", "data": []}'))
    endpoint.post("/embeddings", PAYLOAD, tokens=30)
    assert (endpoint.spending.tokens, endpoint.spending.lost) == (10, 0)
    endpoint.close()


def test_answers_that_are_lost_do_not_exceed_the_budget(service, pauses):
    endpoint = Endpoint(service.url, retries=quick(pauses), spending=Spending(budget=70))
    service.script(*[_cut] * 6)
    with pytest.raises(EncoderError, match="exceeds the budget of 70 tokens: 60 tokens spent, about 30"):
        endpoint.post("/embeddings", PAYLOAD, tokens=30)
    assert len(service.seen) == 2
    endpoint.close()


@pytest.mark.parametrize(("status", "lost"), [(500, True), (504, True), (429, False), (503, False), (400, False)])
def test_what_may_be_due_to_a_single_request(service, pauses, status, lost):
    endpoint = Endpoint(service.url, retries=quick(pauses, 2))
    service.script(*[service.status(status)] * 2)
    assert isinstance(failure(endpoint), LostError) is lost
    endpoint.close()


def test_the_budget_holds_for_requests_under_way_too(service):
    endpoint = Endpoint(service.url, concurrency=4, spending=Spending(budget=35))
    service.seconds = 0.02
    with pytest.raises(EncoderError, match="the budget of 35 tokens"):
        list(
            endpoint.each(lambda text: endpoint.post("/x", {"input": [text], "model": ""}, tokens=10), list("abcdefgh"))
        )
    assert len(service.seen) == 3
    assert endpoint.spending.tokens == 30
    endpoint.close()


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [({"usage": {"total_tokens": 5}}, 5), ({"usage": {"prompt_tokens": 4}}, 4), ({"usage": {"total_tokens": -1}}, None),
     ({"usage": {"total_tokens": "5"}}, None), ({"usage": {"total_tokens": True}}, None), ({"usage": []}, None),
     ({}, None), ([], None), (None, None)],
)  # fmt: skip
def test_the_tokens_of_an_answer(answer, tokens):
    assert used_tokens(answer) == tokens


def test_what_of_an_answer_is_shown():
    hide = hider(["abc", "abcdef", ""])
    assert excerpt(b'{"error": {"message": "no abcdef"}}', hide) == "no …"
    assert excerpt(b'{"error": "plain"}', hide) == "plain"
    assert excerpt(b'{"detail": "what"}', hide) == "what"
    assert excerpt(b'{"detail": [1]}', hide) == '{"detail": [1]}'
    assert excerpt(b"\xff\x00a\r\nb", hide) == "\ufffd a b"
    assert excerpt(b"[" * 100_000, hide) == "[" * MAX_SHOWN + "…"
    assert excerpt(b"x" * (MAX_SHOWN - 3) + b"abcdef", hide) == "x" * (MAX_SHOWN - 3) + "…"


def test_its_errors_are_in_the_tree():
    import embassay.core.errors

    assert issubclass(EndpointError, EncoderError)
    for name, value in vars(embassay.core.errors).items():
        if isinstance(value, type) and issubclass(value, EmbassayError):
            assert name in embassay.core.errors.__doc__


def test_importing_it_brings_no_http_library():
    code = "import sys, embassay.models.endpoint, embassay.models.remote.api; print('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
