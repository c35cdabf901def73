"""Attacks on assertions (ID-JAG, RFC 8725), each beside the twin that differs in that one thing."""

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from negotiator.trust.claims import AssertionRefused, Reason
from tests.helpers.forged_assertions import (
    ABSENT,
    BASE,
    IDP,
    NOW,
    SECONDS,
    TYP,
    accepted,
    claims,
    encode,
    header,
    hmac_token,
    issuer,
    jwk,
    jwks,
    private_key,
    reason,
    sign,
    token,
    unknown_key,
)

pytestmark = pytest.mark.asyncio


async def test_a_good_assertion_is_believed_with_everything_it_says() -> None:
    text = token(
        scope="memories:read ai:tactics memories:read",
        resource=[BASE, f"{BASE}/mcp"],
        email="Ada@Corp.example",
        email_verified=True,
        name="Ada L.",
        auth_time=SECONDS - 5,
        acr="loa2",
        amr=["pwd", "otp"],
        act={"sub": "forged-actor"},
        sub_id={"format": "saml-nameid", "issuer": "https://saml.example", "nameid": "root"},
    )
    trusted = issuer()
    found = await accepted(text, trusted)
    assert found.issuer is trusted
    assert (found.subject, found.client_id, found.jti) == ("user-1", "agent-1", "jti-1")
    assert found.tenant is None
    assert (found.issued_at, found.expires_at) == (NOW - 10_000, NOW + 290_000)
    assert found.scopes == ("memories:read", "ai:tactics")
    assert found.resources == (BASE, f"{BASE}/mcp")
    assert (found.email, found.email_verified) == ("Ada@Corp.example", True)
    assert (found.name, found.auth_time, found.acr) == ("Ada L.", NOW - 5000, "loa2")
    assert (found.amr, found.confirmation, found.kind) == (("pwd", "otp"), None, "id_jag")


@pytest.mark.parametrize("alg", ["RS256", "PS256", "ES256", "ES384", "EdDSA"])
async def test_every_allowed_algorithm_verifies_and_no_stranger_s_key_does(alg: str) -> None:
    trusted = issuer(algorithms=(alg,), jwks=jwks(jwk(alg)))
    head = header(alg=alg, kid=alg)
    assert await reason(sign(head, claims(), alg=alg), trusted) is None
    forged = sign(head, claims(), alg=alg, key=unknown_key(alg))
    assert await reason(forged, trusted) == Reason.SIGNATURE


async def test_what_another_library_signs_is_believed() -> None:
    text = jwt.encode(claims(), private_key("ES256"), "ES256", {"typ": TYP, "kid": "ES256"})
    assert await reason(text) is None


async def test_ed25519_is_understood_under_its_newer_name() -> None:
    trusted = issuer(algorithms=("Ed25519",), jwks=jwks(jwk("EdDSA", alg="Ed25519")))
    assert await reason(sign(header(alg="Ed25519", kid="EdDSA"), claims(), alg="EdDSA"), trusted) is None


@pytest.mark.parametrize("alg", ["none", "nOnE", "HS256", "es256", "", None, 5, ABSENT, "ES512", ["ES256"]])
async def test_no_other_algorithm_is_taken(alg: Any) -> None:
    assert await reason(sign(header(alg=alg), claims())) == Reason.SIGNATURE
    unsigned = f"{encode(header(alg=alg))}.{encode(claims())}."
    assert await reason(unsigned) == Reason.SIGNATURE


async def test_an_empty_signature_is_none() -> None:
    assert await reason(token().rpartition(".")[0] + ".") == Reason.SIGNATURE


async def test_a_public_key_is_no_hmac_secret() -> None:
    public = private_key("ES256").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assert await reason(hmac_token(pem)) == Reason.SIGNATURE


async def test_an_algorithm_outside_the_issuer_s_list_is_refused() -> None:
    text = sign(header(alg="RS256", kid="RS256"), claims(), alg="RS256")
    assert await reason(text, issuer(algorithms=("ES256",))) == Reason.SIGNATURE
    assert await reason(text, issuer(algorithms=("ES256", "RS256"))) is None


async def test_a_key_made_for_one_rsa_algorithm_serves_no_other() -> None:
    both = ("RS256", "PS256")
    text = sign(header(alg="PS256", kid="k"), claims(), alg="PS256")
    assert await reason(text, issuer(algorithms=both, jwks=jwks(jwk("RS256", "k")))) == Reason.SIGNATURE
    assert await reason(text, issuer(algorithms=both, jwks=jwks(jwk("PS256", "k")))) is None


async def test_keys_in_the_header_are_never_used() -> None:
    attacker = unknown_key("ES256")
    planted = {"jwk": jwk("ES256"), "x5c": ["MII"], "jku": "https://evil.example/jwks", "x5u": "x"}
    assert await reason(sign(header(**planted), claims(), key=attacker)) == Reason.SIGNATURE
    assert await reason(sign(header(**planted), claims())) is None


@pytest.mark.parametrize("kid", ["../../keys/x", "' OR 1=1 --", "k" * 255])
async def test_an_odd_kid_is_only_an_unknown_one(kid: str) -> None:
    assert await reason(sign(header(kid=kid), claims())) == Reason.SIGNATURE
    named = issuer(jwks=jwks(jwk("ES256", kid)))
    assert await reason(sign(header(kid=kid), claims()), named) is None


@pytest.mark.parametrize("kid", ["k" * 256, "a\x00b", "", 7, ["ES256"], {"a": 1}, None, True])
async def test_a_kid_that_is_no_name_is_malformed(kid: Any) -> None:
    assert await reason(sign(header(kid=kid), claims())) == Reason.MALFORMED


async def test_without_a_kid_exactly_one_key_may_fit() -> None:
    text = sign(header(kid=ABSENT), claims())
    assert await reason(text, issuer(jwks=jwks(jwk("ES256"), jwk("RS256")))) is None
    assert await reason(text, issuer(jwks=jwks(jwk("ES256", "a"), jwk("ES256", "b")))) == Reason.SIGNATURE


async def test_an_issuer_s_key_signs_for_that_issuer_only() -> None:
    other = issuer(issuer="https://b.example", jwks=jwks(jwk("ES384")), algorithms=("ES384",))
    assert await reason(token(iss="https://b.example"), issuer(), other) == Reason.SIGNATURE
    own = sign(header(alg="ES384", kid="ES384"), claims(iss="https://b.example"), alg="ES384")
    assert await reason(own, issuer(), other) is None


@pytest.mark.parametrize(
    "iss", ["https://idp.example.evil", f"{IDP}/", IDP.upper(), "https://idp", f"{BASE}", "idp.example"]
)
async def test_an_issuer_is_trusted_by_its_exact_name(iss: str) -> None:
    assert await reason(token(iss=iss)) == Reason.ISSUER
    assert await reason(token(iss=IDP)) is None


async def test_we_are_never_an_issuer_even_when_configured() -> None:
    assert await reason(token(iss=BASE), issuer(issuer=BASE)) == Reason.ISSUER


TYPES = ["JWT", "at+jwt", "secevent+jwt", "dpop+jwt", "logout+jwt", "client-authentication+jwt"]
NO_TYPES = [ABSENT, None, 1, "", " oauth-id-jag+jwt", "application/application/oauth-id-jag+jwt"]


@pytest.mark.parametrize("typ", TYPES + NO_TYPES)
async def test_another_type_of_token_is_refused(typ: Any) -> None:
    assert await reason(sign(header(typ=typ), claims())) == Reason.TYPE


@pytest.mark.parametrize("typ", ["oauth-id-jag+jwt", "application/oauth-id-jag+jwt", "OAuth-ID-JAG+JWT"])
async def test_the_type_may_be_written_as_a_media_type(typ: str) -> None:
    assert await reason(sign(header(typ=typ), claims())) is None


@pytest.mark.parametrize("crit", [["exp"], ["b64"], [], "x", None])
async def test_nothing_critical_is_understood(crit: Any) -> None:
    assert await reason(sign(header(crit=crit), claims())) == Reason.MALFORMED


REPEATS = [
    (b'{"typ":"oauth-id-jag+jwt","alg":"none","alg":"ES256","kid":"ES256"}', None),
    (None, '"sub":"root",'),
    (None, '"aud":"https://evil.example",'),
    (None, f'"iss":"{IDP}",'),
    (None, '"act":{"sub":"a","sub":"b"},'),
    (None, r'"\u0073ub":"root",'),
]


@pytest.mark.parametrize(("head", "repeated"), REPEATS)
async def test_a_member_named_twice_is_refused(head: bytes | None, repeated: str | None) -> None:
    payload = json.dumps(claims())
    if repeated:
        payload = "{" + repeated + payload[1:]
    assert await reason(sign(head or header(), payload.encode())) == Reason.MALFORMED


@pytest.mark.parametrize(
    ("aud", "expected"),
    [
        (BASE, None),
        ([BASE], None),
        ([BASE, "https://other.example"], Reason.AUDIENCE),
        ([BASE, BASE], Reason.AUDIENCE),
        ([[BASE]], Reason.AUDIENCE),
        ([], Reason.AUDIENCE),
        (f"{BASE}/", Reason.AUDIENCE),
        (f"{BASE}/mcp", Reason.AUDIENCE),
        (f"{BASE}/oauth/token", Reason.AUDIENCE),
        (BASE.upper(), Reason.AUDIENCE),
        ("", Reason.AUDIENCE),
        (5, Reason.MALFORMED),
        ({"a": BASE}, Reason.MALFORMED),
        (None, Reason.MALFORMED),
        (ABSENT, Reason.MALFORMED),
    ],
)
async def test_the_audience_is_us_and_nobody_else(aud: Any, expected: Reason | None) -> None:
    assert await reason(token(aud=aud)) == expected


async def test_a_tenant_of_ours_does_not_exist() -> None:
    assert await reason(token(aud_tenant="t1")) == Reason.AUDIENCE


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"iat": SECONDS - 300, "exp": SECONDS - 59}, None),
        ({"iat": SECONDS - 300, "exp": SECONDS - 60}, Reason.EXPIRED),
        ({"iat": SECONDS - 300, "exp": SECONDS - 61}, Reason.EXPIRED),
        ({"iat": SECONDS, "exp": SECONDS + 600}, None),
        ({"iat": SECONDS, "exp": SECONDS + 601}, Reason.EXPIRED),
        ({"exp": SECONDS + 315_360_000}, Reason.EXPIRED),
        ({"iat": SECONDS - 315_360_000}, Reason.EXPIRED),
        ({"iat": SECONDS - 600, "exp": SECONDS}, None),
        ({"iat": SECONDS - 601, "exp": SECONDS - 1}, Reason.EXPIRED),
        ({"iat": SECONDS + 60}, None),
        ({"iat": SECONDS + 61}, Reason.EXPIRED),
        ({"iat": SECONDS + 10, "exp": SECONDS + 10}, Reason.EXPIRED),
        ({"iat": SECONDS + 10, "exp": SECONDS + 5}, Reason.EXPIRED),
        ({"nbf": SECONDS + 60}, None),
        ({"nbf": SECONDS + 61}, Reason.EXPIRED),
        ({"iat": SECONDS - 9.5, "exp": SECONDS + 100.25}, None),
    ],
)
async def test_times_are_bounded_on_both_sides(times: dict[str, Any], expected: Reason | None) -> None:
    assert await reason(token(**times)) == expected


@pytest.mark.parametrize("name", ["iat", "exp", "nbf", "auth_time"])
@pytest.mark.parametrize("value", [str(SECONDS), True, None, [SECONDS], {}, -1, 10**12, 10**400])
async def test_a_time_is_a_number_in_reach(name: str, value: Any) -> None:
    assert await reason(token(**{name: value})) == Reason.MALFORMED


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_a_time_is_finite(number: str) -> None:
    payload = json.dumps(claims(exp=ABSENT))[:-1] + f', "exp": {number}}}'
    assert await reason(sign(header(), payload.encode())) == Reason.MALFORMED


@pytest.mark.parametrize("name", ["jti", "sub"])
@pytest.mark.parametrize("value", [ABSENT, None, "", 7, "x" * 256, "a\x00b", "a\nb", "\u202eevil", ["x"]])
async def test_identifiers_are_short_printable_texts(name: str, value: Any) -> None:
    assert await reason(token(**{name: value})) == Reason.MALFORMED
    assert await reason(token(**{name: "x" * 255})) is None


async def test_half_a_character_is_refused() -> None:
    payload = json.dumps(claims(sub=ABSENT))[:-1] + r', "sub": "\ud800"}'
    assert await reason(sign(header(), payload.encode())) == Reason.MALFORMED


async def test_a_refusal_never_repeats_the_token() -> None:
    text = token(aud="https://evil.example/secret")
    with pytest.raises(AssertionRefused) as refused:
        await accepted(text)
    assert "secret" not in refused.value.description
    assert text not in refused.value.detail


async def test_an_issuer_whose_keys_are_out_of_reach_is_no_bad_signature() -> None:
    assert await reason(token(), issuer(jwks="")) == Reason.KEYS_UNAVAILABLE
