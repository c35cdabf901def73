"""The wing where agents get in: registration, delegation codes, tokens, and the page behind a mail."""

from dataclasses import dataclass

from starlette.routing import Route

from negotiator.agents.delegation import Delegations
from negotiator.agents.mail import mailer
from negotiator.agents.registration import Registration
from negotiator.agents.routes import Agents
from negotiator.agents.verification import Verification
from negotiator.console.approve import Approve
from negotiator.console.entry.first_user import FirstUser
from negotiator.console.entry.passwords import Passwords
from negotiator.console.entry.sign_in import SignIn
from negotiator.wiring.flow import code_flow
from negotiator.wiring.ground import Ground
from negotiator.wiring.owned import MOVES
from negotiator.wiring.wing import Wing, offered


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
    flow, assists = code_flow(ground), "assistant" in chosen.services
    wing = Wing(
        operations=(*offered([agents] if assists else []), *flow.operations),
        pages=(*_pages(ground, delegations if assists else None), *flow.pages),
        closes=flow.closes,
    )
    return Access(wing, delegations)


def _pages(ground: Ground, delegations: Delegations | None) -> list[Route]:
    """Where people come in, and approve agents where there are any."""
    room = ground.room
    passwords = Passwords(ground.store, room.limits)
    approve = Approve(room, passwords, delegations).routes() if delegations else []
    return [
        *room.pages.routes(),
        *SignIn(room, passwords).routes(),
        *FirstUser(room, ground.secret).routes(),
        *approve,
    ]
