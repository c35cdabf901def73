"""Authlib on Flask, as its documentation shows it: client_credentials, ES256 tokens (RFC 9068), rows in SQLite."""

import hmac
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any, Final

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.jose import JsonWebKey
from authlib.oauth2.rfc6749 import ClientMixin
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc9068 import JWTBearerTokenGenerator
from flask import Flask

from tests.bench.settings import BASE, CLIENT, SECRET

FOLDER: Final = Path(os.environ["FOLDER"])
DATABASE: Final = FOLDER / "authlib.db"
SCOPE: Final = "negotiations:read"
KEY: Final = JsonWebKey.import_key((FOLDER / "as.pem").read_text(), {"kid": "k1", "alg": "ES256"})
local = threading.local()


def database() -> sqlite3.Connection:
    """The thread's connection, as durable as ours."""
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(DATABASE, timeout=30, isolation_level=None)
        local.db.execute("pragma journal_mode=wal")
        local.db.execute("pragma synchronous=full")
    return local.db


database().executescript(
    """
    create table if not exists client(id text primary key, secret text) without rowid;
    create table if not exists token(access_token text, client text, scope text, expires_in integer);
    """
)
database().execute("insert or ignore into client values (?, ?)", (CLIENT, SECRET))


class Client(ClientMixin):
    def __init__(self, identifier: str, secret: str) -> None:
        self.identifier = identifier
        self.secret = secret

    def get_client_id(self) -> str:
        return self.identifier

    def get_allowed_scope(self, scope: str) -> str:
        return scope if scope == SCOPE else ""

    def check_client_secret(self, client_secret: str) -> bool:
        return hmac.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "client_credentials"


class Tokens(JWTBearerTokenGenerator):
    def get_jwks(self) -> Any:
        return KEY

    def get_audiences(self, client: Any, user: Any, scope: Any) -> str:
        return BASE


def find_client(identifier: str) -> Client | None:
    row = database().execute("select * from client where id = ?", (identifier,)).fetchone()
    return Client(*row) if row else None


def save_token(token: dict[str, Any], request: Any) -> None:
    values = (token["access_token"], request.client.identifier, token["scope"], token["expires_in"])
    database().execute("insert into token values (?, ?, ?, ?)", values)


app = Flask(__name__)
server = AuthorizationServer(app, query_client=find_client, save_token=save_token)
server.register_grant(ClientCredentialsGrant)
server.register_token_generator("client_credentials", Tokens(BASE, alg="ES256"))


@app.post("/token")
def issue_token() -> Any:
    return server.create_token_response()
