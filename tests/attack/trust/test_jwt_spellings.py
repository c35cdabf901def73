"""One signed text has one spelling: every JWT the service reads is refused in any other (RFC 7515 §2, RFC 8725 §3)."""

import base64
import json
import re
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

import negotiator
from negotiator.base.errors import InvalidRequest
from negotiator.base.scopes import ASSISTANT
from negotiator.base.strict_json import read_jws
from negotiator.config.settings import Settings
from negotiator.directory import identity_proof
from negotiator.keys.keyring import ALGORITHM, RS256, FolderKeyring
from negotiator.tokens import client_authentication, clients
from negotiator.tokens.clients import PRIVATE_KEY_JWT, NewClient
from negotiator.trust import issuer_queries
from tests.conftest import Change, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.code_flow import ClientApp, ConsentingUser
from tests.helpers.code_flow import ada as ada
from tests.helpers.code_flow import public_app as public_app
from tests.helpers.code_flow import told as redirected
from tests.helpers.directory_identity import StatementSigner as Identity
from tests.helpers.directory_identity import prove, register_account
from tests.helpers.dpop_proofs import DpopProver, register_bound
from tests.helpers.event_transmitter import CAEP, push, security_event
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

LIST: Final = "/api/negotiations"
TOKEN: Final = "/oauth/token"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
PARTS: Final = ("header", "payload", "signature")
Present = Callable[[str], Awaitable[httpx2.Response]]


def _encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _decoded(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def _with_other_last_bits(segment: str) -> str | None:
    """The same octets with the unused last bits set; None where no bits are unused."""
    spare = {2: 4, 3: 2}.get(len(segment) % 4)
    return segment[:-1] + ALPHABET[ALPHABET.index(segment[-1]) | 1] if spare else None


def respelled(good: str, *, around: bool = True) -> Generator[tuple[str, str]]:
    """Other texts of the same octets, by what is different.

    Blanks `around` a header's value are no part of it (RFC 9110 §5.5), so a text in a header may have them.
    """
    for place, part in enumerate(PARTS):
        segments = good.split(".")
        segment = segments[place]
        others = {
            "padding": segment + "=" * (-len(segment) % 4 or 4),
            "one padding sign": segment + "=",
            "a space": segment[:4] + " " + segment[4:],
            "a line break": segment[:8] + "\n" + segment[8:],
            "a line break at its end": segment + "\r\n",
            "a character of no alphabet": segment[:4] + "*" + segment[4:],
            "a full-width letter": segment[:4] + "\uff21" + segment[4:],
            "other last bits": _with_other_last_bits(segment),
            "the other alphabet": segment.replace("-", "+").replace("_", "/"),
        }
        for name, other in others.items():
            if other not in (None, segment):
                yield (f"{name} in the {part}", ".".join([*segments[:place], other, *segments[place + 1 :]]))
    yield "a fourth segment", f"{good}.AAAA"
    yield "an empty fourth segment", f"{good}."
    yield "an empty first segment", f".{good}"
    yield "two segments", good.rpartition(".")[0]
    if around:
        yield "a space before it", f" {good}"
        yield "a tab behind it", f"{good}\t"


def resigned(good: str, key: Any) -> Generator[tuple[str, str]]:
    """Truly signed texts whose JSON is ambiguous or asks for what nobody understands."""
    segments = good.split(".")
    header, payload = (_decoded(segment) for segment in segments[:2])
    algorithm = json.loads(header)["alg"].encode()
    twice = b'{"alg":"%b",' % algorithm + header[1:]
    none_first = b'{"alg":"none",' + header[1:]
    member = next(iter(json.loads(payload)))
    again = json.dumps({member: json.loads(payload)[member]}).encode()[:-1] + b"," + payload[1:]
    critical = header[:-1] + b',"crit":["b64"],"b64":true}'
    long = header[:-1] + b',"x":"%b"}' % (b"x" * 2100)
    for name, head, body in (
        ("the algorithm twice", twice, payload),
        ("none beside the algorithm", none_first, payload),
        ("a claim twice", header, again),
        ("a critical extension", critical, payload),
        ("an endless header", long, payload),
        ("a payload that is an array", header, b"[%b]" % payload),
        ("a number that is none", header, payload[:-1] + b',"x":NaN}'),
        ("UTF-16", header, payload.decode().encode("utf-16")),
    ):
        signing_input = f"{_encoded(head)}.{_encoded(body)}"
        yield name, f"{signing_input}.{_encoded(_sign(key, algorithm, signing_input.encode()))}"


def _sign(key: Any, algorithm: bytes, signing_input: bytes) -> bytes:
    if algorithm == b"RS256":
        return RSAAlgorithm(RSAAlgorithm.SHA256).sign(signing_input, key)
    return ECAlgorithm(ECAlgorithm.SHA256).sign(signing_input, key)


async def every_other_spelling_is_refused(good: str, key: Any, present: Present, *, around: bool = True) -> None:
    """Each is refused, in the service's own words; then the good text is taken."""
    for name, text in (*respelled(good, around=around), *resigned(good, key)):
        answer = await present(text)
        assert answer.status_code in {400, 401}, (name, answer.status_code, answer.text)
    answer = await present(good)
    assert answer.status_code < 400, answer.text


@covers("3.7:one-spelling")
@pytest.mark.asyncio
async def test_an_access_token_has_one_spelling(
    client: httpx2.AsyncClient, register: Register, settings: Settings
) -> None:
    good = (await register())["access_token"]

    async def present(text: str) -> httpx2.Response:
        # As a server hands headers on: octets, blanks around the value included.
        value = b"Bearer " + text.encode("utf-8")
        return await client.get(LIST, headers=[(b"authorization", value)])

    key = FolderKeyring(settings.keys_dir).current.private
    await every_other_spelling_is_refused(good, key, present, around=False)


@pytest.mark.asyncio
async def test_an_access_token_is_introspected_and_revoked_in_one_spelling(
    client: httpx2.AsyncClient, register: Register
) -> None:
    registered = await register()
    good = registered["access_token"]
    for name, text in respelled(good):
        answer = await client.post("/oauth/revoke", data={"token": text})
        assert answer.status_code == 200, name
    assert (await client.get(LIST, headers=bearer(registered))).status_code == 200


@pytest.mark.asyncio
async def test_an_identity_assertion_has_one_spelling(client: httpx2.AsyncClient, settings: Settings) -> None:
    made = await client.post("/api/agent/identity", json={"type": "anonymous"})
    good = made.json()["identity"]["assertion"]

    async def present(text: str) -> httpx2.Response:
        return await client.post(TOKEN, data={"grant_type": JWT_BEARER, "assertion": text})

    key = FolderKeyring(settings.keys_dir).current.private
    await every_other_spelling_is_refused(good, key, present)


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["id_jag", "verified_email"])
async def test_an_issuer_s_assertion_has_one_spelling(client: httpx2.AsyncClient, change: Change, kind: str) -> None:
    provider = FakeIssuer(BASE, "https://mail.corp.example")
    trusted = provider.issuer(email_verifier=True, email_domains=("corp.example",))
    await change(lambda tx: issuer_queries.add(tx, trusted, own=BASE, allow_loopback=False))
    email = {"email": "ada@corp.example", "email_verified": True}
    told: dict[str, Any] = email if kind == "verified_email" else {}
    good = provider.assertion(**told)

    async def present(text: str) -> httpx2.Response:
        body = registration(text)
        if kind == "verified_email":
            body["assertion_type"] = "verified_email"
        return await client.post("/api/agent/register", json=body)

    await every_other_spelling_is_refused(good, provider.key, present)


@pytest.mark.asyncio
async def test_a_client_s_assertion_has_one_spelling(client: httpx2.AsyncClient, change: Change) -> None:
    signer = ClientAssertionSigner()
    jwks = client_authentication.read_client_keys(signer.jwks)
    new = NewClient("signer", clients.GRANTS, tuple(ASSISTANT), (), PRIVATE_KEY_JWT, jwks=jwks)
    signer.client_id, _ = await change(lambda tx: clients.add(tx, new))

    async def present(text: str) -> httpx2.Response:
        asked = {"grant_type": "client_credentials", "scope": "negotiations:read"}
        return await client.post(TOKEN, data={**asked, **signer.form(text)})

    await every_other_spelling_is_refused(signer.assertion(), signer.key, present)


@pytest.mark.asyncio
async def test_a_security_event_has_one_spelling(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    registered = await client.post("/api/agent/register", json=registration(idp.assertion()))
    token = bearer(registered.json())

    async def present(text: str) -> httpx2.Response:
        answer = await push(client, text)
        if answer.status_code >= 400:
            assert (await client.get(LIST, headers=token)).status_code == 200
        return answer

    good = security_event(idp, f"{CAEP}session-revoked")
    await every_other_spelling_is_refused(good, idp.key, present)
    assert (await client.get(LIST, headers=token)).status_code == 401


@pytest.mark.asyncio
async def test_a_proof_of_possession_has_one_spelling(client: httpx2.AsyncClient) -> None:
    prover = DpopProver()
    token = (await register_bound(client, prover))["access_token"]

    async def present(text: str) -> httpx2.Response:
        headers = [(b"authorization", f"DPoP {token}".encode()), (b"dpop", text.encode("utf-8"))]
        return await client.get(LIST, headers=headers)

    good = prover.proof("GET", LIST, token=token)
    await every_other_spelling_is_refused(good, prover.key, present, around=False)


@pytest.mark.asyncio
async def test_a_statement_of_a_directory_identity_has_one_spelling(client: httpx2.AsyncClient) -> None:
    signer = Identity("P-256")
    record = await register_account(client, "did", signer.did)
    good, asked = signer.statement(record), record["identity"]["challenge"]
    expected = identity_proof.ExpectedProof(signer.did, BASE, record["client_id"], asked["nonce"])
    for name, text in (*respelled(good), *resigned(good, signer.private)):
        with pytest.raises(InvalidRequest):  # by the reader itself: a challenge allows five tries
            pytest.fail(f"{name}: {identity_proof.read_proof(text, expected)}")
    assert (await prove(client, record, good + "==")).json()["error"] == "invalid_proof"
    assert (await prove(client, record, good)).status_code == 200


@pytest.mark.asyncio
async def test_a_hint_at_who_is_signed_in_has_one_spelling(
    ada: ConsentingUser, public_app: ClientApp, settings: Settings
) -> None:
    good = (await ada.tokens(public_app))["id_token"]
    algorithm = json.loads(_decoded(good.split(".")[0]))["alg"]
    key = FolderKeyring(settings.keys_dir).signing(algorithm).private
    assert algorithm in {RS256, ALGORITHM}
    for name, text in (*respelled(good), *resigned(good, key)):
        answer = await ada.http.get(public_app.asks(prompt="none", id_token_hint=text))
        assert redirected(answer).get("error") == "login_required", name
    assert redirected(await ada.http.get(public_app.asks(prompt="none", id_token_hint=good)))["code"]


def test_nothing_decodes_a_jwt_but_the_strict_reader() -> None:
    """PyJWT signs and knows keys; `strict.read_jws` reads, wherever a text comes from."""
    lax = re.compile(
        r"\bjwt\.(decode|api_|get_unverified)|from jwt import[^\n]*\b(decode|get_unverified_header|PyJW[ST])\b"
        r"|joserfc|authlib\.jose"
    )
    root = Path(negotiator.__file__).parent
    found = [path for path in root.rglob("*.py") if lax.search(path.read_text())]
    assert found == []


@given(st.text(max_size=300) | st.text(alphabet=ALPHABET + '=.+/ \n{}"', max_size=300))
def test_any_text_is_read_or_refused_by_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  whatever is wrong with it
        read_jws(text)
