"""What it costs to try a password against a stolen hash."""

import pytest
from argon2 import Type, extract_parameters

from negotiator.users import user_queries
from tests.helpers.form_browser import PASSWORD


@pytest.mark.usefixtures("costly_passwords")
def test_a_password_is_hashed_at_owasp_s_least_cost_and_verified() -> None:
    hashed = user_queries.hash_password(PASSWORD)
    cost = extract_parameters(hashed)
    assert (cost.type, cost.time_cost, cost.parallelism) == (Type.ID, 2, 1)
    assert cost.memory_cost == 19 * 1024
    assert user_queries.verify_password(hashed, PASSWORD)
    assert not user_queries.verify_password(hashed, PASSWORD + "!")
