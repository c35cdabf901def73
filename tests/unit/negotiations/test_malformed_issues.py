"""Issues that are no issues: what is refused is refused by name, whatever it is."""

from typing import Any

import pytest
from pydantic import ValidationError

from negotiator.terms.negotiation_body import NegotiationBody

ODD: list[Any] = [None, True, 0, -1.5, "", "money\x00", [], [None, None], {}, {"x": [1]}]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "member",
    [
        *("name", "type", "range", "options", "value_points", "direction"),
        *("weight", "unit", "label", "their_weight", "tradeable"),
    ],
)
def test_an_issue_with_an_odd_member_is_read_or_refused_by_name(member: str, odd: Any) -> None:
    issue = {"name": "price", "type": "money", member: odd}
    try:
        body = NegotiationBody.model_validate({"title": "Talk", "role": "buyer", "issues": [issue]})
    except ValidationError as refused:
        places = {fault["loc"][0] for fault in refused.errors() if fault["loc"]}
        assert places == {"issues"}
    else:
        assert body.issues
