"""Whatever is sent, the verifier refuses it in its own words or believes what was signed."""

import asyncio
import base64
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from negotiator.base.strict_json import MAX_DEPTH, read_object, read_segment
from negotiator.trust.claims import Reason, mail_address, mail_domain
from negotiator.trust.issuers import Issuer
from tests.helpers.forged_assertions import claims, encode, header, issuer, reason, sign, token

GOOD = token()
TRUSTED = issuer(email_verifier=True, email_domains=("*",), max_auth_age=None)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def texts(longest: int) -> st.SearchStrategy[str]:
    """Texts that the strict reader keeps: whole characters, and no NUL."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=longest)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | texts(20)
    | st.sampled_from([header()["typ"], claims()["aud"], claims()["iss"], "ES256", 1e300, -(10**18)])
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(5), inner, max_size=3))
names = st.sampled_from([*claims(), "nbf", "scope", "resource", "cnf", "act", "tenant", "aud_tenant"])
more_names = st.sampled_from(["email", "email_verified", "auth_time", "amr", "acr", "name", "sub_id"])


def outcome(text: str) -> Reason | None:
    """What the verifier says; anything it raises but a refusal fails the test."""
    return asyncio.run(reason(text, TRUSTED))


@given(st.text(max_size=200) | st.text(alphabet=ALPHABET + '=.+/ \n{}"', max_size=200))
def test_any_text_is_refused_and_nothing_else_happens(text: str) -> None:
    assert outcome(text) is not None


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=80))
def test_any_three_segments_are_refused(head: bytes, payload: bytes, signature: bytes) -> None:
    assert outcome(f"{encode(head)}.{encode(payload)}.{encode(signature)}") is not None


@given(st.dictionaries(st.sampled_from(["typ", "alg", "kid", "crit", "jwk", "b64", "x"]), values))
def test_any_header_over_a_true_signature_is_answered_in_words(changes: dict[str, Any]) -> None:
    found = outcome(sign(header() | changes, claims()))
    assert found in {None, Reason.MALFORMED, Reason.TYPE, Reason.SIGNATURE}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(names | more_names, values, min_size=1))
def test_any_claims_over_a_true_signature_are_answered_in_words(changes: dict[str, Any]) -> None:
    assert outcome(sign(header(), claims() | changes)) in {None, *Reason}


@given(st.integers(0, len(GOOD) - 1), st.sampled_from(ALPHABET + ".=+/ \n~é"))
def test_one_changed_character_is_never_believed(at: int, character: str) -> None:
    changed = GOOD[:at] + character + GOOD[at + 1 :]
    assert (outcome(changed) is None) == (changed == GOOD)


@given(st.integers(0, 2), st.data())
def test_one_flipped_bit_is_never_believed(segment: int, data: st.DataObject) -> None:
    parts = GOOD.split(".")
    octets = bytearray(read_segment(parts[segment].encode()))
    bit = data.draw(st.integers(0, len(octets) * 8 - 1))
    octets[bit // 8] ^= 1 << bit % 8
    parts[segment] = encode(bytes(octets))
    assert outcome(".".join(parts)) is not None


@pytest.mark.parametrize("padding", ["=", "==", " ", "\n", ".", "\x00"])
def test_nothing_is_added_to_a_token(padding: str) -> None:
    assert outcome(GOOD) is None
    assert outcome(GOOD + padding) == Reason.MALFORMED
    assert outcome(padding + GOOD) == Reason.MALFORMED
    assert outcome(GOOD.replace(".", padding + ".", 1)) == Reason.MALFORMED


@pytest.mark.parametrize("dots", [0, 1, 3, 4])
def test_a_token_has_three_segments(dots: int) -> None:
    assert outcome(".".join(["e30"] * (dots + 1))) == Reason.MALFORMED


def test_deep_and_long_assertions_are_refused_unread() -> None:
    def nested(levels: int) -> bytes:
        return json.dumps(claims())[:-1].encode() + b', "x": ' + b"[" * levels + b"]" * levels + b"}"

    assert outcome(sign(header(), nested(19))) is None
    assert outcome(sign(header(), nested(20))) == Reason.MALFORMED
    assert outcome(sign(header(), nested(2500))) == Reason.MALFORMED
    assert outcome(token(x="y" * 5000)) is None
    assert outcome(token(x="y" * 8000)) == Reason.MALFORMED
    assert outcome("x" * 5_000_000) == Reason.MALFORMED
    assert outcome(sign(header(x="y" * 1200), claims())) is None
    assert outcome(sign(header(x="y" * 1600), claims())) == Reason.MALFORMED


def test_the_json_serialization_is_no_token() -> None:
    head, payload, signature = GOOD.split(".")
    assert outcome(json.dumps({"protected": head, "payload": payload, "signature": signature})) == Reason.MALFORMED


def test_a_segment_has_one_spelling() -> None:
    for spelling in (b"YQ==", b"YR", b"YQ=", b"Y", b"Y Q", b"YQ\n", b"-_8+", b"_/8"):
        with pytest.raises(ValueError, match=r"."):
            read_segment(spelling)
    assert (read_segment(b"YQ"), read_segment(b"-_8"), read_segment(b"")) == (b"a", b"\xfb\xff", b"")


@given(st.binary(max_size=100))
def test_a_segment_reads_back_what_was_written(octets: bytes) -> None:
    assert read_segment(base64.urlsafe_b64encode(octets).rstrip(b"=")) == octets


@given(st.binary(max_size=40) | st.text(alphabet=ALPHABET + "+/= ", max_size=40).map(str.encode))
def test_what_reads_is_what_would_be_written(segment: bytes) -> None:
    try:
        octets = read_segment(segment)
    except ValueError:
        return
    assert base64.urlsafe_b64encode(octets).rstrip(b"=") == segment


@given(st.dictionaries(texts(5), values, max_size=5))
def test_an_object_is_read_exactly_or_refused(value: dict[str, Any]) -> None:
    written = json.dumps(value)
    try:
        found = read_object(written.encode())
    except ValueError:
        assert "NaN" in written or "Infinity" in written
        return
    assert found == value


@given(st.dictionaries(texts(5), st.integers(-9, 9), min_size=1, max_size=5), st.data(), st.integers(0, 4))
def test_a_member_named_twice_is_refused_at_any_depth(members: dict[str, int], data: st.DataObject, depth: int) -> None:
    repeated = data.draw(st.sampled_from(sorted(members)))
    pairs = [f"{json.dumps(name)}:{value}" for name, value in members.items()]
    pairs.insert(data.draw(st.integers(0, len(pairs))), f"{json.dumps(repeated)}:0")
    text = "{" + ",".join(pairs) + "}"
    for _ in range(depth):
        text = f'{{"a":[{text}]}}'
    with pytest.raises(ValueError, match="twice"):
        read_object(text.encode())


@given(st.integers(1, 60), st.booleans())
def test_twenty_levels_are_deep_enough(levels: int, arrays: bool) -> None:
    inner = "[" * (levels - 1) + "]" * (levels - 1) if arrays else '{"a":' * (levels - 1) + "0" + "}" * (levels - 1)
    text = f'{{"a": {inner or 0}, "brackets": "{"[" * 30}"}}'.encode()
    if levels <= MAX_DEPTH:
        assert read_object(text)["brackets"] == "[" * 30
        return
    with pytest.raises(ValueError, match="deep"):
        read_object(text)


@pytest.mark.parametrize("text", [r'{"a": "\ud800"}', r'{"\udfff": 1}', r'{"a": ["\ude00\ud83d"]}'])
def test_half_characters_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        read_object(text.encode())
    assert read_object(rb'{"a": "\ud83d\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize("address", ["a@b.example", "A.b+c@X-1.Example", "'x'@b.co", "x" * 64 + "@b.co"])
def test_an_address_has_a_domain(address: str) -> None:
    assert mail_domain(address) == address.rpartition("@")[2].lower()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "a@",
        "@b.example",
        "a@b",
        "a@b.example.",
        "a@.example",
        "a@b..example",
        "a b@c.example",
        "a@b@c.example",
        "a@b.example\n",
        "é@b.example",
        "a@b\u212a.example",
        "x" * 65 + "@b.co",
        "a@" + "b." * 130 + "co",
        '"a b"@c.example',
        "a@[127.0.0.1]",
    ],
)
def test_what_is_no_plain_address_has_none(address: str) -> None:
    assert mail_domain(address) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" User@B\u00fccher.Example", "user@xn--bcher-kva.example"),
        ("user@bu\u0308cher.example", "user@xn--bcher-kva.example"),
        ("user@xn--bcher-kva.example", "user@xn--bcher-kva.example"),
        ("user@stra\u00dfe.example", "user@xn--strae-oqa.example"),
        ("o'brien+tag@a.co", "o'brien+tag@a.co"),
        (f"{'x' * 64}@a.example", f"{'x' * 64}@a.example"),
    ],
)
def test_a_domain_is_kept_as_mail_servers_name_it(text: str, kept: str) -> None:
    assert mail_address(text) == mail_address(kept) == kept


WRONG = """
user@example..com us..er@a.example .u@a.example u.@a.example u@-a.example u@a-.example \u00fcser@a.example u@a u
@a.example u@xn--\u00e9.example u@a.example. u@\u2024\u2024
"""


@pytest.mark.parametrize("text", [*WRONG.split(), f"{'x' * 65}@a.example", f"u@{'a.' * 125}example"])
def test_what_no_mail_can_reach_is_no_address(text: str) -> None:
    assert mail_address(text) is None


def test_an_issuer_s_domain_is_compared_in_the_same_spelling() -> None:
    issuer = Issuer("https://i.example", ("ES256",), email_domains=("B\u00fccher.example", "\x80"))
    assert issuer.email_domains == ("xn--bcher-kva.example", "\x80")
