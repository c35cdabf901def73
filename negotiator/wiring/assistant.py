"""The wing of the negotiation assistant."""

from collections.abc import Sequence
from dataclasses import dataclass

from negotiator.directory.listing.alternatives import Alternatives
from negotiator.memory.benchmarks.routes import Benchmarks
from negotiator.memory.wins.routes import Wins
from negotiator.negotiations.advice.routes import Advice
from negotiator.negotiations.advisor.openai import advised
from negotiator.negotiations.experience import Past
from negotiator.negotiations.plans.evidence import Lead
from negotiator.negotiations.plans.routes import BattlePlans
from negotiator.negotiations.plans.scout import Nobody, Scout
from negotiator.negotiations.routes import Negotiations
from negotiator.negotiations.suggestions.routes import Tactics
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import REFERENCES, remembering
from negotiator.wiring.teleprompter import teleprompter
from negotiator.wiring.wing import Wing, offered


@dataclass(frozen=True, slots=True)
class InTheDirectory:
    """The directory as a scout: a tool that does the same job is somebody to turn to."""

    alternatives: Alternatives

    async def leads(self, sellers: Sequence[str], texts: Sequence[str]) -> tuple[Lead, ...]:
        found = await self.alternatives.find(sellers, texts)
        return tuple(Lead(each.name, each.url, each.why, f"tool:{each.id}") for each in found)


def assistant(ground: Ground) -> Wing:
    """Make the wing; the hottest slice first."""
    chosen, store, cursors = ground.settings, ground.store, ground.cursors
    advisor = advised(chosen.advisor_url, key=chosen.advisor_key, model=chosen.advisor_model)
    remembered = remembering(ground)
    past = Past(store, remembered.recall)
    scout: Scout = Nobody()
    if "directory" in chosen.services:
        scout = InTheDirectory(Alternatives(ground.following))
    prompting = teleprompter(ground, remembered)
    slices = [
        Negotiations(store, cursors),
        Advice(store),
        BattlePlans(store, cursors, advisor, scout, past),
        Tactics(store, cursors, advisor, past),
        remembered.memories,
        remembered.carrying,
        Wins(store, cursors, remembered.embedder, REFERENCES),
        Benchmarks(store),
        *prompting.slices,
    ]
    return Wing(
        operations=offered(slices),
        sockets=prompting.sockets,
        checks={"embedding": remembered.check},
        closes=(*prompting.closes, advisor.close, remembered.close),
    )
