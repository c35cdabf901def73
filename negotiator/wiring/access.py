"""The wing where agents get in: registration, delegation codes, tokens."""

from dataclasses import dataclass

from negotiator.agents.ceremony.asserting import Asserting
from negotiator.agents.ceremony.identities import Identities
from negotiator.agents.ceremony.routes import Ceremony
from negotiator.agents.claims import Claims
from negotiator.agents.delegation import Delegations
from negotiator.agents.registration import Registration
from negotiator.agents.routes import Agents
from negotiator.agents.signals.routes import Events
from negotiator.agents.verification import Verification
from negotiator.tokens.flow.refreshing import Refreshing
from negotiator.wiring.flow import code_flow
from negotiator.wiring.ground import Ground
from negotiator.wiring.owned import MOVES
from negotiator.wiring.wing import Slice, Wing, offered


@dataclass(frozen=True, slots=True)
class Access:
    """The wing, and the delegations that the operator's commands use too."""

    wing: Wing
    delegations: Delegations


def access(ground: Ground) -> Access:
    """Make the wing."""
    chosen = ground.settings
    refreshing = Refreshing(ground.secret, chosen.refresh_ttl, chosen.refresh_max_ttl)
    delegations = Delegations(
        pepper=ground.secret,
        credentials=ground.credentials,
        refreshing=refreshing,
        life=chosen.token_ttl,
        moves=MOVES,
    )
    agents = _agents(ground, delegations)
    events = Events(ground.store, ground.receiver)
    slices: list[Slice] = [*agents, events] if "assistant" in chosen.services else []
    flow = code_flow(ground)
    wing = Wing(operations=(*offered(slices), *flow.operations), pages=flow.pages)
    return Access(wing, delegations)


def _agents(ground: Ground, delegations: Delegations) -> tuple[Agents, Ceremony]:
    """The agents' doors: the seed's, and that of auth.md's newer generation over the same units."""
    chosen, base, store = ground.settings, ground.settings.base_url, ground.store
    registration = Registration(
        ground.credentials,
        chosen.ephemeral_ttl,
        chosen.token_ttl,
        chosen.unclaimed_retention_days,
    )
    verification = Verification(base, ground.mailer)
    claims = Claims(store, delegations, ground.doorway.limits)
    asserting = Asserting(base, store, ground.verifier, registration)
    identities = Identities(ground.credentials, delegations.refreshing, chosen.token_ttl)
    ceremony = Ceremony(
        base,
        store,
        ground.secret,
        registration,
        claims,
        verification,
        asserting,
        identities,
        ground.proofs,
    )
    claim, proofs = ceremony.claim, ground.proofs
    agents = Agents(base, store, registration, claims, verification, asserting, claim, proofs)
    return agents, ceremony
