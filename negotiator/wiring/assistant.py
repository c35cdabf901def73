"""The wing of the negotiation assistant."""

from negotiator.memory.benchmarks.routes import Benchmarks
from negotiator.memory.wins.routes import Wins
from negotiator.negotiations.advice.routes import Advice
from negotiator.negotiations.advisor.openai import advised
from negotiator.negotiations.plans.routes import BattlePlans
from negotiator.negotiations.routes import Negotiations
from negotiator.negotiations.suggestions.routes import Tactics
from negotiator.wiring.ground import Ground
from negotiator.wiring.memory import remembering
from negotiator.wiring.wing import Wing, offered


def assistant(ground: Ground) -> Wing:
    """Make the wing; the hottest slice first."""
    chosen, store, cursors = ground.settings, ground.store, ground.cursors
    advisor = advised(chosen.advisor_url, key=chosen.advisor_key, model=chosen.advisor_model)
    remembered = remembering(ground)
    slices = [
        Negotiations(store, cursors),
        Advice(store),
        BattlePlans(store, cursors, advisor),
        Tactics(store, cursors, advisor),
        remembered.memories,
        Wins(store, cursors, remembered.embedder),
        Benchmarks(store),
    ]
    return Wing(
        operations=offered(slices),
        checks={"embedding": remembered.check},
        closes=(advisor.close, remembered.close),
    )
