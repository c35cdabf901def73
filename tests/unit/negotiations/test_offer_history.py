"""What stands of a ledger."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.negotiations.offer_history import OFFER_KINDS, live_offers, offer_statuses
from negotiator.negotiations.offer_queries import OfferRow

NOW = 1_000


def row(seq: int, side: str, kind: str = "offer", **members: Any) -> OfferRow:
    plain: dict[str, Any] = {
        "source": "typed",
        "answers": None,
        "confirms": None,
        "valid_until": None,
        "approval": "",
        "content": {"package": {"price": seq}, "claimed_final": False},
    }
    return OfferRow(f"off_{seq}", seq, seq, side, kind, **{**plain, **members})


rows = st.lists(
    st.tuples(
        st.sampled_from(["me", "them"]),
        st.sampled_from(["offer", "counter", "final", "rejection"]),
        st.sampled_from(["", "pending", "refused", "approved"]),
        st.sampled_from([None, NOW, NOW + 1]),
        st.sampled_from(["typed", "detected_in_speech", "imported"]),
    ),
    max_size=12,
).map(
    lambda drawn: [
        row(n + 1, side, kind, approval=approval, valid_until=until, source=source)
        for n, (side, kind, approval, until, source) in enumerate(drawn)
    ]
)


@given(rows)
def test_each_side_has_one_live_offer_at_most_and_it_is_its_latest(ledger: list[OfferRow]) -> None:
    for side in ("me", "them"):
        found = live_offers(ledger, NOW, side=side)
        assert len(found) <= 1
        for standing in found:
            later = [
                other
                for other in ledger
                if other.seq > standing.seq
                and other.side == side
                and other.kind in OFFER_KINDS
                and other.approval not in {"pending", "refused"}
                and other.source != "detected_in_speech"
            ]
            assert later == []
            assert standing.valid_until is None or standing.valid_until > NOW


@given(rows)
def test_every_row_has_a_status(ledger: list[OfferRow]) -> None:
    assert set(offer_statuses(ledger, NOW)) == {line.id for line in ledger}


def test_an_accepted_and_a_withdrawn_offer_are_not_live() -> None:
    offer = row(1, "me")
    accepted = [offer, row(2, "them", "acceptance", answers="off_1")]
    withdrawn = [offer, row(2, "me", "withdrawal", answers="off_1")]
    assert offer_statuses(accepted, NOW)["off_1"] == "accepted"
    assert offer_statuses(withdrawn, NOW)["off_1"] == "withdrawn"
    held = [offer, replace(accepted[1], approval="pending")]
    assert offer_statuses(held, NOW)["off_1"] == "live"


def test_a_rejection_takes_nothing_away() -> None:
    ledger = [row(1, "them"), row(2, "me", "rejection", answers="off_1")]
    assert offer_statuses(ledger, NOW)["off_1"] == "live"
