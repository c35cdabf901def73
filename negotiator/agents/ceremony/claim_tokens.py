"""Claim tokens: what an agent that nobody claimed yet proves itself by, until a user has bound it.

The text says which agent and until when, under a keyed digest: it needs no row, and being claimed ends it.
"""

import re
from typing import Final

from negotiator import values

PREFIX: Final = "clm_"
LIFE: Final = 86_400
_FORM = re.compile(r"(clm_([0-9a-z]{26})_([0-9]{10,13}))_([0-9a-f]{43})")


def make(pepper: bytes, agent_id: str, *, now: int) -> tuple[str, int]:
    """A claim token of this agent, and when it ends (milliseconds)."""
    until = now + LIFE * 1000
    body = f"{PREFIX}{agent_id.partition('_')[2]}_{until}"
    return f"{body}_{_sum(pepper, body)}", until


def read(pepper: bytes, text: str) -> tuple[str, int] | None:
    """The agent and the end of a claim token that we made; None for everything else."""
    found = _FORM.fullmatch(text)
    if found is None or not values.same(found[4], _sum(pepper, found[1])):
        return None
    return f"agt_{found[2]}", int(found[3])


def _sum(pepper: bytes, body: str) -> str:
    return values.keyed_digest(pepper, f"claim-token:{body}")[:43]
