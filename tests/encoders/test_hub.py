"""A hub on loopback: what it lists, what it refuses, and how long we wait for one that stalls."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub.constants
import pytest

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import Runtime
from embassay.models.neural import locations as models
from embassay.models.neural.locations import find

RUNTIME = Runtime()


@pytest.fixture
def hub(monkeypatch):
    """A server whose answer a test sets; requests are remembered."""
    state = {"status": 200, "body": {}, "seconds": 0.0, "seen": [], "code": ""}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            state["seen"].append((self.path, self.headers.get("Authorization")))
            time.sleep(state["seconds"])
            with suppress(ConnectionError):  # the client may have gone
                self.send_response(state["status"])
                self.send_header("X-Error-Code", state["code"])
                self.end_headers()
                self.wfile.write(json.dumps(state["body"]).encode())

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(models, "_in_cache", lambda repository, revision: None)
    yield state
    server.shutdown()
    server.server_close()


def test_an_unknown_model_is_said_to_be_unknown(hub):
    hub["status"], hub["code"] = 404, "RepoNotFound"
    with pytest.raises(ModelNotFoundError, match="the hub has no such model"):
        find("nothing-of-that-name", "", RUNTIME)
    assert [path for path, _ in hub["seen"]] == [
        "/api/models/sentence-transformers/nothing-of-that-name",
        "/api/models/nothing-of-that-name",
    ]


def test_an_unknown_revision_is_said_to_be_that(hub):
    hub["status"], hub["code"] = 404, "RevisionNotFound"
    with pytest.raises(ModelNotFoundError, match="no such model or revision"):
        find("org/model", "v 9", RUNTIME)
    assert hub["seen"][0][0] == "/api/models/org/model/revision/v%209"


def test_a_gated_model_is_said_to_be_that(hub):
    hub["status"], hub["code"] = 403, "GatedRepo"
    with pytest.raises(ModelNotFoundError, match=r"the hub does not give it .*403"):
        find("org/model", "", RUNTIME)


def test_a_hub_that_stalls_is_given_up(hub, monkeypatch):
    monkeypatch.setattr(models, "HUB_TIMEOUT", 0.2)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: pytest.fail("it waited for the answer"))
    hub["seconds"], hub["body"] = 1.0, {"id": "a", "siblings": [{"rfilename": "config.json"}]}
    with pytest.raises(ModelNotFoundError, match="the hub does not give it"):
        find("org/model", "", RUNTIME)


def test_nobody_listening_is_said_at_once(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(
        ModelNotFoundError, match=r"the hub does not give it .*; a folder with the model's files works offline"
    ):
        find("org/model", "", RUNTIME)


def test_only_the_files_that_are_needed_are_downloaded(hub, monkeypatch, tmp_path):
    names = ["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "README.md"]
    hub["body"] = {"id": "org/model", "siblings": [{"rfilename": name} for name in names]}
    asked, told = {}, []

    def download(repository, **options):
        asked.update(options, repository=repository)
        for name in options["allow_patterns"]:
            (tmp_path / name).write_text("{}")
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert find("org/model", "v2", Runtime(tell=told.append)).folder == tmp_path
    assert told == ["org/model: downloading from the hub, once"]
    assert asked == {
        "repository": "org/model",
        "revision": "v2",
        # The model card says what the model was trained on.
        "allow_patterns": ["config.json", "model.safetensors", "README.md"],
    }
    assert hub["seen"][0][0] == "/api/models/org/model/revision/v2"


def test_a_token_is_sent_and_never_shown(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub["status"] = 500
    with pytest.raises(ModelNotFoundError) as error:
        find("org/model", "", RUNTIME)
    assert hub["seen"][0][1] == "Bearer hf_secret"
    assert "hf_secret" not in str(error.value)
