"""How keys and identities are written: what is recognised, and that nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.agents.schemas import RegisterAgent
from negotiator.directory import identity_proof
from negotiator.directory.identity_proof import ClaimedIdentity, did_web_url, is_did
from negotiator.directory.schemas_accounts import RegisterDirectoryAgent
from negotiator.tokens import api_keys
from negotiator.tokens.api_keys import client_network
from tests.helpers.directory_identity import encode_multikey

SECRETS = st.text(api_keys.ALPHABET, min_size=32, max_size=32)
IDS = st.text(api_keys.ALPHABET, min_size=12, max_size=12)


@given(IDS, SECRETS)
def test_a_key_is_sixty_characters_and_reads_back(key_id: str, secret: str) -> None:
    text = api_keys.write_key(key_id, secret)
    assert len(text) == 60
    assert text.replace("_", "").isalnum()
    assert api_keys.read_key(text) == (key_id, secret)


@given(IDS, SECRETS, st.integers(9, 59), st.sampled_from(api_keys.ALPHABET))
def test_one_mistyped_character_makes_no_key(key_id: str, secret: str, place: int, other: str) -> None:
    text = api_keys.write_key(key_id, secret)
    typed = text[:place] + other + text[place + 1 :]
    assert api_keys.read_key(typed) is None or typed == text


@given(st.text(max_size=80))
def test_no_other_text_is_a_key_or_a_bearer(text: str) -> None:
    assert api_keys.read_key(text) is None
    assert api_keys.read_bearer(text, b"pepper") is None


@given(st.binary(min_size=1, max_size=64), st.binary(min_size=1, max_size=64))
def test_a_bearer_is_good_under_its_own_pepper_only(pepper: bytes, other: bytes) -> None:
    jti = "01jd3v9q1wz0b6x5y8c7e2k4mn"
    text = api_keys.write_bearer(jti, pepper)
    assert api_keys.read_bearer(text, pepper) == jti
    # HMAC pads short keys with zeros, so these name the same key.
    if other.rstrip(b"\0") != pepper.rstrip(b"\0"):
        assert api_keys.read_bearer(text, other) is None


def test_made_secrets_differ_and_derived_ones_come_again() -> None:
    assert len({api_keys.new_secret() for _ in range(100)}) == 100
    made = api_keys.derived_secret(b"pepper", "key", "once", "agt_1")
    assert len(made) == 32
    assert made == api_keys.derived_secret(b"pepper", "key", "once", "agt_1")
    others = [("id", "once", "agt_1"), ("key", "onc", "eagt_1"), ("key", "once", "agt_2")]
    assert made not in {api_keys.derived_secret(b"pepper", *parts) for parts in others}


@given(st.binary(min_size=32, max_size=32))
def test_an_ed25519_multikey_reads_back(raw: bytes) -> None:
    jwk = identity_proof.jwk_of_multikey(encode_multikey(b"\xed\x01", raw))
    assert jwk
    assert (jwk["kty"], jwk["crv"]) == ("OKP", "Ed25519")


@given(st.text(max_size=120))
def test_no_other_text_becomes_a_key_of_another_length(text: str) -> None:
    jwk = identity_proof.jwk_of_multikey(text)
    assert jwk is None or jwk["crv"] in {"Ed25519", "P-256"}


@pytest.mark.parametrize(
    ("did", "x"),
    [  # the examples of the did:key specification
        ("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", "Lm_M42cB3HkUiODQsXRcweM6TByfzEHGO9ND274JcOY"),
        ("did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", "fyNYMN0976ci7xqiSdag3buk-ZCwgXU4kz9XNkBlNUI"),
    ],
)
def test_known_keys_are_read_as_everybody_reads_them(did: str, x: str) -> None:
    jwk = identity_proof.jwk_of_did_key(did)
    assert jwk
    assert jwk["x"] == x


@pytest.mark.parametrize(
    "text",
    [
        "did:key:",
        "did:key:z",
        "did:key:z0OIl",
        "did:key:z1111111111",
        "did:key:6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do",
        "did:web:agents.example",
        "did:key:z" + "2" * 129,
        "did:key:" + encode_multikey(b"\x80\x24", b"\x02" + b"\xff" * 32),
    ],
)
def test_what_is_no_did_key_of_a_known_curve_is_none(text: str) -> None:
    assert identity_proof.jwk_of_did_key(text) is None


@given(st.text(max_size=100))
def test_a_did_web_leads_to_https_at_a_named_host_or_nowhere(text: str) -> None:
    url = did_web_url(f"did:web:{text}")
    assert url is None or (url.startswith("https://") and url.endswith("/did.json"))


def test_only_a_whole_host_is_a_domain() -> None:
    domains = {
        ("did", "did:web:agents.example"): "agents.example",
        ("did", "did:web:agents.example%3A8443"): "agents.example",
        ("did", "did:web:agents.example:ada"): None,
        ("did", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"): None,
        ("agent_id", "https://agents.example/.well-known/agent.json"): "agents.example",
        ("agent_id", "https://agents.example/ada/agent.json"): None,
        ("agent_id", "agents.example"): None,
        ("email", "ada@agents.example"): None,
    }
    assert {each: ClaimedIdentity(*each).domain for each in domains} == domains


def test_a_did_has_a_method_and_a_name() -> None:
    assert is_did("did:plc:ewvi7nxzyoun6zhxrhs64oiz")
    for text in ("did:", "did:web", "did:web:", "did:WEB:x", "did:web:a b", "DID:web:x", "did:x:" + "y" * 512):
        assert not is_did(text)


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:7:8::/64", "2001:db8:7::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("unix", ""),
    ],
)
def test_an_address_is_kept_as_a_network(address: str, seen: str) -> None:
    assert client_network(address) == seen


def test_both_doors_read_auth_md_s_body() -> None:
    body = {"type": "identity_assertion", "assertion_type": "verified_email", "assertion": "a@b.example"}
    assert RegisterAgent.model_validate(body).is_bare_email
    assert RegisterDirectoryAgent.model_validate(body).identity == ClaimedIdentity("email", "a@b.example")
