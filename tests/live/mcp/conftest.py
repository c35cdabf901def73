"""A server whose tokens live seconds, and a web site on loopback where clients keep their metadata documents."""

import json
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.live_server import Server
from tests.helpers.loopback_server import certificate
from tests.live.mcp.launch import AUTHORITY


@dataclass
class DocumentSite:
    """Documents by path, over https; `certificate` is what whoever reads them has to trust."""

    address: str
    certificate: Path
    documents: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def publish(self, path: str, **members: Any) -> str:
        """Put a client's metadata there; the document's address is the client's id."""
        client_id = f"{self.address}{path}"
        self.documents[path] = {"client_id": client_id, **members}
        return client_id


@dataclass
class ShortTokenServer(Server):
    """A server whose access tokens live seconds; `authority` is the certificate it trusts beside the usual ones."""

    authority: str = ""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.live.mcp.launch", "serve"]

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, AUTHORITY: self.authority}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[DocumentSite]:
    """An https site of the tests' own."""
    folder = tmp_path_factory.mktemp("site")
    documents: dict[str, dict[str, Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = json.dumps(documents[self.path]).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *_rest: Any) -> None:
            del format

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tls = certificate(folder, "localhost")
    web.socket = tls.wrap_socket(web.socket, server_side=True)
    thread = threading.Thread(target=web.serve_forever, daemon=True)
    thread.start()
    yield DocumentSite(f"https://localhost:{web.server_port}", folder / "cert.pem", documents)
    web.shutdown()
    web.server_close()
    thread.join()


@pytest.fixture(scope="session")
def short_token_server(tmp_path_factory: pytest.TempPathFactory, site: DocumentSite) -> Generator[ShortTokenServer]:
    """A running server whose tokens live seconds, and which may read the site."""
    loopback = {"allow_loopback_fetch": "true"}
    folder = tmp_path_factory.mktemp("brief")
    started = ShortTokenServer(folder, workers=1, settings=loopback, authority=str(site.certificate))
    started.start()
    yield started
    started.stop()
    assert "crashed" not in (started.folder / "log").read_text()
