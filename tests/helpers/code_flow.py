"""A client of the code flow and the user whom it asks, as both sides of a test want them."""

import re
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest_asyncio
from starlette.applications import Starlette

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from negotiator.store.store import make_store
from negotiator.tokens import clients
from negotiator.tokens.authorization_codes import s256_challenge
from negotiator.tokens.clients import NewClient
from negotiator.users import user_queries
from tests.conftest import Change, connect, make_settings, running
from tests.helpers.form_browser import BASE

CALLBACK: Final = "https://app.example/callback"
AUTHORIZE: Final = "/oauth/authorize"
SCOPE: Final = "openid profile negotiations:read memories:read"
PASSWORD: Final = "a long enough password"
_HIDDEN: Final = re.compile(r'name="csrf" value="([^"]*)"')
_ACTION: Final = re.compile(r'<form method="post" action="([^"]*/oauth/consent[^"]*)"')
_BOX: Final = re.compile(r'name="(scope:[^"]+)" checked')


@dataclass
class ClientApp:
    """A client application with its own idea of what it asks; `http` is its way to the service."""

    http: httpx2.AsyncClient
    client_id: str
    secret: str = ""
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def asks(self, **changes: str | None) -> str:
        """The path of an authorization request; a change of None leaves a parameter out."""
        told: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": SCOPE,
            "state": "a state & more",
            "nonce": "n-1",
            "code_challenge": s256_challenge(self.verifier),
            "code_challenge_method": "S256",
            **changes,
        }
        kept = {name: value for name, value in told.items() if value is not None}
        return f"{AUTHORIZE}?{urlencode(kept)}"

    async def post(self, form: dict[str, str | None]) -> httpx2.Response:
        """A form to the token endpoint, authenticated as this client is."""
        kept = {name: value for name, value in form.items() if value is not None}
        if self.secret:
            return await self.http.post("/oauth/token", data=kept, auth=(self.client_id, self.secret))
        return await self.http.post("/oauth/token", data={"client_id": self.client_id, **kept})

    async def redeem(self, code: str, /, **changes: str | None) -> httpx2.Response:
        """Exchange a code."""
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        return await self.post({**form, **changes})

    async def refresh(self, token: str, /, **changes: str | None) -> httpx2.Response:
        """Use a refresh token."""
        return await self.post({"grant_type": "refresh_token", "refresh_token": token, **changes})


@dataclass
class ConsentingUser:
    """Somebody with an account, in front of a browser that keeps cookies."""

    http: httpx2.AsyncClient
    user_id: str = ""
    email: str = "ada@example.com"

    async def sign_in(self, password: str = PASSWORD) -> None:
        """Sign in by the form."""
        page = await self.http.get("/sign-in?again=1")
        form = {"csrf": csrf_token(page), "email": self.email, "password": password}
        assert (await self.http.post("/sign-in", data=form)).status_code in {200, 303}

    async def decide(self, path: str, *, decision: str = "allow", without: tuple[str, ...] = ()) -> httpx2.Response:
        """Follow the client's link, and answer the consent page."""
        page = await self.http.get(path)
        assert page.status_code == 200, (page.status_code, page.headers.get("location"), page.text)
        return await self.answer(page, decision=decision, without=without)

    async def answer(
        self, page: httpx2.Response, *, decision: str = "allow", without: tuple[str, ...] = ()
    ) -> httpx2.Response:
        """Send the form of a consent page."""
        boxes = {name: "on" for name in _BOX.findall(page.text) if name[6:] not in without}
        form = {"csrf": csrf_token(page), "decision": decision, **boxes}
        action = _ACTION.search(page.text)
        assert action, page.text
        return await self.http.post(unescape(action[1]), data=form)

    async def code(self, app: ClientApp, **changes: str | None) -> str:
        """A code for this client, by consent or because it was given before."""
        answer = await self.http.get(app.asks(**changes))
        if answer.status_code == 200:
            answer = await self.answer(answer)
        return told(answer)["code"]

    async def tokens(self, app: ClientApp, **changes: str | None) -> dict[str, Any]:
        """The whole way to tokens."""
        answer = await app.redeem(await self.code(app, **changes))
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body


def csrf_token(page: httpx2.Response) -> str:
    """The token in the forms of a page."""
    found = _HIDDEN.search(page.text)
    assert found, page.text
    return unescape(found[1])


def told(answer: httpx2.Response, at: str = CALLBACK) -> dict[str, str]:
    """What a redirect tells the client; it names the issuer and goes where it should."""
    assert answer.status_code == 303, answer.text
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == at
    found = {name: value for name, (value,) in parse_qs(where.query).items()}
    assert found["iss"] == BASE
    return found


@pytest_asyncio.fixture
async def ada(application: Starlette, change: Change) -> AsyncGenerator[ConsentingUser]:
    """A user with an account, signed in."""
    hashed = user_queries.hash_password(PASSWORD)
    user_id = await change(
        lambda tx: user_queries.add(tx, "ada@example.com", name="Ada", password_hash=hashed, actor="operator")
    )
    async with connect(application, "203.0.113.20") as http:
        user = ConsentingUser(http, user_id)
        await user.sign_in()
        yield user


@pytest_asyncio.fixture
async def public_app(client: httpx2.AsyncClient, change: Change) -> ClientApp:
    """A client without a secret that an operator added."""
    new = NewClient("Notes", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), (CALLBACK,), "none")
    client_id, _ = await change(lambda tx: clients.add(tx, new))
    return ClientApp(client, client_id)


@pytest_asyncio.fixture
async def web_app(client: httpx2.AsyncClient, change: Change) -> ClientApp:
    """A client with a secret that an operator added."""
    new = NewClient("Notes on the web", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), (CALLBACK,))
    client_id, secret = await change(lambda tx: clients.add(tx, new))
    return ClientApp(client, client_id, secret)


@asynccontextmanager
async def service_and_user(settings: Settings, **overrides: Any) -> AsyncGenerator[tuple[Starlette, ConsentingUser]]:
    """A service with one user, signed in."""
    allowed = make_settings(settings.data_dir, settings.keys_dir, **overrides)
    async with running(allowed) as application, connect(application) as http:
        store = make_store(settings.database_url)
        await store.start()
        hashed = user_queries.hash_password(PASSWORD)
        await store.write(lambda tx: user_queries.add(tx, "ada@example.com", password_hash=hashed, actor="operator"))
        await store.close()
        user = ConsentingUser(http)
        await user.sign_in()
        yield application, user
