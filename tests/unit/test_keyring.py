"""The keyring notices what other processes do to its folder."""

from pathlib import Path

import jwt
import pytest

from negotiator import keys, values
from negotiator.keys import ALGORITHM, Keyring


def test_a_token_signed_right_after_two_rotations_is_verified_at_once(tmp_path: Path) -> None:
    """Two rotations in a second: the key that signs was never seen by the other worker as the next one."""
    signer, verifier = Keyring(tmp_path), Keyring(tmp_path)
    signer.rotate()
    signer.rotate()
    token = signer.sign({"sub": "x"}, "at+jwt")
    key = verifier.find(jwt.get_unverified_header(token)["kid"])
    assert key is not None
    assert jwt.decode(token, key.verifying, algorithms=[ALGORITHM])["sub"] == "x"


def test_an_unknown_key_is_none_and_the_others_stay(tmp_path: Path) -> None:
    ring = Keyring(tmp_path)
    before = ring.all()
    assert ring.find("key_unknown") is None
    assert ring.all() == before
    assert [key.algorithm for key in before] == ["ES256", "ES256", "RS256", "RS256"]


def test_a_rotation_after_the_clock_was_set_back_is_a_rotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = Keyring(tmp_path)
    made = [key.kid for key in ring.family("ES256")]

    def an_hour_ago(kind: str) -> str:
        return values.first_id(kind, values.now() - values.HOUR)

    monkeypatch.setattr(keys, "new_id", an_hour_ago)
    ring.rotate()
    listed = [key.kid for key in ring.family("ES256")]
    assert listed[:2] == made
    assert ring.current.kid == made[1]
    assert len(listed) == 3
