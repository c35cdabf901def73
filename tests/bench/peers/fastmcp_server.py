"""fastmcp's authorization server: dynamic registration and the ID-JAG grant, everything in memory.

`/register` and `/token` are its `OAuthProxy`, `/memory/register` is its `InMemoryOAuthProvider`, made for tests.
Its cache of spent assertions ends at 10,000 in five minutes and refuses the rest; here it is larger.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from fastmcp.server.auth import OAuthProxy
from fastmcp.server.auth.auth import ClientRegistrationOptions
from fastmcp.server.auth.identity_assertion import IdentityAssertion
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from key_value.aio.stores.memory import MemoryStore
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from tests.bench.settings import BASE, ISSUER

FOLDER: Final = Path(os.environ["FOLDER"])
KEYS: Final = json.loads((FOLDER / "jwks.json").read_text())


async def keys(_request: Request) -> JSONResponse:
    return JSONResponse(KEYS)


memory = InMemoryOAuthProvider(base_url=BASE, client_registration_options=ClientRegistrationOptions(enabled=True))
proxy: Any = OAuthProxy(
    upstream_authorization_endpoint=f"{ISSUER}/authorize",
    upstream_token_endpoint=f"{ISSUER}/token",
    upstream_client_id="upstream",
    upstream_client_secret="secret",
    token_verifier=StaticTokenVerifier({}),
    base_url=BASE,
    client_storage=MemoryStore(max_entries_per_collection=sys.maxsize),
    jwt_signing_key="a-key-of-the-benchmark",
    identity_assertion=IdentityAssertion(
        trusted_issuers=[ISSUER], jwks_uris={ISSUER: f"http://127.0.0.1:{os.environ['PORT']}/jwks"}, algorithm="ES256"
    ),
)
proxy._identity_assertion_validator._jti_cache_max_size = sys.maxsize
app = Starlette(routes=[Route("/jwks", keys), Mount("/memory", routes=memory.get_routes()), *proxy.get_routes()])
