"""Letting a client in with a real browser, which holds `form-action` against every redirect on the way."""

import asyncio
import secrets
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser

from negotiator.tokens.authorization_codes import s256_challenge
from negotiator.users import user_queries
from tests.helpers.chromium import PASSWORD, chromium, tab
from tests.helpers.live_server import Server

__all__ = ["chromium"]


class Callback(BaseHTTPRequestHandler):
    """A program on the device that waits for its answer."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write(b"thank you")

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A service of its own, with one worker: one person needs no more."""
    started = Server(tmp_path_factory.mktemp("consent"), workers=1)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def callback() -> Generator[str]:
    """Where the program listens."""
    with HTTPServer(("127.0.0.1", 0), Callback) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/callback"
        listening.shutdown()


@pytest.fixture
def account(server: Server) -> str:
    """Somebody with a password."""
    hashed, email = user_queries.hash_password(PASSWORD), f"{secrets.token_hex(4)}@live.example"
    making = server.change(lambda tx: user_queries.add(tx, email, password_hash=hashed, actor="operator"))
    with ThreadPoolExecutor(1) as aside:  # the browser's driver has a loop running here
        aside.submit(asyncio.run, making).result()
    return email


def test_a_stranger_signs_in_allows_and_lands_at_the_program(
    server: Server, chromium: Browser, callback: str, account: str
) -> None:
    body = {"client_name": "Desk", "redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "none"}
    client_id = httpx2.post(f"{server.base}/oauth/register", json=body).json()["client_id"]
    verifier = secrets.token_urlsafe(48)
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": callback,
        "scope": "openid negotiations:read",
        "state": "s",
        "code_challenge": s256_challenge(verifier),
        "code_challenge_method": "S256",
    }
    context = chromium.new_context()
    page = tab(context, server.base, others=(callback,))
    page.open(f"/oauth/authorize?{urlencode(asked)}")
    page.at("/sign-in")
    page.fill("E-mail", account)
    page.fill("Password", PASSWORD)
    page.press("Sign in")
    page.at("/oauth/authorize")
    assert page.sees("127.0.0.1 asks to work for you here")
    assert page.sees("Work out who needs the deal more")
    page.press("Allow")
    page.page.wait_for_url(f"{callback}?**")
    told = parse_qs(urlsplit(page.page.url).query)
    assert (told["state"], told["iss"]) == (["s"], [server.base])
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": told["code"][0],
        "redirect_uri": callback,
        "code_verifier": verifier,
    }
    tokens = httpx2.post(f"{server.base}/oauth/token", data=form).json()
    assert tokens["scope"] == "openid negotiations:read"
    page.open("/agents")
    assert page.sees("Desk")
    assert [line for line in page.said if "favicon" not in line] == []
    context.close()


def test_whoever_let_a_client_in_before_goes_from_sign_in_straight_back_to_it(
    server: Server, chromium: Browser, callback: str, account: str
) -> None:
    """The redirect leaves our origin within what began as the sign-in form."""
    made = server.run(*("clients", "add", "web", "--redirect-uri", "http://127.0.0.1/callback", "--json"))
    client_id = made.split('"client_id": "')[1].split('"')[0]
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": callback,
        "scope": "negotiations:read",
        "code_challenge": s256_challenge("v" * 43),
        "code_challenge_method": "S256",
    }
    for press in (("Sign in", "Allow"), ("Sign in",)):
        context = chromium.new_context()
        page = tab(context, server.base, others=(callback,))
        page.open(f"/oauth/authorize?{urlencode(asked)}")
        page.fill("E-mail", account)
        page.fill("Password", PASSWORD)
        for name in press:
            page.press(name)
        page.page.wait_for_url(f"{callback}?code=**")
        assert [line for line in page.said if "favicon" not in line] == []
        context.close()
