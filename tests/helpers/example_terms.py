"""Terms for the tests of engines."""

from typing import Any

from negotiator.terms.terms import Terms
from negotiator.terms.utility import Preferences


def example_terms(mine: Preferences, **members: Any) -> Terms:
    """Terms with these preferences, and nothing else known but the members."""
    return Terms("Talk", "party", "other", "other", None, mine, **members)
