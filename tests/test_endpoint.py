"""The HTTP client: what is sent again, what is refused, what a message may show, and how many requests at a time."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from connecting import connect, one
from embassay.core.errors import EncoderError, EndpointError, SpecError
from embassay.models.services.service import used_tokens
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
    return connect(service.url, "MY_KEY", timeout=5, pause=quick(pauses))


def quick(pauses):
    return pauses.append


async def send(endpoint, payload, path="/embeddings", tokens=0):
    return await endpoint.ask(path, payload, lambda answer: answer, tokens=tokens)


def post(endpoint, path="/embeddings", tokens=0):
    return one(endpoint, lambda payload: send(endpoint, payload, path, tokens), PAYLOAD)


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


def test_after_six_attempts_it_is_given_up(service, endpoint, pauses):
    service.script(*[service.status(500, b"out of order")] * 9)
    assert str(failure(endpoint)) == (f"{service.host} answered 500: it failed; it says: out of order (tried 6 times)")
    assert len(service.seen) == 6
    assert len(pauses) == 5


def test_a_service_is_waited_for_as_long_as_it_asks(service, endpoint, pauses):
    service.script(service.status(429, Retry_After="7"), service.status(429))
    post(endpoint)
    assert 7 <= pauses[0] < 7.1
    assert pauses[1] < 0.1


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
    [(b"HTTP/1.1 200 OK\r\n", b"X-Header: a\r\n"), (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", b" ")],
)
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


@pytest.mark.parametrize(
    "location", ["https://evil.example/v1/embeddings?key=secret99", "/v1/embeddings/", "", "http://["]
)
def test_no_redirect_is_followed(service, endpoint, location):
    service.script(service.status(307, Location=location))
    error = failure(endpoint)
    assert str(error).endswith("the service redirects to another address; check the address")
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "host", ["api.example.org", "10.0.0.7", "127.0.0.1.example.org", "192.168.0.1", "[::ffff:10.0.0.7]"]
)
def test_a_key_does_not_travel_unencrypted(host):
    with pytest.raises(SpecError, match="the key would be sent unencrypted; use https://") as caught:
        connect(f"http://{host}/v1", "MY_KEY")
    assert KEY not in str(caught.value)
    connect(f"https://{host}/v1", "MY_KEY")
    connect(f"http://{host}/v1")


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.1.2.3:1", "[::1]:11434"])
def test_to_this_machine_it_may(host):
    assert connect(f"http://{host}/v1", "MY_KEY").place == f"{host}/v1"


@pytest.mark.parametrize("user", ["ann:password1", KEY])
def test_an_address_with_a_user_or_a_key_is_refused_and_not_repeated(user):
    with pytest.raises(SpecError, match="no user or password; a key is read from an environment variable") as caught:
        connect(f"https://{user}@host/v1")
    assert user not in str(caught.value)


def test_the_query_of_an_address_is_sent_and_never_shown(service, pauses):
    endpoint = connect(f"{service.url}?api-version=7&sig=abcdefgh12345", pause=quick(pauses), attempts=2)
    service.script(service.status(403, b"sig=abcdefgh12345"))
    shown = f"{failure(endpoint)} {endpoint!r} {endpoint.place} {endpoint.url}"
    for secret in ("api-version", "abcdefgh12345"):
        assert secret not in shown
    assert service.seen[0][0] == "/v1/embeddings?api-version=7&sig=abcdefgh12345"


def test_a_key_in_the_place_of_a_variable_is_not_shown(service):
    with pytest.raises(SpecError, match="the environment variable … is not set") as caught:
        connect("https://host/v1", KEY)
    assert KEY not in str(caught.value)


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


def test_results_come_with_their_places_and_so_many_at_a_time(service):
    endpoint = connect(service.url, concurrency=3)
    service.seconds = 0.03
    items = [{"model": "m", "input": [str(i)]} for i in range(12)]
    found = endpoint.each(lambda payload: send(endpoint, payload), items)
    vectors = {place: answer["data"][0]["embedding"] for place, answer, _ in found}
    assert vectors == {i: service.vector(str(i)) for i in range(12)}
    assert 2 <= service.most <= 3
    assert list(endpoint.each(send, [])) == []


def test_after_a_failure_nothing_new_is_begun_and_what_is_ready_is_given():
    begun, found = [], []

    async def work(item):
        begun.append(item)
        if item == "b":
            raise EncoderError("no")
        await asyncio.sleep(0.3)
        return item

    results = connect("https://host", concurrency=2).each(work, "abcdefgh")
    with pytest.raises(EncoderError, match="no"):
        while True:
            found.append(next(results)[:2])
    assert found == [(0, "a")]
    assert sorted(begun) == ["a", "b"]


def test_after_a_failure_another_request_is_not_repeated(service):
    endpoint = connect(service.url, concurrency=2)
    failed = threading.Event()

    def later(handler, payload):
        failed.wait(10)
        time.sleep(0.2)
        handler.answer(500, b"no", {})

    def refuse(handler, payload):
        handler.answer(401, b"no", {})
        failed.set()

    service.script(later, refuse)
    with pytest.raises(EndpointError, match="answered 401"):
        list(endpoint.each(lambda payload: send(endpoint, payload), [PAYLOAD, PAYLOAD]))
    assert len(service.seen) == 2


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_is_heard_at_once(service, start_process, wait_until):
    interrupted = threading.Event()
    service.script(*[lambda handler, payload: interrupted.wait(60)] * 8)  # no answer before that
    code = (
        "import sys; from embassay.models.services.service import Service\n"
        f"e = Service('test', {service.url!r}, '', timeout=60, concurrency=4)\n"
        "ask = lambda t: e.ask('/x', {'input': [t], 'model': ''}, lambda answer: answer)\n"
        "try: list(e.each(ask, list('abcdefgh')))\n"
        "except KeyboardInterrupt: sys.exit(130)"
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
    money.settle(300, 0)
    money.reserve(500)
    money.settle(500, 400)
    assert (money.tokens, money.cost) == (400, 0.0008)
    with pytest.raises(EncoderError, match=r"exceeds the budget of 0.001: 0.0008 spent, about 0.0004 more needed"):
        money.reserve(200)


def test_the_cost_of_tokens():
    assert Spending().outlook(10**9) == ["about 1,000,000,000 tokens to send", "pass price= for the cost"]
    money = Spending(price=2.0, budget=0.001)
    assert money.outlook(500) == ["about 500 tokens to send", "about 0.001 at 2 per million tokens"]


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


def test_the_budget_holds_for_requests_under_way_too(service):
    endpoint = connect(service.url, concurrency=4, price=1e6, budget=35)
    service.seconds = 0.02
    with pytest.raises(EncoderError, match="the budget of 35"):
        list(endpoint.each(lambda text: send(endpoint, {"input": [text], "model": ""}, tokens=10), "abcdefgh"))
    assert len(service.seen) == 3
    assert endpoint.spending.tokens == 30


@pytest.mark.parametrize(
    ("answer", "tokens"),
    [({"usage": {"total_tokens": 5}}, 5), ({"usage": {"prompt_tokens": 4}}, 4),
     ({"usage": {"prompt_tokens": 4, "completion_tokens": 3}}, 7), ({"usage": {"total_tokens": -1}}, None),
     ({"usage": {"total_tokens": "5"}}, None), ({"usage": {"total_tokens": True}}, None), ({"usage": []}, None),
     ({}, None), ([], None), (None, None)],
)  # fmt: skip
def test_the_tokens_of_an_answer(answer, tokens):
    assert used_tokens(answer) == tokens
