"""What the claims of a well-signed assertion must say, each fault beside a valid twin."""

from typing import Any

import pytest

from negotiator.trust.assertions import AssertionVerifier
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.issuers import Issuer
from negotiator.trust.keysets import IssuerKeys
from tests.helpers.forged_assertions import ABSENT, BASE, IDP, NOW, SECONDS, StaticKeys, accepted, issuer, reason, token

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("value", [ABSENT, None, "", ["agent-1"], 5, "agent-2", "https://cimd.example/x"])
async def test_without_client_authentication_the_issuer_s_list_decides(value: Any) -> None:
    listed = issuer(clients=frozenset({"agent-1"}))
    assert await reason(token(client_id=value), listed) == Reason.CLIENT
    assert await reason(token(client_id="agent-1"), listed) is None


async def test_an_issuer_without_a_list_restricts_no_client() -> None:
    assert await reason(token(client_id="anybody"), issuer()) is None
    assert await reason(token(client_id=""), issuer()) == Reason.CLIENT


async def test_an_authenticated_client_uses_its_own_assertions_only() -> None:
    listed = issuer(clients=frozenset({"agent-1"}))
    assert await reason(token(client_id="agent-1"), listed, client_id="agent-9") == Reason.CLIENT
    assert await reason(token(client_id="agent-9"), listed, client_id="agent-9") is None


async def test_a_tenant_is_there_exactly_when_the_issuer_has_tenants() -> None:
    single, many = issuer(), issuer(tenanted=True)
    assert await reason(token(tenant="t1"), many) is None
    assert (await accepted(token(tenant="t1"), many)).tenant == "t1"
    assert await reason(token(), many) == Reason.MALFORMED
    assert await reason(token(tenant="t1"), single) == Reason.MALFORMED
    assert await reason(token(tenant=""), many) == Reason.MALFORMED


@pytest.mark.parametrize("cnf", [{"jkt": "abc"}, {"x5t#S256": "abc"}, {"jkt": "a", "kid": "b"}, {}])
async def test_an_assertion_bound_to_a_key_needs_a_proof(cnf: Any) -> None:
    assert await reason(token(cnf=cnf)) == Reason.PROOF


@pytest.mark.parametrize("name", ["cnf", "act", "sub_id"])
async def test_what_is_an_object_is_no_other_thing(name: str) -> None:
    for value in ("x", None, [1], 5):
        assert await reason(token(**{name: value})) == Reason.MALFORMED


@pytest.mark.parametrize("value", [{}, "x", None, [{"type": "payment"}], 1, False])
async def test_authorization_details_have_no_type_here(value: Any) -> None:
    assert await reason(token(authorization_details=value)) == Reason.MALFORMED
    assert await reason(token(authorization_details=[])) is None


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (BASE, None),
        ([f"{BASE}/mcp"], None),
        ("https://other.example", Reason.RESOURCE),
        ([BASE, "https://other.example"], Reason.RESOURCE),
        (f"{BASE}/", Reason.RESOURCE),
        ([], Reason.MALFORMED),
        ([5], Reason.MALFORMED),
        (None, Reason.MALFORMED),
        ({}, Reason.MALFORMED),
    ],
)
async def test_a_resource_is_one_of_ours(resource: Any, expected: Reason | None) -> None:
    assert await reason(token(resource=resource)) == expected


@pytest.mark.parametrize("scope", [5, None, ["a"], "a\tb", "é", 'a"b'])
async def test_a_scope_claim_is_a_scope_string(scope: Any) -> None:
    assert await reason(token(scope=scope)) == Reason.MALFORMED


async def test_no_scope_claim_and_an_empty_one_differ() -> None:
    assert (await accepted(token())).scopes is None
    assert (await accepted(token(scope=""))).scopes == ()


@pytest.mark.parametrize("verified", ["true", 1, None, [], "false"])
async def test_verified_is_a_boolean(verified: Any) -> None:
    text = token(email="ada@corp.example", email_verified=verified)
    assert await reason(text) == Reason.UNVERIFIED_EMAIL


@pytest.mark.parametrize(
    ("said", "email"),
    [
        ({"email": "ada@corp.example", "email_verified": True}, "ada@corp.example"),
        ({"email": "not an address", "email_verified": True}, None),
        ({"email": "\u212aate@corp.example", "email_verified": True}, None),
        ({"email": '"ada<x>"@corp.example', "email_verified": True}, None),
        ({"email": "a,b@corp.example", "email_verified": True}, None),
        ({"email": "=?utf-8?q?ada?=@corp.example", "email_verified": True}, None),
        ({"email": "a.b+c_d'e=f@corp.example", "email_verified": True}, "a.b+c_d'e=f@corp.example"),
        ({"email_verified": True}, None),
    ],
)
async def test_an_id_jag_gives_an_address_only_when_verified(said: dict[str, Any], email: str | None) -> None:
    found = await accepted(token(**said))
    assert (found.email, found.email_verified) == (email, email is not None)


async def test_an_id_jag_issuer_speaks_for_its_domains_when_it_has_some() -> None:
    text = token(email="ada@corp.example", email_verified=True)
    assert (await accepted(text, issuer(email_domains=("corp.example",)))).email is not None
    assert (await accepted(text, issuer(email_domains=("b.example",)))).email is None


@pytest.mark.parametrize("said", [{"email_verified": False}, {}])
async def test_an_id_jag_with_an_unverified_address_is_refused(said: dict[str, Any]) -> None:
    text = token(email="ada@corp.example", **said)
    assert await reason(text) == Reason.UNVERIFIED_EMAIL


VERIFIED = {"email": "ada@corp.example", "email_verified": True}


@pytest.mark.parametrize(
    ("said", "settings", "expected"),
    [
        (VERIFIED, {"email_domains": ("Corp.example",)}, None),
        (VERIFIED | {"email": "ada@CORP.example"}, {"email_domains": ("corp.example",)}, None),
        (VERIFIED, {"email_domains": ()}, None),
        (VERIFIED, {"email_domains": ("orp.example",)}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": "a@x.corp.example"}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": "a@corp.example@evil.example"}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": "a@corp.example "}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": "a@\u212aorp.example"}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": ABSENT}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email": 5}, {}, Reason.MALFORMED),
        (VERIFIED | {"email_verified": ABSENT}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email_verified": False}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email_verified": "true"}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED | {"email_verified": 1}, {}, Reason.UNVERIFIED_EMAIL),
        (VERIFIED, {"email_verifier": False}, Reason.ISSUER),
    ],
)
async def test_a_verified_address_comes_from_a_verifier_for_its_domain(
    said: dict[str, Any], settings: dict[str, Any], expected: Reason | None
) -> None:
    trusted = issuer(**({"email_verifier": True, "email_domains": ("corp.example",)} | settings))
    assert await reason(token(**said), trusted, kind="verified_email") == expected


async def test_a_lookup_that_forgives_spelling_does_no_harm() -> None:
    async def careless(_: str) -> Issuer:
        return issuer()

    def clock() -> int:
        return NOW

    keys = IssuerKeys(StaticKeys(), clock)
    careful = AssertionVerifier(audience=BASE, resources=frozenset(), find_issuer=careless, keys=keys, clock=clock)
    assert (await careful.verify(token(), kind="id_jag")).subject == "user-1"
    with pytest.raises(AssertionRefused, match="issuer"):
        await careful.verify(token(iss=IDP.upper()), kind="id_jag")


async def test_a_name_that_cannot_be_shown_is_left_out() -> None:
    for name in ("\u202eevil", "x" * 256, 5, None, "a\nb"):
        assert (await accepted(token(name=name))).name is None
    assert (await accepted(token(name="Zoë Łuk"))).name == "Zoë Łuk"


@pytest.mark.parametrize(
    ("auth_time", "fresh"),
    [
        (SECONDS - 3600, True),
        (SECONDS - 3660, True),
        (SECONDS - 3661, False),
        (SECONDS + 60, True),
        (SECONDS + 61, False),
        (ABSENT, False),
        (str(SECONDS), False),
        (True, False),
    ],
)
async def test_a_stale_login_is_to_be_repeated(auth_time: Any, fresh: bool) -> None:
    trusted, text = issuer(max_auth_age=3600), token(auth_time=auth_time)
    if fresh:
        assert await reason(text, trusted) is None
        return
    with pytest.raises(AssertionRefused) as refused:
        await accepted(text, trusted)
    assert (refused.value.reason, refused.value.max_age) == (Reason.LOGIN_REQUIRED, 3600)


@pytest.mark.parametrize("value", ["x", [], ["a", 5], {}, None])
async def test_methods_are_a_list_of_texts(value: Any) -> None:
    assert await reason(token(amr=value)) == Reason.MALFORMED
