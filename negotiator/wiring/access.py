"""The wing where agents get in: registration, delegation codes, tokens."""

from dataclasses import dataclass

from negotiator.agents.delegation import Delegations
from negotiator.agents.mail import mailer
from negotiator.agents.registration import Registration
from negotiator.agents.routes import Agents
from negotiator.agents.verification import Verification
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
    chosen, base = ground.settings, ground.settings.base_url
    delegations = Delegations(
        pepper=ground.secret,
        credentials=ground.credentials,
        life=chosen.token_ttl,
        failures_per_hour=chosen.claim_failures_per_hour,
        moves=MOVES,
    )
    agents = Agents(
        base=base,
        store=ground.store,
        registration=Registration(
            ground.credentials,
            chosen.ephemeral_ttl,
            chosen.token_ttl,
            chosen.unclaimed_retention_days,
        ),
        delegations=delegations,
        verification=Verification(
            base,
            mailer(chosen.smtp_url, outbox=chosen.data_dir / "outbox", sender=chosen.mail_from),
        ),
        verifier=ground.verifier,
    )
    slices: list[Slice] = [agents] if "assistant" in chosen.services else []
    flow = code_flow(ground)
    wing = Wing(
        operations=(*offered(slices), *flow.operations), pages=flow.pages, closes=flow.closes
    )
    return Access(wing, delegations)
