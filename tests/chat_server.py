"""A chat service on loopback: it answers by a function of the prompt, and fails, stalls or babbles when it is told to.

``script`` says what becomes of the next requests, ``when`` of every request whose prompt has some words in it.
A behaviour is called with (server, handler, prompt).
"""

import json
import re
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LABEL = re.compile(r"^[\w ]{1,24}:\s*")
SENTENCE = re.compile(r"(?<=[.!?])\s+")


def texts_of(prompt):
    """Return the lines of a prompt that look like text: from four words on, with a full stop; labels taken off."""
    lines = (LABEL.sub("", line.strip()).strip('"') for line in prompt.splitlines()[1:])
    return [line for line in lines if len(line.split()) >= 4 and line[-1] in ".!?"] or [prompt]


def respond(prompt):
    """Ask a question about the last text where a question is wanted, else make one sentence of the last two."""
    texts = texts_of(prompt)
    if "question" not in prompt.lower():
        return " and ".join([*(text.rstrip(".!?") for text in texts[-2:-1]), texts[-1]])
    quote = SENTENCE.split(texts[-1])[0]
    word = max(re.findall(r"[^\W\d_]+", quote), key=len)
    return json.dumps({"question": f"What is said about the {word}?", "answer": quote})


class ChatServer:
    """The service.

    ``asked`` counts the requests of each prompt, ``answered`` those that an answer went out for: what would be paid.
    ``seen`` has (path, headers, payload) of each; ``most`` is how many were under way at once.
    """

    def __init__(self, answer=respond):
        self.answer, self.seconds, self.usage = answer, 0.0, True
        self.asked, self.answered, self.seen = Counter(), Counter(), []
        self.now = self.most = 0
        self._next, self._always = [], []
        self._lock, self._open = threading.Lock(), threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}/v1"

    def close(self):
        self._open.set()
        self._server.shutdown()
        self._server.server_close()

    def script(self, *behaviours):
        """Say what becomes of the next requests."""
        self._next += behaviours

    def when(self, words, behaviour):
        """Say what becomes of every request with these words in its prompt."""
        self._always.append((words, behaviour))

    def calm(self):
        """Answer rightly from now on; what stalls goes on."""
        self._next, self._always = [], []
        self._open.set()
        self._open = threading.Event()

    def body(self, prompt, text, finish="stop", **message):
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len((text or "").split())}
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        whole = {"object": "chat.completion", "model": "m-2026-01-01", "choices": [choice]}
        return whole | ({"usage": usage | {"total_tokens": sum(usage.values())}} if self.usage else {})

    def _behaviour(self, prompt):
        if self._next:
            return self._next.pop(0)
        return next((behaviour for words, behaviour in self._always if words in prompt), says())

    def _handler(server):  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = payload["messages"][-1]["content"]
                with server._lock:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    server.seen.append((self.path, headers, payload))
                    server.asked[prompt] += 1
                    server.now += 1
                    server.most = max(server.most, server.now)
                    behave = server._behaviour(prompt)
                time.sleep(server.seconds)
                with suppress(ConnectionError):  # the client may have gone
                    behave(server, self, prompt)
                with server._lock:
                    server.now -= 1

            def give(self, code, body, prompt="", length=None, **headers):
                if code == 200:
                    with server._lock:
                        server.answered[prompt] += 1
                self.send_response(code)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name.replace("_", "-"), str(value))
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = self.close_connection or length is not None

            def log_message(self, *args):
                pass

        return Handler


def says(text=None, finish="stop", **message):
    """Answer with this text, or a function of the prompt; rightly where there is none."""

    def behave(server, handler, prompt):
        said = server.answer(prompt) if text is None else text(prompt) if callable(text) else text
        handler.give(200, json.dumps(server.body(prompt, said, finish, **message)).encode(), prompt)

    return behave


def whole(change):
    """Answer rightly, but for what ``change`` returns instead of the whole answer."""

    def behave(server, handler, prompt):
        found = change(server.body(prompt, server.answer(prompt)))
        handler.give(200, json.dumps(found).encode(), prompt)

    return behave


def errs(message="out of order", **more):
    """Answer with status 200 and an error in it."""
    return whole(lambda body: {"error": {"message": message, **more}})


def fails(status, message="out of order", **headers):
    """Answer with this status, an error in OpenAI's form and headers (Retry_After is Retry-After)."""
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda server, handler, prompt: handler.give(status, body, **headers)


def stalls(server, handler, prompt):
    """Answer rightly, but not before ``calm`` or ``close``."""
    server._open.wait(30)
    says()(server, handler, prompt)


def cuts(server, handler, prompt):
    """End the connection in the middle of the answer."""
    handler.give(200, b'{"choices": [', length=500)


def nonsense(server, handler, prompt):
    """Answer with a web page."""
    handler.give(200, b"<html>Sign in</html>", Content_Type="text/html")


def _counts_nothing(body):
    return body | {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}}


UNCOUNTED = whole(_counts_nothing)
REFUSES = says("I'm sorry, but I can't help with that.")
WITHHOLDS = says(None, "content_filter")
ECHOES = says(lambda prompt: prompt)
FRENCH = says("Le magasin est ouvert et les clients sont dans la rue avec le chien.")
CUT_OFF = says("The shop is open and", "length")
NOTHING = says("")
