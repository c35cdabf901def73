"""A way in for a suite that cannot send a token: a server on loopback that adds one and passes everything on."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

_OURS: Final = {"connection", "content-length", "transfer-encoding", "date", "server"}


@contextmanager
def bearing(token: str, port: int, listening: int) -> Generator[str]:
    """The address, on the port `listening`, under which the server on `port` is met with this token."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            sent = {name: text for name, text in self.headers.items() if name.lower() not in _OURS}
            onward = HTTPConnection("127.0.0.1", port, timeout=30)
            bearer = {**sent, "authorization": f"Bearer {token}"}
            onward.request(self.command, self.path, body or None, bearer)
            answer = onward.getresponse()
            content = answer.read()
            self.send_response_only(answer.status)
            for name, text in answer.getheaders():
                if name.lower() not in _OURS:
                    self.send_header(name, text)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            onward.close()

        do_GET = do_POST = do_DELETE = do_OPTIONS = _pass_on  # noqa: N815

        def log_message(self, format: str, *_rest: Any) -> None:
            del format

    class Between(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that goes away is no error here."""
            del request, client_address

    between = Between(("127.0.0.1", listening), Handler)
    thread = threading.Thread(target=between.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening}"
    between.shutdown()
    between.server_close()
    thread.join()
