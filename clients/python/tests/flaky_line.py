"""A line to the service that loses answers and refuses calls, as real ones do."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FlakyLine:
    """Forwards calls to `url`. Of the next calls, `lose` run but get no answer, and `refuse` do not run but get a 503."""

    def __init__(self, url: str) -> None:
        line = self
        self.lose = 0
        self.refuse = 0
        #: Idempotency-Key of each POST.
        self.keys: list[str | None] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                line._forward(self, url)

            do_POST = do_DELETE = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _forward(self, handler: BaseHTTPRequestHandler, url: str) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        if handler.command == "POST":
            self.keys.append(handler.headers.get("idempotency-key"))
        if self.refuse > 0:
            self.refuse -= 1
            return self._answer(handler, 503, {"retry-after": "0"}, b"<html>busy</html>")
        headers = {k: v for k, v in handler.headers.items() if k.lower() not in ("host", "connection")}
        sent = urllib.request.Request(url + handler.path, data=body or None, headers=headers, method=handler.command)
        try:
            with urllib.request.urlopen(sent) as received:
                answer = (received.status, dict(received.headers), received.read())
        except urllib.error.HTTPError as error:
            answer = (error.code, dict(error.headers), error.read())
        if self.lose > 0:
            self.lose -= 1
            handler.close_connection = True
            return
        self._answer(handler, *answer)

    def _answer(self, handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
