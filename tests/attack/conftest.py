"""The stage of the attacks: both doors, issuers of every temper, a forger, and a count of what is left behind."""

import httpx2
import pytest_asyncio

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from negotiator.trust import issuer_queries
from negotiator.trust.issuers import Issuer
from tests.conftest import Change
from tests.helpers.forged_assertions import jwk, jwks
from tests.helpers.forger import AGENT, BAD_KEYS, FRESH, IDP, MAILS, MANY_KEYS, NARROW, OTHER, RS_ONLY, TENANTS, Forger
from tests.helpers.form_browser import BASE


def _issuers(client_id: str) -> list[Issuer]:
    keys = jwks(*(jwk(alg) for alg in ("ES256", "RS256", "EdDSA", "ES384")))
    allowed = frozenset({AGENT, client_id})
    curve = jwk("ES384", "wrong-curve", alg="ES256")
    return [
        Issuer(IDP, ("ES256", "EdDSA"), jwks=keys, clients=allowed),
        Issuer(OTHER, ("ES384",), jwks=jwks(jwk("ES384")), clients=allowed),
        Issuer(RS_ONLY, ("RS256",), jwks=keys, clients=allowed),
        Issuer(MANY_KEYS, ("ES256",), jwks=jwks(jwk("ES256"), jwk("ES256", "b")), clients=allowed),
        Issuer(BAD_KEYS, ("ES256",), jwks=jwks(curve, jwk("ES256")), clients=allowed),
        Issuer(TENANTS, ("ES256",), jwks=keys, clients=allowed, tenanted=True),
        Issuer(FRESH, ("ES256",), jwks=keys, clients=allowed, max_auth_age=3600),
        Issuer(MAILS, ("ES256",), jwks=keys, email_verifier=True, email_domains=("corp.example",)),
        Issuer(NARROW, ("ES256",), jwks=keys, clients=allowed, scopes=("memories:read",)),
    ]


@pytest_asyncio.fixture
async def forger(client: httpx2.AsyncClient, change: Change, settings: Settings) -> Forger:
    """A service that trusts nine issuers and knows one confidential client for both grants."""

    def unit(tx: Transaction) -> tuple[str, str]:
        known = clients.add(tx, NewClient("corp", clients.GRANTS, tuple(ASSISTANT)))
        for issuer in _issuers(known[0]):
            issuer_queries.add(tx, issuer, own=BASE, allow_loopback=False)
        return known

    client_id, secret = await change(unit)
    return Forger(client, str(settings.data_dir / "negotiator.db"), client_id, secret)
