"""The wing of the AI tools directory."""

from negotiator.agents.mail import mailer
from negotiator.directory.accounts.proving.mailing import Mailing
from negotiator.directory.accounts.registration import Registration
from negotiator.directory.accounts.routes import Accounts
from negotiator.directory.accounts.signing.published import PublishedKeys
from negotiator.directory.accounts.upkeep.idle import Idle
from negotiator.directory.accounts.upkeep.rechecks import Rechecks
from negotiator.directory.accounts.verification import Verification
from negotiator.wiring.ground import Ground
from negotiator.wiring.wing import Slice, Wing, offered


def directory(ground: Ground) -> Wing:
    """Make the wing."""
    keys = PublishedKeys(ground.fetcher)
    chores = (
        Rechecks(ground.store, keys),
        Idle(ground.store, ground.settings.key_unused_days),
    )
    slices: list[Slice] = [_accounts(ground, keys)]
    return Wing(operations=offered(slices), chores=chores)


def _accounts(ground: Ground, keys: PublishedKeys) -> Accounts:
    chosen, base, store = ground.settings, ground.settings.base_url, ground.store
    registration = Registration(ground.secret)
    sender = mailer(chosen.smtp_url, outbox=chosen.data_dir / "outbox", sender=chosen.mail_from)
    return Accounts(
        base=base,
        store=store,
        levels=ground.levels,
        registration=registration,
        verification=Verification(base, store, registration, keys),
        mailing=Mailing(base, sender),
        credentials=ground.credentials,
    )
