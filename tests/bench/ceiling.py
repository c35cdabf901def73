"""The least that these requests cost on this stack: Starlette, uvicorn, `sqlite3`, one writer that commits in groups.

It does what an acknowledged answer needs (signed tokens, durable rows, replay and revocation of a token) and nothing
else: no limits, no audit, no idempotency, no erasure, no documentation. `FOLDER` holds the keys and the database.

| Route | Work |
|---|---|
| `POST /api/agent/register` | anonymous or by ID-JAG: verified, one use, an agent and a token stored, ES256 signed |
| `POST /oauth/token` | client_credentials: Basic, SHA-256, a token stored, ES256 signed |
| `POST /api/negotiations` | stores the body for the token's owner |
| `GET /api/negotiations`, `GET /api/negotiations/{id}` | token verified and looked up, rows as they were stored |
"""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import itertools
import os
import queue
import secrets
import sqlite3
import threading
import time
import urllib.parse
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import jwt
import orjson
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.bench.settings import BASE, CLIENT, ISSUER, SCOPES, SECRET, SUBJECT

FOLDER: Final = Path(os.environ["FOLDER"])
MORE: Final = f'],"next_cursor":"{os.environ["CURSOR"]}"}}'.encode()
"""The end of a list that goes on."""
LIFE: Final = 3600
BATCH: Final = 256
REMEMBERED: Final = 50_000
SCOPE: Final = " ".join(SCOPES)
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
TABLES: Final = """
create table agent(id text primary key, name text, kind text, subject text, scopes text, created integer) without rowid;
create table token(jti text primary key, owner text, exp integer, revoked integer default 0) without rowid;
create table spent(iss text, jti text, exp integer, primary key(iss, jti)) without rowid;
create table delegation(iss text, sub text, user text, scopes text, primary key(iss, sub)) without rowid;
create table client(id text primary key, secret blob, scopes text) without rowid;
create table negotiation(id integer primary key, owner text, document blob);
create index negotiation_owner on negotiation(owner, id desc);
"""


def private_key(name: str) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key((FOLDER / name).read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def segment(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


KEY: Final = private_key("as.pem")
PUBLIC: Final = KEY.public_key()
PROVIDER: Final = private_key("idp.pem").public_key()
ALGORITHM: Final = ec.ECDSA(hashes.SHA256())
HEADER: Final = segment(b'{"alg":"ES256","kid":"k1","typ":"at+jwt"}') + b"."
NUMBERS: Final = itertools.count()


def new_id() -> str:
    """Ids that grow, so that rows are appended."""
    return f"{time.time_ns() // 1_000_000:012x}{next(NUMBERS) & 0xFFF:03x}{secrets.token_hex(8)}"


def signed(owner: str, jti: str, scope: str, now: int) -> str:
    claims = {"iss": BASE, "aud": BASE, "sub": owner, "client_id": owner, "iat": now}
    claims |= {"exp": now + LIFE, "jti": jti, "scope": scope}
    message = HEADER + segment(orjson.dumps(claims))
    r, s = decode_dss_signature(KEY.sign(message, ALGORITHM))
    return (message + b"." + segment(r.to_bytes(32, "big") + s.to_bytes(32, "big"))).decode()


def verified(token: str, key: ec.EllipticCurvePublicKey, typ: str, issuer: str) -> dict[str, Any]:
    decoded = jwt.decode_complete(
        token, key, ["ES256"], {"require": ["exp", "iat", "sub", "jti", "client_id"]}, audience=BASE, issuer=issuer
    )
    if decoded["header"].get("typ") != typ:
        raise jwt.InvalidTokenError("typ")
    return decoded["payload"]


def connect() -> sqlite3.Connection:
    db = sqlite3.connect(FOLDER / "ceiling.db", check_same_thread=False, isolation_level=None)
    for pragma in ("journal_mode=wal", "synchronous=full", "busy_timeout=5000", "cache_size=-32000"):
        db.execute(f"pragma {pragma}")
    return db


class Writer:
    """One thread that commits up to `BATCH` units at a time; a checkpoint runs beside it."""

    def __init__(self) -> None:
        self._units: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, daemon=True).start()
        threading.Thread(target=self._checkpoint, daemon=True).start()

    async def write(self, unit: Callable[[sqlite3.Connection], Any]) -> Any:
        future = self._loop.create_future()
        self._units.put((unit, future))
        return await future

    def _run(self) -> None:
        db = connect()
        db.execute("pragma wal_autocheckpoint=0")
        while True:
            batch = [self._units.get()]
            with contextlib.suppress(queue.Empty):
                while len(batch) < BATCH:
                    batch.append(self._units.get_nowait())
            results: list[tuple[Any, Any, Exception | None]] = []
            db.execute("begin immediate")
            for unit, future in batch:
                db.execute("savepoint unit")
                try:
                    results.append((future, unit(db), None))
                except sqlite3.IntegrityError as error:
                    db.execute("rollback to unit")
                    results.append((future, None, error))
                db.execute("release unit")
            db.execute("commit")
            self._loop.call_soon_threadsafe(self._answer, results)

    def _answer(self, results: list[tuple[Any, Any, Exception | None]]) -> None:
        for future, result, error in results:
            if not future.done():
                future.set_exception(error) if error else future.set_result(result)

    def _checkpoint(self) -> None:
        db = connect()
        while True:
            time.sleep(0.2)
            db.execute("pragma wal_checkpoint(passive)").fetchone()


def answer(content: Any, status: int = 200) -> Response:
    body = content if isinstance(content, bytes) else orjson.dumps(content)
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


async def register(request: Request) -> Response:
    body = orjson.loads(await request.body())
    name, now, agent, jti = body.get("agent_name"), int(time.time()), f"agt_{new_id()}", new_id()
    if not isinstance(name, str) or not 0 < len(name) <= 200:
        return answer({"error": "invalid_request"}, 400)
    if body.get("identity_type") != "identity_assertion":

        def anonymous(db: sqlite3.Connection) -> None:
            values = (agent, name, "anonymous", None, SCOPE, now)
            db.execute("insert into agent values (?,?,?,?,?,?)", values)
            db.execute("insert into token values (?,?,?,0)", (jti, agent, now + LIFE))

        await request.state.writer.write(anonymous)
        return registered(agent, jti, now)
    if body.get("assertion_type") != ID_JAG:
        return answer({"error": "invalid_request"}, 400)
    try:
        claims = verified(body["assertion"], PROVIDER, "oauth-id-jag+jwt", ISSUER)
    except jwt.InvalidTokenError:
        return answer({"error": "invalid_grant"}, 400)

    def delegated(db: sqlite3.Connection) -> bool:
        find = "select user, scopes from delegation where iss = ? and sub = ?"
        row = db.execute(find, (ISSUER, claims["sub"])).fetchone()
        if not row:
            return False
        db.execute("insert into spent values (?,?,?)", (ISSUER, claims["jti"], claims["exp"]))
        values = (agent, name, "id-jag", row[0], row[1], now)
        db.execute("insert into agent values (?,?,?,?,?,?)", values)
        db.execute("insert into token values (?,?,?,0)", (jti, agent, now + LIFE))
        return True

    try:
        if not await request.state.writer.write(delegated):
            return answer({"error": "access_denied"}, 403)
    except sqlite3.IntegrityError:
        return answer({"error": "invalid_grant"}, 400)
    return registered(agent, jti, now)


def registered(agent: str, jti: str, now: int) -> Response:
    token = signed(agent, jti, SCOPE, now)
    content = {"client_id": agent, "access_token": token, "token_type": "Bearer"}
    return answer({**content, "expires_in": LIFE, "scopes": SCOPES}, 201)


async def issue(request: Request) -> Response:
    form = urllib.parse.parse_qs((await request.body()).decode())
    header = request.headers.get("authorization", "")
    if form.get("grant_type") != ["client_credentials"] or not header.startswith("Basic "):
        return answer({"error": "invalid_request"}, 400)
    client, _, secret = base64.b64decode(header[6:]).decode().partition(":")
    find = "select secret, scopes from client where id = ?"
    row = request.state.reader.execute(find, (client,)).fetchone()
    digest = hashlib.sha256(secret.encode()).digest()
    if not row or not hmac.compare_digest(row[0], digest):
        return answer({"error": "invalid_client"}, 401)
    scope = form["scope"][0]
    if not set(scope.split()) <= set(row[1].split()):
        return answer({"error": "invalid_scope"}, 400)
    now, jti = int(time.time()), new_id()
    insert = "insert into token values (?,?,?,0)"
    await request.state.writer.write(lambda db: db.execute(insert, (jti, client, now + LIFE)))
    token = {"access_token": signed(client, jti, scope, now), "token_type": "Bearer"}
    return answer({**token, "expires_in": LIFE, "scope": scope})


TOKENS: Final[dict[bytes, dict[str, Any]]] = {}


def owner(request: Request) -> str | None:
    """The owner of a valid token: its signature is remembered, its row is read every time."""
    token = request.headers.get("authorization", "")[7:]
    key = hashlib.sha256(token.encode()).digest()
    claims = TOKENS.get(key)
    if claims is None or claims["exp"] <= time.time():
        try:
            claims = verified(token, PUBLIC, "at+jwt", BASE)
        except jwt.InvalidTokenError:
            return None
        if len(TOKENS) > REMEMBERED:
            TOKENS.clear()
        TOKENS[key] = claims
    if "negotiations:read" not in claims["scope"].split():
        return None
    find = "select revoked from token where jti = ?"
    row = request.state.reader.execute(find, (claims["jti"],)).fetchone()
    return claims["sub"] if row and not row[0] else None


async def keep(request: Request) -> Response:
    if (who := owner(request)) is None:
        return answer({"error": "invalid_token"}, 401)
    body = await request.body()
    insert = "insert into negotiation(owner, document) values (?,?)"
    number = await request.state.writer.write(lambda db: db.execute(insert, (who, body)).lastrowid)
    return answer({"id": number}, 201)


async def listing(request: Request) -> Response:
    if (who := owner(request)) is None:
        return answer({"error": "invalid_token"}, 401)
    find = "select document from negotiation where owner = ? order by id desc limit 21"
    rows = request.state.reader.execute(find, (who,)).fetchall()
    end = MORE if len(rows) > 20 else b"]}"
    return answer(b'{"items":[' + b",".join(row[0] for row in rows[:20]) + end)


async def one(request: Request) -> Response:
    if (who := owner(request)) is None:
        return answer({"error": "invalid_token"}, 401)
    find = "select document from negotiation where owner = ? and id = ?"
    row = request.state.reader.execute(find, (who, request.path_params["id"])).fetchone()
    return answer(row[0]) if row else answer({"error": "not_found"}, 404)


@contextlib.asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
    reader = connect()
    reader.executescript(TABLES)
    reader.execute("insert into delegation values (?,?,?,?)", (ISSUER, SUBJECT, "u1", SCOPE))
    digest = hashlib.sha256(SECRET.encode()).digest()
    reader.execute("insert into client values (?,?,?)", (CLIENT, digest, SCOPE))
    yield {"reader": reader, "writer": Writer()}


app = Starlette(
    routes=[
        Route("/api/agent/register", register, methods=["POST"]),
        Route("/oauth/token", issue, methods=["POST"]),
        Route("/api/negotiations", keep, methods=["POST"]),
        Route("/api/negotiations", listing),
        Route("/api/negotiations/{id:int}", one),
    ],
    lifespan=lifespan,
)
