"""The code flow against four real workers: by a client that others wrote, and by fifty at once."""

import asyncio
import json
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import pytest_asyncio

from negotiator.base.scopes import ASSISTANT
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from negotiator.users import user_queries
from tests.conftest import bearer
from tests.helpers.code_flow import CALLBACK, PASSWORD, ClientApp, ConsentingUser
from tests.helpers.live_server import ROUNDS, Server

pytestmark = pytest.mark.asyncio
LIST = "/api/negotiations"


async def _account(server: Server, email: str) -> None:
    hashed = user_queries.hash_password(PASSWORD)

    def unit(tx: Transaction) -> None:
        if user_queries.by_email(tx, email) is None:
            user_queries.add(tx, email, name="Ada", password_hash=hashed, actor="operator")

    await server.change(unit)


@pytest_asyncio.fixture
async def app(server: Server) -> ClientApp:
    """A public client that an operator added, over connections of its own."""
    new = NewClient("live", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), (CALLBACK,), "none")
    client_id, _ = await server.change(lambda tx: clients.add(tx, new))
    return ClientApp(server.connect(), client_id)


async def _signed_in(server: Server, http: httpx2.AsyncClient, email: str) -> ConsentingUser:
    await _account(server, email)
    user = ConsentingUser(http, email=email)
    await user.sign_in()
    return user


def _code(answer: httpx2.Response) -> str:
    assert answer.status_code == 303, answer.text
    return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]


async def _allowed(user: ConsentingUser, app: ClientApp) -> str:
    """A code, asked for on the page or not."""
    page = await user.http.get(app.asks())
    return _code(await user.answer(page) if page.status_code == 200 else page)


@pytest.mark.parametrize(
    ("kind", "told"), [("bearer", {"type": "bearer"}), ("dpop", {"type": "dpop", "unbound": "invalid_grant"})]
)
async def test_openid_client_registers_itself_and_goes_all_the_way(
    server: Server, modules: Path, kind: str, told: dict[str, str]
) -> None:
    """Discovery, registration, PKCE, `iss`, ID token, userinfo, refresh, revocation; with DPoP a bound code too."""
    node = shutil.which("node")
    assert node is not None, "node is missing beside npm"
    running = await asyncio.create_subprocess_exec(
        node,
        "code-flow.mjs",
        server.base,
        kind,
        cwd=modules,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert running.stdin
    assert running.stdout
    assert running.stderr
    first = await running.stdout.readline()
    assert first, (await running.stderr.read()).decode()
    async with server.connect() as http:
        user = await _signed_in(server, http, "ada@live.example")
        back = await user.decide(json.loads(first)["go"])
    rest, said = await asyncio.wait_for(running.communicate(f"{back.headers['location']}\n".encode()), 60)
    assert running.returncode == 0, said.decode()
    assert json.loads(rest) == {
        "issuer": server.base,
        "scope": "openid profile negotiations:read",
        "sub": True,
        "name": "Ada",
        "renewed": True,
        "mixed": "OAUTH_INVALID_RESPONSE",
        "after": "invalid_token",
        "ended": "invalid_grant",
        **told,
    }


async def test_of_fifty_who_redeem_one_code_one_wins_and_loses_it_again(server: Server, app: ClientApp) -> None:
    async with server.connect() as http, app.http:
        user = await _signed_in(server, http, "eve@live.example")
        for _ in range(ROUNDS):
            code = await _allowed(user, app)
            answers = await asyncio.gather(*(app.redeem(code) for _ in range(50)))
            won = [answer.json() for answer in answers if answer.status_code == 200]
            assert len(won) == 1
            others = {a.json()["error"] for a in answers if a.status_code != 200}
            assert others == {"invalid_grant"}
            assert (await app.http.get(LIST, headers=bearer(won[0]))).status_code == 401


async def test_fifty_who_refresh_at_once_get_one_next_token_and_the_old_one_ends_all_once_that_was_used(
    server: Server, app: ClientApp
) -> None:
    async with server.connect() as http, app.http:
        user = await _signed_in(server, http, "fay@live.example")
        for _ in range(ROUNDS):
            tokens = (await app.redeem(await _allowed(user, app))).json()
            answers = await asyncio.gather(*(app.refresh(tokens["refresh_token"]) for _ in range(50)))
            assert {answer.status_code for answer in answers} == {200}
            [following] = {answer.json()["refresh_token"] for answer in answers}
            last = (await app.refresh(following)).json()
            assert (await app.refresh(tokens["refresh_token"])).status_code == 400
            for dead in (tokens, last):
                assert (await app.http.get(LIST, headers=bearer(dead))).status_code == 401
            assert (await app.refresh(last["refresh_token"])).status_code == 400
