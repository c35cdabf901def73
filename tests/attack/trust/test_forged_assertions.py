"""Forged and misused ID-JAGs at both endpoints: refused without a trace, while a harmless twin is accepted."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.forged_assertions import ABSENT, encode, header, hmac_token, jwk, unknown_key
from tests.helpers.forger import (
    ASSERTION_ENDPOINTS,
    BAD_KEYS,
    FRESH,
    IDP,
    MANY_KEYS,
    OTHER,
    RS_ONLY,
    TENANTS,
    Forger,
    Forgery,
    RelativeSeconds,
    refused,
)
from tests.helpers.form_browser import BASE

GRANT = (400, "invalid_grant")
REQUEST, SIGNATURE = (400, "invalid_request"), (400, "invalid_signature")
ISSUER, AUDIENCE = (400, "issuer_not_enabled"), (400, "invalid_audience")
EXPIRED, CLIENT = (400, "expired"), (400, "invalid_client_id")
GOOD = Forgery()


@dataclass(frozen=True, slots=True)
class Attack:
    """One numbered forgery, the answers of both endpoints, and its harmless twin."""

    number: int
    name: str
    bad: Forgery
    register: tuple[int, str]
    good: Forgery = GOOD
    token: tuple[int, str] = GRANT


def _claims(**changes: Any) -> Forgery:
    return Forgery(claims=changes)


def _head(**changes: Any) -> Forgery:
    return Forgery(head=changes)


def _unsigned(text: str) -> str:
    head, _, rest = text.partition(".")
    return f"{encode({**header(), 'alg': 'none'})}.{rest.partition('.')[0]}." if head else text


def _repeat(member: str, value: str) -> Forgery:
    def raw(claims: dict[str, Any]) -> bytes:
        return f"{{{json.dumps(member)}: {json.dumps(value)}, {json.dumps(claims)[1:]}".encode()

    return Forgery(raw=raw)


def _nested(depth: int) -> dict[str, Any]:
    actor: dict[str, Any] = {"sub": "forged"}
    for _ in range(depth):
        actor = {"act": actor}
    return actor


_PLANTED = {"jwk": jwk("ES256"), "x5c": ["MII"], "jku": "https://evil.example/jwks"}
_SECEVENT = ["JWT", "at+jwt", "secevent+jwt", "dpop+jwt", "logout+jwt", "client-authentication+jwt"]
_KIDS: list[tuple[Any, tuple[int, str]]] = [
    *((kid, SIGNATURE) for kid in ("../../keys/x", "' OR 1=1 --", "ES256 ", "es256")),
    *((kid, REQUEST) for kid in ("k" * 1400, "a\x00b", 7, ["ES256"], None, {"$ne": 1})),
]

ATTACKS = [
    Attack(15, "an algorithm of none", Forgery(finish=_unsigned), SIGNATURE),
    Attack(15, "none in another spelling", _head(alg="nOnE"), SIGNATURE),
    Attack(15, "an empty signature", Forgery(finish=lambda text: text.rpartition(".")[0] + "."), SIGNATURE),
    Attack(
        16,
        "the public key as an HMAC secret",
        Forgery(finish=lambda _: hmac_token(json.dumps(jwk("ES256")).encode())),
        # Its audience and clock would be wrong too; the algorithm is looked at first.
        SIGNATURE,
    ),
    Attack(17, "a stranger's key", Forgery(key=unknown_key("ES256")), SIGNATURE),
    Attack(
        18,
        "an algorithm the issuer does not use",
        _claims(iss=RS_ONLY),
        SIGNATURE,
        Forgery(claims={"iss": RS_ONLY}, alg="RS256"),
    ),
    Attack(
        19,
        "a curve that does not fit the algorithm",
        Forgery(claims={"iss": BAD_KEYS}, head={"kid": "wrong-curve"}),
        SIGNATURE,
        _claims(iss=BAD_KEYS),
    ),
    Attack(
        20,
        "the attacker's key in the header",
        Forgery(head=_PLANTED, key=unknown_key("ES256")),
        SIGNATURE,
        Forgery(head=_PLANTED),
    ),
    *(Attack(22, f"the kid {str(kid)[:12]}", _head(kid=kid), error) for kid, error in _KIDS),
    Attack(
        24,
        "no kid among several keys",
        Forgery(claims={"iss": MANY_KEYS}, head={"kid": ABSENT}),
        SIGNATURE,
        _claims(iss=MANY_KEYS),
    ),
    Attack(
        26, "one issuer's key for another", _claims(iss=OTHER), SIGNATURE, Forgery(claims={"iss": OTHER}, alg="ES384")
    ),
    *(
        Attack(28, f"the issuer {name}", _claims(iss=name), ISSUER)
        for name in (f"{IDP}.evil", f"{IDP}/", IDP.upper(), "https://idp.corp", f"{IDP}#", BASE)
    ),
    Attack(28, "no issuer", _claims(iss=ABSENT), REQUEST),
    *(Attack(31, f"a token of type {typ}", _head(typ=typ), REQUEST) for typ in _SECEVENT),
    Attack(31, "a token of no type", _head(typ=ABSENT), REQUEST),
    Attack(
        32,
        "an ID token for our client",
        Forgery(claims={"aud": "corp-agent", "nonce": "n"}, head={"typ": "JWT"}),
        REQUEST,
    ),
    Attack(33, "an extension we must not ignore", _head(crit=["exp"]), REQUEST),
    *(
        Attack(34, f"{name} twice", _repeat(name, value), REQUEST)
        for name, value in (("sub", "root"), ("aud", BASE), ("iss", OTHER), ("client_id", "x"))
    ),
    Attack(35, "two audiences", _claims(aud=[BASE, OTHER]), AUDIENCE, _claims(aud=[BASE])),
    *(
        Attack(37, f"the audience {aud}", _claims(aud=aud), AUDIENCE)
        for aud in (f"{BASE}/oauth/token", f"{BASE}/", f"{BASE}/mcp", BASE.upper(), "", [OTHER])
    ),
    Attack(37, "an audience that is a number", _claims(aud=7), REQUEST),
    Attack(37, "an audience that is an object", _claims(aud={"a": BASE}), REQUEST),
    Attack(37, "a tenant of ours", _claims(aud_tenant="t"), AUDIENCE),
    Attack(38, "no audience", _claims(aud=ABSENT), REQUEST),
    Attack(
        39,
        "a minute and two seconds over",
        _claims(iat=RelativeSeconds(-300), exp=RelativeSeconds(-62)),
        EXPIRED,
        _claims(iat=RelativeSeconds(-300), exp=RelativeSeconds(-55)),
    ),
    Attack(41, "ten years of life", _claims(exp=RelativeSeconds(315_360_000)), EXPIRED),
    Attack(41, "made ten years ago", _claims(iat=RelativeSeconds(-315_360_000)), EXPIRED),
    Attack(
        42,
        "made in two minutes",
        _claims(iat=RelativeSeconds(120), exp=RelativeSeconds(300)),
        EXPIRED,
        _claims(iat=RelativeSeconds(30), exp=RelativeSeconds(300)),
    ),
    Attack(42, "not before tomorrow", _claims(nbf=RelativeSeconds(86_400)), EXPIRED, _claims(nbf=RelativeSeconds(0))),
    Attack(43, "an expiry in quotes", _claims(exp="4102444800"), REQUEST),
    *(
        Attack(44, f"the jti {str(jti)[:9]}", _claims(jti=jti), REQUEST)
        for jti in (ABSENT, "", 7, "x" * 2000, None, "a\x00b")
    ),
    *(Attack(44, f"the subject {sub}", _claims(sub=sub), REQUEST) for sub in (ABSENT, 7)),
    *(
        Attack(51, f"the client {client}", _claims(client_id=client), CLIENT)
        for client in (ABSENT, ["corp-agent"], "other", "https://evil.example/client.json", "")
    ),
    Attack(56, "no tenant", _claims(iss=TENANTS), REQUEST, _claims(iss=TENANTS, tenant="a")),
    Attack(56, "a tenant where there are none", _claims(tenant="a"), REQUEST),
    Attack(58, "a sub_id that is a text", _claims(sub_id="root"), REQUEST, _claims(sub_id={"id": "x"})),
    *(
        Attack(
            62,
            f"a login at {at}",
            _claims(iss=FRESH, auth_time=at),
            (401, "login_required"),
            _claims(iss=FRESH, auth_time=RelativeSeconds(-60)),
            (400, "insufficient_user_authentication"),
        )
        for at in (ABSENT, RelativeSeconds(-7200), RelativeSeconds(7200), "now")
    ),
    Attack(63, "an actor a hundred deep", _claims(act=_nested(100)), REQUEST, _claims(act=_nested(2))),
    Attack(64, "a scope that is a list", _claims(scope=["openid"]), REQUEST, _claims(scope="openid")),
    Attack(
        67,
        "another resource beside ours",
        _claims(resource=[BASE, OTHER]),
        (400, "invalid_target"),
        _claims(resource=[BASE, f"{BASE}/mcp"]),
    ),
    Attack(
        69,
        "authorization details",
        _claims(authorization_details=[{"type": "payment"}]),
        REQUEST,
        _claims(authorization_details=[]),
    ),
    Attack(70, "a bound key without a proof", _claims(cnf={"jkt": "x" * 43}), GRANT),
    Attack(70, "an unknown binding", _claims(cnf={"x5t#S256": "x"}), GRANT),
    Attack(72, "a header of two kilobytes", _head(pad="x" * 2048), REQUEST, _head(pad="x" * 64)),
    Attack(72, "five parts", Forgery(finish=lambda text: f"{text}.AAAA.AAAA"), REQUEST),
    Attack(72, "padding", Forgery(finish=lambda text: text + "="), REQUEST),
    Attack(73, "braces around it", Forgery(finish=lambda text: f'{{"payload":"{text}"}}'), REQUEST),
]


@pytest.mark.asyncio
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.number} {attack.name}")
@covers("2.5:invalid_request", "2.5:invalid_signature", "2.5:issuer_not_enabled", "2.5:invalid_audience")
@covers("2.5:invalid_client_id", "2.5:expired", "3.1:invalid_grant")
async def test_a_forgery_is_refused_at_both_doors_and_its_twin_let_in(forger: Forger, attack: Attack) -> None:
    for door in ASSERTION_ENDPOINTS:
        before = forger.counts()
        forged = forger.forge(attack.bad, door)
        expected = attack.register if door == "register" else attack.token
        refused(await forger.present(door, forged), expected, forged)
        assert forger.counts() == before
        innocent = await forger.present(door, forger.forge(attack.good, door))
        assert innocent.status_code == (201 if door == "register" else 200), innocent.text
        assert "refresh_token" not in innocent.json()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("size", "register", "token"),
    [(8193, (413, "invalid_request"), GRANT), (70_000, (413, "invalid_request"), (413, "invalid_request"))],
)
async def test_an_endless_assertion_is_cut_off(
    forger: Forger, size: int, register: tuple[int, str], token: tuple[int, str]
) -> None:
    before = forger.counts()
    refused(await forger.present("register", "a" * size), register, "a" * size)
    refused(await forger.present("token", "a" * size), token, "a" * size)
    assert forger.counts() == before
