"""The keyring notices what other processes do to its folder."""

import json
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base import values
from negotiator.keys import keyring as keys
from negotiator.keys.keyring import ALGORITHM, FolderKeyring, SigningKey, raw_signature

_PRIVATE = ec.generate_private_key(ec.SECP256R1())
_KEY = SigningKey("key_1", 0, ALGORITHM, _PRIVATE, _PRIVATE.public_key())
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of P-256 (FIPS 186-4 D.1.2.3); both numbers of a signature are from 1 to below it."""
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_number = st.integers(1, _ORDER - 1) | st.integers(0, 255).map(lambda bits: min(1 << bits, _ORDER - 1))


def test_a_token_signed_right_after_two_rotations_is_verified_at_once(tmp_path: Path) -> None:
    """Two rotations in a second: the key that signs was never seen by the other worker as the next one."""
    signer, verifier = FolderKeyring(tmp_path), FolderKeyring(tmp_path)
    signer.rotate()
    signer.rotate()
    token = signer.sign({"sub": "x"}, "at+jwt")
    key = verifier.find(jwt.get_unverified_header(token)["kid"])
    assert key is not None
    assert jwt.decode(token, key.verifying, algorithms=[ALGORITHM])["sub"] == "x"


def test_an_unknown_key_is_none_and_the_others_stay(tmp_path: Path) -> None:
    ring = FolderKeyring(tmp_path)
    before = ring.all()
    assert ring.find("key_unknown") is None
    assert ring.all() == before
    assert [key.algorithm for key in before] == ["ES256", "ES256", "RS256", "RS256"]


def test_a_rotation_after_the_clock_was_set_back_is_a_rotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = FolderKeyring(tmp_path)
    made = [key.kid for key in ring.family("ES256")]

    def an_hour_ago(kind: str) -> str:
        return values.first_id(kind, values.now() - values.HOUR)

    monkeypatch.setattr(keys, "new_id", an_hour_ago)
    ring.rotate()
    listed = [key.kid for key in ring.family("ES256")]
    assert listed[:2] == made
    assert ring.current.kid == made[1]
    assert len(listed) == 3


@given(st.dictionaries(st.text(), _json, max_size=6), st.sampled_from(["at+jwt", "JWT", "ü"]))
def test_another_library_reads_and_verifies_every_token(claims: dict[str, object], typ: str) -> None:
    token = _KEY.sign(claims, typ)
    read = jwt.PyJWS().decode_complete(token, _KEY.verifying, algorithms=[ALGORITHM])
    assert json.loads(read["payload"]) == claims
    assert read["header"] == {"alg": ALGORITHM, "kid": "key_1", "typ": typ}
    assert len(read["signature"]) == 64


@given(_number, _number)
def test_a_signature_has_64_bytes_however_short_its_numbers_are(r: int, s: int) -> None:
    raw = raw_signature(encode_dss_signature(r, s))
    assert raw == r.to_bytes(32) + s.to_bytes(32)


def test_a_token_of_an_rsa_key_is_verified_by_another_library(tmp_path: Path) -> None:
    ring = FolderKeyring(tmp_path)
    key = ring.signing("RS256")
    token = ring.sign({"sub": "x"}, "JWT", algorithm="RS256")
    assert jwt.decode(token, key.verifying, algorithms=["RS256"]) == {"sub": "x"}
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "kid": key.kid, "typ": "JWT"}


def test_a_new_key_that_cannot_be_read_leaves_the_loaded_ones_in_use(tmp_path: Path) -> None:
    ring = FolderKeyring(tmp_path)
    before = ring.current.kid
    (tmp_path / f"{ring.all()[1].kid[:-1]}z.pem").write_text("not a key")
    ring._looked = -1000.0  # pyright: ignore[reportPrivateUsage]  a second has passed
    assert ring.current.kid == before
    assert ring.verify(ring.sign({"a": 1}, "at+jwt"), "at+jwt", longest=1000) == {"a": 1}
