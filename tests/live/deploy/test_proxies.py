"""The shipped nginx and Caddy files in front of a real server, as clients on the internet meet them."""

import asyncio
import getpass
import json
import os
import ssl
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from websockets.asyncio.client import connect

from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.form_browser import PASSWORD, FormBrowser
from tests.helpers.live_server import PATIENCE, Server, free_port, wait_for
from tests.helpers.loopback_server import certificate
from tests.helpers.neighbours import require
from tests.house.source_tree import ROOT
from tests.live.teleprompter.socket_client import TeleprompterUser, let_in

HOST: Final = "negotiator.example.org"
BASE: Final = f"https://{HOST}"
FILES: Final = ROOT / "deploy"
LIMIT: Final = 12


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy in front of the server. Its clients have loopback addresses that begin with `network`."""

    server: Server
    http: int
    https: int
    network: str

    def client(self, last: int, **headers: str) -> httpx2.AsyncClient:
        """A client with an address of its own, for which the public name leads to this proxy."""
        transport = _ToProxy(
            self.https, httpx2.AsyncHTTPTransport(verify=_trust_nobody(), local_address=self.address(last))
        )
        return httpx2.AsyncClient(base_url=BASE, transport=transport, headers=headers, timeout=PATIENCE)

    def address(self, last: int) -> str:
        return f"{self.network}.{last}"


class _ToProxy(httpx2.AsyncBaseTransport):
    """Sends requests for the public name to a port of this machine; name and `Host` stay."""

    def __init__(self, port: int, inner: httpx2.AsyncHTTPTransport) -> None:
        self._port, self._inner = port, inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.host == HOST, request.url
        sent = httpx2.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1", port=self._port),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": HOST},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _trust_nobody() -> ssl.SSLContext:
    """No check of the certificate: it is the test's own."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """The server behind both proxies."""
    settings = {
        "base_url": BASE,
        "trusted_proxies": "127.0.0.1/32",
        "idle_timeout": "75",
        "register_limit_anonymous": str(LIMIT),
    }
    server = Server(tmp_path_factory.mktemp("behind"), workers=1, settings=settings)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(request: pytest.FixtureRequest, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Generator[Proxy]:
    """One proxy, then the other, with the shipped file; only ports and certificate are the test's."""
    name: str = request.param
    require({"nginx": "nginx-light"}.get(name, name))
    http, https = free_port(), free_port()
    folder = tmp_path_factory.mktemp(name)
    start = {"nginx": _nginx, "caddy": _caddy}[name]
    with (folder / "log").open("wb") as log:
        process = start(folder, server.port, http, https, log)
    front = Proxy(server, http, https, {"nginx": "127.1.1", "caddy": "127.1.2"}[name])

    def answers() -> bool:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            with httpx2.Client(verify=_trust_nobody(), headers={"host": HOST}) as client:
                name = {"sni_hostname": HOST}
                health = client.get(f"https://127.0.0.1:{https}/api/health", extensions=name)
                return health.is_success
        except httpx2.TransportError:
            return False

    try:
        wait_for(answers)
        yield front
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _nginx(folder: Path, upstream: int, http: int, https: int, log: Any) -> subprocess.Popen[bytes]:
    certificate(folder, HOST)
    site = (FILES / "nginx.conf").read_text()
    for shipped, own in (
        ("listen 80;", f"listen {http};"),
        ("listen 443 ssl http2;", f"listen {https} ssl http2;"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("127.0.0.1:8000", f"127.0.0.1:{upstream}"),
        (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(folder / "cert.pem")),
        (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(folder / "key.pem")),
    ):
        assert shipped in site, shipped
        site = site.replace(shipped, own)
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\ndaemon off;\nerror_log stderr;\nuser {getpass.getuser()};\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{site}}}\n"
    )
    command = ("nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf"))
    return _start(command, folder, {}, log)


def _caddy(folder: Path, upstream: int, http: int, https: int, log: Any) -> subprocess.Popen[bytes]:
    options = (
        *("admin off", "local_certs", "skip_install_trust", f"http_port {http}", f"https_port {https}"),
        f"storage file_system {folder}",
    )
    lines = "".join(f"\t{option}\n" for option in options)
    (folder / "Caddyfile").write_text(f"{{\n{lines}}}\nimport {FILES / 'Caddyfile'}\n")
    command = ("caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile"))
    return _start(command, folder, {"NEGOTIATOR_UPSTREAM": f"127.0.0.1:{upstream}"}, log)


def _start(command: tuple[str, ...], folder: Path, more: dict[str, str], log: Any) -> subprocess.Popen[bytes]:
    environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin", "HOME": str(folder), **more}
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


@pytest.mark.asyncio
async def test_http_is_sent_on_to_https(proxy: Proxy) -> None:
    async with httpx2.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{proxy.http}/tools", headers={"host": HOST})
    assert answer.status_code in {301, 308}
    assert answer.headers["location"].startswith(BASE)


@pytest.mark.smoke
@pytest.mark.asyncio
async def test_a_user_signs_in_and_stays_signed_in(proxy: Proxy) -> None:
    email = f"{proxy.network}@example.com"
    hashed = user_queries.hash_password(PASSWORD)

    def unit(tx: Transaction) -> None:
        user_queries.add(tx, email, name="Ada", password_hash=hashed, actor="operator")

    await proxy.server.change(unit)
    async with proxy.client(1) as client:
        browser = FormBrowser(client)
        answer = await browser.sign_in(email)
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"].startswith(f"{BASE}/")
        assert browser.session()
        assert answer.headers["strict-transport-security"]
        page = await browser.open("/account")
    assert page.status_code == 200
    assert email in page.text


@pytest.mark.asyncio
async def test_an_event_arrives_while_the_stream_is_open(proxy: Proxy) -> None:
    async with proxy.client(2) as client:
        caller = TeleprompterUser(BASE, await let_in(client, proxy.server.application_settings))
        session = await caller.open(client)
        headers = {**caller.headers, "accept": "text/event-stream"}
        async with client.stream("GET", f"{session}/events", headers=headers) as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            lines = stream.aiter_lines()
            for name in ("first", "second"):
                await caller.say(client, session, name, f"This is the {name}.")
                async with asyncio.timeout(PATIENCE):
                    while f"This is the {name}." not in await anext(lines):
                        pass


@pytest.mark.asyncio
async def test_a_socket_hears_and_is_told(proxy: Proxy) -> None:
    async with proxy.client(3) as client:
        caller = TeleprompterUser(BASE, await let_in(client, proxy.server.application_settings))
        session = await caller.open(client)
    async with connect(
        f"wss://{HOST}{session}/stream",
        host="127.0.0.1",
        port=proxy.https,
        ssl=_trust_nobody(),
        additional_headers=caller.headers,
    ) as socket:
        said = {"type": "text", "utterance_id": "u1", "text": "Fifty euros."}
        await socket.send(json.dumps(said))
        async with asyncio.timeout(PATIENCE):
            while "Fifty euros." not in str(await socket.recv()):
                pass


@pytest.mark.asyncio
async def test_the_official_mcp_client_calls_a_tool(proxy: Proxy) -> None:
    async with proxy.client(4) as client:
        headers = await let_in(client, proxy.server.application_settings)
        client.headers.update(headers)
        async with Client(streamable_http_client(f"{BASE}/mcp", http_client=client)) as agent:
            result = await agent.call_tool("list_negotiations", {})
    assert not result.is_error
    assert result.structured_content == {"items": [], "next_cursor": None}


@pytest.mark.asyncio
async def test_limits_count_the_client_s_own_address_whatever_it_claims(proxy: Proxy) -> None:
    body = {"agent_name": "many", "identity_type": "anonymous"}
    async with proxy.client(5) as client:
        answers = [
            await client.post(
                "/api/agent/register", json=body, headers={"x-forwarded-for": f"198.51.100.{number}, 127.0.0.1"}
            )
            for number in range(LIMIT + 1)
        ]
    assert [answer.status_code for answer in answers] == [*[201] * LIMIT, 429]
    async with proxy.client(6) as other:
        answer = await other.post("/api/agent/register", json=body)
        assert answer.status_code == 201, "another address has a limit of its own"
        whole = await other.get("/api/negotiations", headers=bearer(answer.json()))
    assert whole.status_code == 200


@pytest.mark.asyncio
async def test_a_large_import_passes_and_a_larger_one_gets_the_server_s_answer(proxy: Proxy) -> None:
    async with proxy.client(7) as client:
        body = b"x" * (2 * 1024 * 1024)
        answer = await client.post("/api/agent/register", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"], "the answer is the server's"
