"""A search service on loopback with bm25 behind it: answers in the form of Elasticsearch's, and what it was sent."""

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from embassay.run.resolve import load_encoder


class SearchServer:
    """Answers POST ``{"query": …}`` and GET ``?query=…``; ``behaviours`` say what it does with the next requests."""

    def __init__(self, corpus):
        self.ids = [document.id for document in corpus.documents]
        encoder = load_encoder("bm25").fit(corpus.learnt())
        self.documents = encoder.encode([document.whole for document in corpus.documents], "document")
        self.encoder = encoder
        self.behaviours, self.seen = [], []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        # A client may hang up at any time; by default the server prints a traceback then.
        self._server.handle_error = lambda request, client_address: None
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}/search"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def hits(self, question, depth):
        """Return ids and scores of the nearest documents."""
        scores = (self.encoder.encode([question], "query") @ self.documents.T).toarray()[0].astype(float)
        order = np.argsort(-scores, kind="stable")[:depth]
        return [(self.ids[place], scores[place]) for place in order]

    def good(self, asked):
        """Return the answer to a request."""
        hits = self.hits(asked["query"], int(asked.get("size", 100)))
        return {"took": 1, "hits": {"hits": [{"_id": name, "_score": score} for name, score in hits]}}

    def _handler(server):  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                content = self.rfile.read(int(self.headers["Content-Length"]))
                if content:  # the client may have gone
                    self.react(json.loads(content))

            def do_GET(self):
                self.react({})

            def react(self, asked):
                asked = {**asked, **dict(parse_qsl(urlsplit(self.path).query))}
                with server._lock:
                    headers = {name.lower(): ", ".join(self.headers.get_all(name)) for name in self.headers}
                    server.seen.append((self.command, headers, asked))
                    behave = server.behaviours.pop(0) if server.behaviours else None
                body = json.dumps(server.good(asked)).encode() if behave is None else behave(server, asked)
                code, body = body if isinstance(body, tuple) else (200, body)
                with suppress(ConnectionError):  # the client may have gone
                    self.send_response(code)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *args):
                pass

        return Handler
