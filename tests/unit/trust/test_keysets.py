"""JWK Sets: what is a key, what is not, and what spoils the whole set."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import get_default_algorithms

from negotiator.trust.issuers import ALGORITHMS, Issuer, canonical_algorithm, check_algorithms
from negotiator.trust.keysets import KeysRefused, parse
from tests.helpers.forged_assertions import ABSENT, encode, jwk, private_key


def serves(key: dict[str, Any], *allowed: str) -> list[str]:
    """The algorithms under which this lone key is found by its kid."""
    found = parse({"keys": [key]}, allowed or ALGORITHMS)
    return [alg for alg in ALGORITHMS if found.find(key.get("kid"), alg)]


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_a_key_serves_the_algorithm_it_names(alg: str) -> None:
    assert serves(jwk(alg)) == [alg]
    assert serves(jwk(alg), *(other for other in ALGORITHMS if other != alg)) == []


def test_a_key_that_names_none_serves_what_its_type_and_the_issuer_allow() -> None:
    assert serves(jwk("RS256", alg=ABSENT)) == ["RS256", "PS256"]
    assert serves(jwk("RS256", alg=ABSENT), "PS256", "ES256") == ["PS256"]
    assert serves(jwk("ES384", alg=ABSENT)) == ["ES384"]
    assert serves(jwk("EdDSA", alg=ABSENT)) == ["EdDSA"]


@pytest.mark.parametrize(
    "members",
    [
        {"use": "enc"},
        {"use": None},
        {"key_ops": ["sign"]},
        {"key_ops": "verify"},
        {"key_ops": []},
        {"alg": "ES384"},
        {"alg": "HS256"},
        {"alg": "none"},
        {"alg": None},
        {"alg": 5},
        {"kty": "RSA"},
        {"kty": "OKP"},
        {"kty": None},
        {"kty": ["EC"]},
        {"crv": "P-384"},
        {"crv": "secp256k1"},
        {"crv": ABSENT},
        {"crv": ["P-256"]},
        {"x": ABSENT},
        {"x": 5},
        {"x": ""},
        {"x": "é"},
        {"y": "AAAA"},
        {"y": "A" * 43},
    ],
)
def test_a_key_whose_members_disagree_is_passed_over(members: dict[str, Any]) -> None:
    odd = jwk("ES256", **members)
    found = parse({"keys": [odd, jwk("RS256")]}, ALGORITHMS)
    assert [alg for alg in ALGORITHMS if found.find("ES256", alg)] == []
    assert found.find("RS256", "RS256") is not None
    assert serves(jwk("ES256", key_ops=["verify"])) == ["ES256"]


def test_padding_and_odd_spelling_in_a_key_are_not_read() -> None:
    good = jwk("ES256")
    for name in ("x", "y"):
        assert serves(good | {name: good[name] + "="}) == []
        assert serves(good | {name: "+" + good[name][1:]}) == []


@pytest.mark.parametrize(("bits", "expected"), [(1024, []), (2048, ["RS256"])])
def test_a_short_rsa_key_is_no_key(bits: int, expected: list[str]) -> None:
    weak = rsa.generate_private_key(65537, bits)
    public = get_default_algorithms()["RS256"].to_jwk(weak.public_key(), as_dict=True)
    assert serves(public | {"kid": "w", "alg": "RS256"}) == expected


def test_a_gigantic_rsa_key_is_no_key() -> None:
    assert serves(jwk("RS256", n=encode(b"\xff" * 1024))) == ["RS256"]
    assert serves(jwk("RS256", n=encode(b"\xff" * 1025))) == []


def test_a_curve_is_what_the_algorithm_says() -> None:
    other = ec.generate_private_key(ec.SECP256K1()).public_key()
    public = get_default_algorithms()["ES256K"].to_jwk(other, as_dict=True)
    assert serves(public | {"kid": "k"}) == []
    assert serves(public | {"kid": "k", "crv": "P-256"}) == []


@pytest.mark.parametrize("alg", ["RS256", "ES256", "EdDSA"])
def test_private_material_spoils_the_whole_set(alg: str) -> None:
    leaked = get_default_algorithms()[alg].to_jwk(private_key(alg), as_dict=True)
    with pytest.raises(KeysRefused, match="private"):
        parse({"keys": [jwk("ES384"), leaked]}, ALGORITHMS)


def test_symmetric_material_spoils_the_whole_set() -> None:
    for secret in ({"kty": "oct", "k": "c2VjcmV0"}, {"kty": "oct"}, {"kty": "EC", "k": "c2VjcmV0"}):
        with pytest.raises(KeysRefused, match="symmetric"):
            parse({"keys": [jwk("ES256"), secret]}, ALGORITHMS)


MALFORMED: list[dict[str, Any]] = [
    {},
    {"keys": None},
    {"keys": {}},
    {"keys": "x"},
    {"keys": ["x"]},
    {"keys": [None]},
    {"keys": [{"kty": "EC", "kid": 5}]},
    {"Keys": []},
]


@pytest.mark.parametrize("document", MALFORMED)
def test_a_malformed_set_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(KeysRefused):
        parse(document, ALGORITHMS)


def test_fifty_keys_are_enough() -> None:
    keys = [jwk("ES256", f"k{number}") for number in range(51)]
    assert parse({"keys": keys[:50]}, ALGORITHMS).find("k49", "ES256")
    with pytest.raises(KeysRefused):
        parse({"keys": keys}, ALGORITHMS)


def test_an_empty_set_has_no_keys_and_is_no_fault() -> None:
    assert parse({"keys": []}, ALGORITHMS).find(None, "ES256") is None


def test_a_lookup_gives_one_key_or_none() -> None:
    found = parse({"keys": [jwk("ES256", "a"), jwk("ES384", "a"), jwk("RS256", kid=ABSENT)]}, ALGORITHMS)
    assert found.find("a", "ES256") is not None
    assert found.find("a", "ES384") is not None
    assert found.find("a", "RS256") is None
    assert found.find("b", "ES256") is None
    assert found.find(None, "ES256") is not None
    assert found.find(None, "RS256") is not None
    twice = parse({"keys": [jwk("ES256", "a"), jwk("ES256", "a")]}, ALGORITHMS)
    assert twice.find("a", "ES256") is None


def test_algorithms_are_checked_and_named_alike() -> None:
    assert check_algorithms(["Ed25519", "EdDSA", "ES256"]) == ("EdDSA", "ES256")
    assert Issuer("https://i.example", ("Ed25519",)).algorithms == ("EdDSA",)
    assert canonical_algorithm(["ES256"]) is None
    for forbidden in ("none", "HS256", "es256", "ES512", "RS384", ""):
        with pytest.raises(ValueError, match="is not one of"):
            check_algorithms(["ES256", forbidden])
    with pytest.raises(ValueError, match="at least one"):
        check_algorithms([])
