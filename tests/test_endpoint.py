"""The HTTP client: what is sent again, what is refused, what a message may show, and how many requests at a time."""

import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from threading import Event

import pytest

from connecting import connect
from embassay.core.errors import EmbassayError, EncoderError, EndpointError, SpecError
from embassay.models.services.secrets import hider
from embassay.models.services.service import MAX_SHOWN, used_tokens
from embassay.models.services.spending import Spending

pytest.importorskip("httpx2", reason="the api extra is not installed")

KEY = "sk-Planted0123456789abcdefGHIJKL"
PAYLOAD = {"model": "m", "input": ["x"]}


@pytest.fixture
def pauses():
    return []


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)


@pytest.fixture
def endpoint(service, pauses):
    found = connect(service.url, "MY_KEY", timeout=5, pause=quick(pauses))
    yield found
    found.close()


def quick(pauses):
    return lambda stop, seconds: pauses.append(seconds)


def post(endpoint, path="/embeddings", payload=PAYLOAD, tokens=0):
    return endpoint.ask(path, payload, lambda answer: (answer, used_tokens(answer)), longest=1 << 16, tokens=tokens)


def failure(endpoint, path="/embeddings"):
    with pytest.raises(EndpointError) as caught:
        post(endpoint, path)
    assert KEY not in str(caught.value)
    return caught.value


def test_a_good_answer(service, endpoint):
    assert len(post(endpoint)["data"]) == 1
    path, headers, payload = service.seen[0]
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert payload == PAYLOAD
    assert endpoint.spending.tokens == 10


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(service, endpoint, pauses, status):
    service.script(service.status(status), service.status(status))
    assert post(endpoint)["data"]
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
    endpoint = connect(service.url, pause=quick(pauses))
    service.script(service.status(401))
    assert str(failure(endpoint)).endswith(
        "a request without a key (key_env= names the environment variable with one) was not accepted"
    )
    endpoint.close()


def test_an_unknown_path_is_shown(service, endpoint):
    service.script(service.status(404, b"nothing"))
    assert "no such model, or nothing at /v1/embeddings; check the address" in str(failure(endpoint))


def test_after_six_attempts_it_is_given_up(service, endpoint, pauses):
    service.script(*[service.status(500, b"out of order")] * 9)
    assert str(failure(endpoint)) == (f"{service.host} answered 500: it failed (tried 6 times); it says: out of order")
    assert len(service.seen) == 6
    assert len(pauses) == 5


def test_an_empty_account_is_not_waited_for(service, endpoint):
    service.script(service.status(429, b'{"error": {"message": "over quota", "code": "insufficient_quota"}}'))
    assert failure(endpoint).status == 429
    assert len(service.seen) == 1


def test_a_service_is_waited_for_as_long_as_it_asks(service, endpoint, pauses):
    service.script(service.status(429, Retry_After="7"), service.status(429))
    post(endpoint)
    assert 7 <= pauses[0] < 7.1
    assert pauses[1] < 0.1


def test_a_web_page_is_no_answer(service, endpoint):
    service.script(
        service.status(200, b"<html>\n<title>Sign\x1b[31m in</title>" + b"x" * 900, Content_Type="text/html")
    )
    error = failure(endpoint)
    assert str(error).startswith(
        f"{service.host} answered 200: the answer is not JSON; check the address; it says: <html> <title>Sign "
        "[31m in</title>xx"
    )
    assert len(error.said) == MAX_SHOWN + 1
    assert len(service.seen) == 1


def test_a_truncated_answer_is_asked_for_again(service, endpoint):
    service.script(lambda handler, payload: handler.answer(200, b'{"data": [', {}, length=500))
    service.script(service.status(200, b'{"data": ['))
    assert post(endpoint)["data"]
    assert len(service.seen) == 3


def test_an_answer_that_is_always_truncated(service, pauses):
    endpoint = connect(service.url, pause=quick(pauses), attempts=2)
    service.script(*[lambda handler, payload: handler.answer(200, b'{"data": [', {}, length=500)] * 2)
    assert "the connection failed" in str(failure(endpoint))
    service.script(*[service.status(200, b'{"data": [')] * 2)
    assert "the JSON of the answer is damaged or truncated (tried 2 times)" in str(failure(endpoint))
    endpoint.close()


def test_a_stalled_answer_is_not_waited_for_forever(service, pauses):
    endpoint = connect(service.url, timeout=0.1, pause=quick(pauses), attempts=2)
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
    endpoint = connect(service.url, timeout=1, pause=quick(pauses), attempts=1)
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
        endpoint = connect(
            f"https://127.0.0.1:{listener.getsockname()[1]}", timeout=0.5, pause=quick(pauses), attempts=1
        )
        error = failure(endpoint)
        assert str(error).endswith(": no connection within 0.25 s")
        assert endpoint.spending.tokens == 0
        assert hung_up.wait(PIECES * 0.05 + 10)
        endpoint.close()


def test_the_deadline_holds_while_a_request_is_sent(pauses):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        # Nothing is ever read here: the request does not fit into the buffers of the two sockets.
        endpoint = connect(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=3, pause=quick(pauses), attempts=1)
        with pytest.raises(EndpointError, match="no complete answer within 3 s"):
            post(endpoint, "/embeddings", {"input": ["x" * 50_000_000]})
        endpoint.close()


def test_each_attempt_has_a_deadline_of_its_own(service, pauses):
    drip, _ = dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
    endpoint = connect(service.url, timeout=1, pause=quick(pauses))
    service.script(drip, drip)
    assert post(endpoint)["data"]
    assert endpoint.spending.retries >= 2
    endpoint.close()


def test_closing_ends_the_requests_that_are_under_way(service, pauses):
    drip, _ = dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n")
    endpoint, messages = connect(service.url, pause=quick(pauses), attempts=1), []
    service.script(drip)

    def ask():
        with pytest.raises(CancelledError):
            post(endpoint)
        messages.append("ended")

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    while not service.seen:
        time.sleep(0.01)
    endpoint.close()
    thread.join(30)
    assert len(messages) == 1
    assert post(endpoint)["data"]
    endpoint.close()
    endpoint.close()


def test_nobody_there(service, pauses):
    service.close()
    endpoint = connect(service.url, "MY_KEY", pause=quick(pauses), attempts=3)
    error = failure(endpoint)
    assert "the connection failed: " in str(error)
    assert str(error).endswith("; check the address, and whether it is http:// or https://")
    # A closed port of this machine stays closed: it is not tried again.
    assert "tried" not in str(error)
    assert not pauses
    assert error.status is None
    assert error.kind == "refused"


@pytest.mark.parametrize(
    "location", ["https://evil.example/v1/embeddings?key=secret99", "/v1/embeddings/", "", "http://["]
)
def test_no_redirect_is_followed(service, endpoint, location):
    service.script(service.status(307, Location=location))
    error = failure(endpoint)
    assert "the service redirects to " in str(error)
    assert "secret99" not in str(error)
    if "evil" in location:
        assert str(error).endswith("the service redirects to https://evil.example/v1/embeddings; check the address")
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    ("location", "told"),
    [("http://ann:secret99@[::1]:8765/v2/embeddings/?key=secret99#secret99", "http://…@[::1]:8765/v2/embeddings/"),
     ("/login", "/login"), ("", "another address")],
)  # fmt: skip
def test_a_redirect_names_its_target_without_anything_secret(service, endpoint, location, told):
    service.script(service.status(308, Location=location))
    told = told.replace("HOST", service.host)
    assert str(failure(endpoint)).endswith(f"the service redirects to {told}; check the address")


def test_a_long_wait_is_told_and_a_short_one_is_not(service, pauses):
    lines = []
    endpoint = connect(service.url, "MY_KEY", pause=quick(pauses), attempts=3, tell=lines.append)
    service.script(service.status(429, Retry_After="3600"), service.status(500), service.status(200, b"{}"))
    post(endpoint)
    assert lines == [
        "the test: 429: too many requests, or the account has no credit left; waiting 60 s, then attempt 2 of 3"
    ]
    endpoint.close()


def test_requests_that_wait_for_the_same_are_told_once(service):
    lines, all_wait = [], threading.Barrier(4)
    endpoint = connect(service.url, attempts=3, pause=lambda stop, seconds: all_wait.wait(5), tell=lines.append)
    service.script(*[service.status(503, Retry_After="30")] * 4)
    list(endpoint.each(lambda text: post(endpoint, "/x", {"input": [text], "model": ""}), list("abcd")))
    assert endpoint.spending.retries == 4
    assert lines == ["the test: 503: it failed; waiting 30 s, then attempt 2 of 3"]
    endpoint.close()


def test_a_failed_connection_is_told_without_anything_secret(service):
    lines = []
    url = service.url.replace("http://", "http://ann:secret99@") + "?key=secret99"
    endpoint = connect(url, attempts=2, first_pause=3.0, tell=lines.append)
    service.script(*[lambda handler, payload: handler.answer(200, b"{secret99", {}, length=500)] * 2)
    failure(endpoint)
    assert len(lines) == 1
    assert lines[0].startswith(f"the test: {service.host}: the connection failed: ")
    assert "secret99" not in lines[0]
    endpoint.close()


@pytest.mark.parametrize(
    "host", ["api.example.org", "10.0.0.7", "127.0.0.1.example.org", "192.168.0.1", "[::ffff:10.0.0.7]"]
)
def test_a_key_does_not_travel_unencrypted(host):
    with pytest.raises(SpecError, match="the key would be sent unencrypted; use https://") as caught:
        connect(f"http://{host}/v1", "MY_KEY")
    assert KEY not in str(caught.value)
    connect(f"https://{host}/v1", "MY_KEY")
    connect(f"http://{host}/v1")
    with pytest.raises(SpecError, match="would be sent"):
        connect(f"http://user:password@{host}/v1")


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:11434"])
def test_to_this_machine_it_may(host):
    assert connect(f"http://{host}/v1", "MY_KEY").place == f"{host}/v1"


@pytest.mark.parametrize(
    "text",
    ["", "api.example.org/v1", "ftp://host/v1", "https://", "https://user:secret99@", "https://host:port/v1",
     "https://[host/v1", "https://host/v1#secret99", "https://host/a b", "https://host/\x07", "https://hóst/v1"],
)  # fmt: skip
def test_what_is_no_address(text):
    with pytest.raises(SpecError, match="the address must start with https:// or http://") as caught:
        connect(text or "x")
    assert "secret99" not in str(caught.value)


def test_the_secret_parts_of_an_address_are_sent_and_never_shown(service, pauses):
    endpoint = connect(
        service.url.replace("http://", "http://ann:pass%20word1@") + "?api-version=7&sig=abcdefgh12345", "MY_KEY",
        pause=quick(pauses), attempts=2,
    )  # fmt: skip
    echo = b"ann / pass word1 / YW5uOnBhc3Mgd29yZDE= / sig=abcdefgh12345"
    service.script(service.status(403, echo))
    shown = f"{failure(endpoint)} {endpoint!r} {endpoint.place} {endpoint.url}"
    for secret in ("ann", "pass word1", "pass%20word1", "YW5uOnBhc3Mgd29yZDE=", "api-version", "abcdefgh12345"):
        assert secret not in shown
    path, headers, _ = service.seen[0]
    assert path == "/v1/embeddings?api-version=7&sig=abcdefgh12345"
    assert headers["authorization"] == "Basic YW5uOnBhc3Mgd29yZDE="
    endpoint.close()


def test_a_value_of_the_query_is_hidden_as_it_is_written_too(service, pauses):
    endpoint = connect(f"{service.url}?api-key=ab%2Fcd%2Bef%3Dgh12345678zz&abc%2Fdefghi", pause=quick(pauses))
    service.script(lambda handler, payload: handler.answer(404, handler.path.encode(), {}))
    said = failure(endpoint).said
    assert said == "/v1/embeddings?api-key=…&…"
    service.script(service.status(404, b"ab/cd+ef=gh12345678zz abc/defghi"))
    assert failure(endpoint).said == "… …"
    endpoint.close()


def test_a_key_that_cannot_be_sent(monkeypatch):
    for key in ("two words", "line\nbreak", "schlüssel"):
        monkeypatch.setenv("MY_KEY", key)
        with pytest.raises(SpecError, match="MY_KEY contains characters that no key has") as caught:
            connect("https://host/v1", "MY_KEY")
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
    endpoint = connect("https://ann:pass%20word@host/v1")
    assert endpoint.error("", 400, b"it is pass \r\n word").said == "it is …"


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
    endpoint = connect(f"{service.url}?sig=abcdefgh12345&a=%20b")
    post(endpoint)
    assert service.seen[0][0] == "/v1/embeddings?sig=abcdefgh12345&a=%20b"
    assert service.host in caplog.text
    assert "abcdefgh" not in caplog.text
    endpoint.close()


def test_a_proxy_is_no_way_to_this_machine(service, endpoint, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert post(endpoint)["data"]


def test_lone_surrogates_can_be_sent(service, endpoint):
    post(endpoint, "/embeddings", {"model": "m", "input": ["\ud800 é"]})
    assert service.texts == [["\ud800 é"]]


def test_results_come_with_their_places_and_so_many_at_a_time(service):
    endpoint = connect(service.url, concurrency=3)
    service.seconds = 0.03
    items = [{"model": "m", "input": [str(i)]} for i in range(12)]
    found = endpoint.each(lambda payload: post(endpoint, "/embeddings", payload)["data"][0]["embedding"], items)
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

    results = connect("https://host", concurrency=2).each(work, "abcdefgh")
    with pytest.raises(EncoderError, match="no"):
        while True:
            found.append(next(results))
    assert found == [(0, "a")]
    assert sorted(begun) == ["a", "b"]


def test_after_a_failure_it_can_be_used_again(service, endpoint):
    service.script(service.status(400))
    with pytest.raises(EndpointError):
        list(endpoint.each(lambda text: post(endpoint, "/x", {"input": [text], "model": ""}), ["a"]))
    service.script(service.status(500))
    assert post(endpoint)


def test_a_pause_ends_when_another_request_has_failed(service):
    pausing, ended = threading.Event(), []

    def pause(stop, seconds):
        pausing.set()
        ended.append(stop.wait(60))

    def refuse(handler, payload):
        pausing.wait(60)
        handler.answer(400, b"", {})

    endpoint = connect(service.url, concurrency=2, pause=pause)
    service.script(service.status(500), refuse)
    with pytest.raises(EndpointError):
        list(endpoint.each(lambda text: post(endpoint, "/x", {"input": [text], "model": ""}), ["a", "b"]))
    endpoint.close()
    assert ended == [True]  # by the other's failure, not by its minute


def test_the_failure_that_ended_the_others_is_the_one_that_is_raised(service):
    """A request that pauses meanwhile is given up, and does not hide what went wrong."""

    def refuse(handler, payload):
        time.sleep(0.05)
        handler.answer(400, b"", {})

    endpoint = connect(service.url, concurrency=2, first_pause=60, pause=Event.wait)
    service.script(service.status(500), refuse)
    with pytest.raises(EndpointError, match="answered 400"):
        list(endpoint.each(lambda text: post(endpoint, "/x", {"input": [text], "model": ""}), ["a", "b"]))
    endpoint.close()


def test_an_abandoned_iteration_sends_nothing_more(service):
    endpoint = connect(service.url, concurrency=1)
    service.seconds = 0.02
    found = endpoint.each(lambda text: post(endpoint, "/x", {"input": [text], "model": ""}), list("abcdefgh"))
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
        "import sys; from embassay.models.services.service import Service\n"
        f"e = Service('test', {service.url!r}, '', timeout=60, concurrency=4)\n"
        "ask = lambda t: e.ask('/x', {'input': [t], 'model': ''}, lambda answer: (answer, 0), longest=9999)\n"
        "try: list(e.each(ask, list('abcdefgh')))\n"
        "except KeyboardInterrupt: e.close(); sys.exit(130)"
    )
    process = start_process([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: service.now == 4, "four requests are under way")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    assert (len(service.seen), service.now) == (4, 4)
    interrupted.set()


def test_a_budget():
    money = Spending(price=2.0, budget=0.001)
    money.reserve(300)
    with pytest.raises(EncoderError, match=r"exceeds the budget of 0.001: 0 spent, about 0.0012 more needed"):
        money.reserve(300)
    money.settle(300, 0, 0)
    money.reserve(500)
    money.settle(500, 400, 1)
    assert (money.tokens, money.requests, money.cost) == (400, 1, 0.0008)
    with pytest.raises(EncoderError, match=r"exceeds the budget of 0.001: 0.0008 spent, about 0.0004 more needed"):
        money.reserve(200)


def test_what_would_exceed_the_budget():
    assert Spending().outlook(10**9) == ["about 1,000,000,000 tokens to send", "pass price= for the cost"]
    money = Spending(price=2.0, budget=0.001)
    assert money.outlook(500) == ["about 500 tokens to send", "about 0.001 at 2 per million tokens"]
    beyond = "0.003 more than the budget of 0.001: a run would stop after about 500 tokens"
    assert money.outlook(2000) == ["about 2,000 tokens to send", "about 0.004 at 2 per million tokens", beyond]


def test_what_was_taken_before_counts_towards_the_budget_alone():
    money = Spending(price=1e6, budget=100, earlier=60)
    money.reserve(40)
    money.settle(40, 30, 1)
    assert (money.tokens, money.requests) == (30, 1)
    with pytest.raises(EncoderError, match="90 spent, about 20 more"):
        money.reserve(20)


def _cut(handler, payload):
    handler.answer(200, b'{"data": [', {}, length=500)


def _stall(handler, payload):
    # Until the client has hung up: there is nothing more to read then.
    handler.connection.recv(1)


@pytest.mark.parametrize("lose", [_cut, _stall, None])
def test_an_answer_that_is_lost_is_counted_at_its_longest(service, pauses, lose):
    endpoint = connect(service.url, timeout=0.5 if lose is _stall else 60, pause=quick(pauses))
    service.script(*[lose or service.status(200, b'{"data": [')] * 2)
    post(endpoint, tokens=30)
    spent = endpoint.spending
    assert (spent.tokens, spent.requests, spent.retries) == (70, 1, 2)
    endpoint.close()


@pytest.mark.parametrize("body", [{"error": "model not loaded"}, {"error": {"type": "overloaded"}, "data": []}])
def test_an_error_that_is_sent_as_an_answer_is_tried_again(service, pauses, body):
    endpoint = connect(service.url, pause=quick(pauses), attempts=2)
    service.script(*[service.status(200, json.dumps(body).encode())] * 2)
    error = failure(endpoint)
    assert "the service sent an error instead of an answer (tried 2 times); it says: " in str(error)
    assert error.kind == "failed"
    endpoint.close()


@pytest.mark.parametrize(("code", "attempts"), [(502, 2), (404, 1)])
def test_an_error_that_is_sent_as_an_answer_has_the_status_of_its_code(service, pauses, code, attempts):
    endpoint = connect(service.url, pause=quick(pauses), attempts=2)
    service.script(*[service.status(200, json.dumps({"error": {"code": code}}).encode())] * 2)
    assert failure(endpoint).status == code
    assert len(service.seen) == attempts
    endpoint.close()


def test_a_refusal_costs_nothing(service, pauses):
    endpoint = connect(service.url, pause=quick(pauses), price=1e6, budget=45)
    service.script(service.status(500), service.status(429), service.status(200, b'{"error": "busy", "data": []}'))
    post(endpoint, tokens=30)
    assert endpoint.spending.tokens == 10
    endpoint.close()


def test_answers_that_are_lost_do_not_exceed_the_budget(service, pauses):
    endpoint = connect(service.url, pause=quick(pauses), price=1e6, budget=70)
    service.script(*[_cut] * 6)
    with pytest.raises(EncoderError, match="exceeds the budget of 70: 60 spent, about 30"):
        post(endpoint, tokens=30)
    assert len(service.seen) == 2
    endpoint.close()


@pytest.mark.parametrize(("status", "lost"), [(500, True), (504, True), (429, False), (503, False), (400, False)])
def test_what_may_be_due_to_a_single_request(service, pauses, status, lost):
    endpoint = connect(service.url, pause=quick(pauses), attempts=2)
    service.script(*[service.status(status)] * 2)
    assert (failure(endpoint).kind == "failed") is lost
    endpoint.close()


def test_the_budget_holds_for_requests_under_way_too(service):
    endpoint = connect(service.url, concurrency=4, price=1e6, budget=35)
    service.seconds = 0.02
    with pytest.raises(EncoderError, match="the budget of 35"):
        list(
            endpoint.each(
                lambda text: post(endpoint, "/x", {"input": [text], "model": ""}, tokens=10), list("abcdefgh")
            )
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


def test_what_of_an_answer_is_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", "abcdef")
    endpoint = connect("https://host", "MY_KEY")

    def excerpt(body):
        return endpoint.error("", 400, body).said

    assert excerpt(b'{"error": {"code": 1, "message": "no \\"abcdef"}}') == 'no "…'
    assert excerpt(b'{"error": "plain"}') == "plain"
    assert excerpt(b'{"detail": "what"}') == "what"
    assert excerpt(b'{"detail": [1]}') == '{"detail": [1]}'
    assert excerpt(b"\xff\x00a\r\nb") == "\ufffd a b"
    assert excerpt(b"[" * 100_000) == "[" * MAX_SHOWN + "…"
    assert excerpt(b"x" * (MAX_SHOWN - 3) + b"abcdef") == "x" * (MAX_SHOWN - 3) + "…"


def test_its_errors_are_in_the_tree():
    import embassay.core.errors

    assert issubclass(EndpointError, EncoderError)
    for name, value in vars(embassay.core.errors).items():
        if isinstance(value, type) and issubclass(value, EmbassayError):
            assert name in embassay.core.errors.__doc__


def test_importing_it_brings_no_http_library():
    code = "import sys, embassay.models.services.api; print('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
