"""What users give from round to round when they follow the advice with scripted people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from negotiator.advice.concession.move_text import ROUNDED_STEP
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.rehearsals.counterpart.person import KINDS
from tests.bench.haggling.advisers import AdviceForPeople, read_answer
from tests.bench.haggling.play import Move, TalkState, load_case, play

SAME = 1e-9


@dataclass
class Follower:
    """The advice for people, with every answer that it gave."""

    answers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        self.answers.append(AdviceForPeople().answer(ledger, state))
        return read_answer(self.answers[-1])


@pytest.mark.parametrize("end", ["as stated", "none"])
@pytest.mark.parametrize("name", ["agency_retainer", "flat_rent", "used_car", "crm_renewal"])
def test_a_concession_larger_than_the_last_one_says_why(name: str, end: str) -> None:
    case = load_case(name) if end == "as stated" else load_case(name).without_end()
    compared = 0
    for kind in KINDS:
        for seed in range(3):
            one = Follower()
            play(case, kind, seed, one)
            offers = [answer for answer in one.answers if answer["action"] == "counter"]
            last = None
            for before, after in pairwise(offers):
                given = before["my_utility"] - after["my_utility"]
                if given <= SAME:
                    continue
                if last is not None:
                    compared += 1
                    said = " ".join(after["reasons"])
                    assert given <= last * ROUNDED_STEP + SAME or ("This step is larger than your last one" in said), (
                        kind,
                        seed,
                        said,
                    )
                last = given
    assert compared > 20
