"""Numbers and truths of request bodies."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from negotiator.base.values import Number, Truth, Whole


class Body(BaseModel):
    """One of each."""

    whole: Whole | None = None
    number: Number | None = None
    truth: Truth | None = None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("whole", "number") for value in (True, False, "5", "", [1])),
        ("whole", 1.5),
        *(("truth", value) for value in (0, 1, "true", "yes", "0", 1.0)),
    ],
)
def test_nothing_counts_as_a_number_or_a_truth_that_json_says_is_none(name: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        Body.model_validate({name: value})


def test_numbers_and_truths_are_themselves() -> None:
    body = Body.model_validate({"whole": 5.0, "number": 5, "truth": False})
    assert (body.whole, body.number, body.truth) == (5, 5.0, False)
