"""What a report weighs: pure. A crowd of agents that anybody can make weighs nothing.

An operator-vetted reporter alone calls for quarantine, of others three that control three different domains. A key or
a mailbox proves who somebody is, not that he is one of few: it weighs nothing here.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

THRESHOLD: Final = 3
_VETTED: Final = 3
_DOMAIN: Final = 1
SEVERE: Final = frozenset({"malware", "misleading_name", "policy", "spam"})
"""Reasons to hide a tool before a person has looked; a broken link is none."""
_SHARED_LABELS: Final = frozenset({"ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"})


class Proof(Protocol):
    """An identity that was proven."""

    @property
    def domain(self) -> str | None:
        """The host that is controlled by whoever proved it, if it is a whole one."""
        ...


def voice(reporter: str, proofs: Sequence[Proof], *, vetted: bool) -> tuple[str, int]:
    """For whom a report counts, and how much."""
    if vetted:
        return reporter, _VETTED
    domains = [proof.domain for proof in proofs if proof.domain]
    return (registrable(domains[0]), _DOMAIN) if domains else (reporter, 0)


def registrable(host: str) -> str:
    """Roughly the domain that was bought: a hundred names below one of them are one voice."""
    labels = host.lower().split(".")
    wide = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SHARED_LABELS
    return ".".join(labels[-3:] if wide else labels[-2:])


def weight(reports: Iterable[tuple[str, int, str]], *, guarded: bool) -> int:
    """What open reports, each a voice, a weight and a reason, weigh together.

    Of a `guarded` tool, one whose publisher is verified, only vetted reporters' count.
    """
    voices = {
        who: weight
        for who, weight, reason in reports
        if reason in SEVERE and (weight >= _VETTED or not guarded)
    }
    return sum(voices.values())
