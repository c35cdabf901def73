"""Ids, secrets, timestamps and money, as they cross the wire."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from negotiator.base import values

KINDS = st.sampled_from(["agt", "usr", "neg", "off", "pln", "tac", "mem", "win", "live", "dlg"])
MOMENTS = st.integers(0, 4_000_000_000_000)
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12)


@given(KINDS)
def test_a_new_id_is_a_prefix_and_a_lower_case_ulid(kind: str) -> None:
    made = values.new_id(kind)
    prefix, _, ulid = made.partition("_")
    assert prefix == kind
    assert len(ulid) == values.ID_LENGTH
    assert made == made.lower()
    assert values.is_id(made, kind)


@given(KINDS, st.text(max_size=40))
def test_no_other_text_has_the_form_of_an_id(kind: str, text: str) -> None:
    assert not values.is_id(text, kind) or text.startswith(f"{kind}_")
    assert not values.is_id(values.new_id(kind) + text, kind) or text == ""
    assert not values.is_id(values.new_id(kind).upper(), kind)


def test_ids_are_ordered_by_time_and_differ() -> None:
    made = [values.new_id("neg") for _ in range(500)]
    assert len(set(made)) == len(made)
    stamps = [text[4:14] for text in made]
    assert stamps == sorted(stamps)


def test_an_id_of_one_kind_is_none_of_another() -> None:
    assert not values.is_id(values.new_id("agt"), "usr")
    assert not values.is_id(values.new_id("neg") + "\n", "neg")


@given(MOMENTS)
def test_a_timestamp_is_rfc_3339_in_utc_with_milliseconds(at: int) -> None:
    text = values.timestamp(at)
    assert text.endswith("Z")
    assert len(text) == len("2026-01-01T00:00:00.000Z")
    read = datetime.fromisoformat(text)
    assert read.tzinfo == UTC
    assert (read - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1) == at


@given(MOMENTS, MOMENTS)
def test_timestamps_sort_as_their_moments_do(left: int, right: int) -> None:
    assert (values.timestamp(left) < values.timestamp(right)) == (left < right)


def test_a_moment_that_has_not_come_has_no_timestamp() -> None:
    assert values.timestamp_or_none(None) is None
    assert values.timestamp_or_none(0) == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize("text", ["2027-01-01t00:30:00z", "2027-01-01T01:30:00+01:00", "2027-01-01 00:30Z"])
def test_a_moment_is_read_in_either_case_and_any_offset(text: str) -> None:
    assert values.read_moment(text) == datetime(2027, 1, 1, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["20270101T000000Z", "2027-01-01T00:00:00,5Z", "2027-W01-1T00:00Z", "2027-01-01T00:00:00", "2027-01-01", 1, None],
)
def test_other_spellings_are_no_moment(text: object) -> None:
    with pytest.raises(ValueError, match="moment with its date"):
        values.read_moment(text)


@pytest.mark.parametrize("text", ["\u200b", " \u2060 ", "\u202egnp.exe", "a\u2067b"])
def test_a_title_is_seen_and_turns_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="Must "):
        TypeAdapter(values.TitleText).validate_python(text)
    for seen in ("👩\u200d🔧", "می\u200cخواهم", "עברית"):
        assert TypeAdapter(values.TitleText).validate_python(seen) == seen


@given(AMOUNTS)
def test_money_is_the_same_amount_without_an_exponent(amount: Decimal) -> None:
    text = values.decimal_string(amount)
    assert "E" not in text.upper()
    assert len(text.partition(".")[2]) >= 2
    assert Decimal(text) == amount


@pytest.mark.parametrize(
    ("amount", "text"),
    [("12500", "12500.00"), ("1.25E4", "12500.00"), ("0.5", "0.50"), ("1.005", "1.005"), ("-3", "-3.00")],
)
def test_money_has_at_least_two_places(amount: str, text: str) -> None:
    assert values.decimal_string(Decimal(amount)) == text


def test_a_secret_has_256_bits_and_its_digest_does_not_contain_it() -> None:
    made = {values.new_secret() for _ in range(100)}
    assert len(made) == 100
    secret = made.pop()
    assert len(secret) == 43
    assert secret not in values.digest(secret)
    assert len(values.digest(secret)) == 64


@given(st.text(), st.text())
def test_a_keyed_digest_depends_on_its_key_and_its_text(left: str, right: str) -> None:
    digest = values.keyed_digest(b"pepper", left)
    assert digest != values.keyed_digest(b"salt", left)
    assert (digest == values.keyed_digest(b"pepper", right)) == (left == right)
    assert values.equal_in_constant_time(left, right) == (left == right)
