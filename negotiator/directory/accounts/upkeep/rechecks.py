"""A document proves control of its host now and no longer: it is looked at again every 30 days.

Each worker may look; what it saw is written by one conditional statement, so that two of them do not count one miss
twice. The network is asked outside any unit.
"""

from dataclasses import dataclass
from typing import Final

from negotiator import values
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.proving.identity import Identity
from negotiator.directory.accounts.signing.published import PublishedKeys, Unreadable
from negotiator.directory.accounts.signing.thumbprints import thumbprint
from negotiator.directory.accounts.tables import Proof
from negotiator.store.store import Store

DAY: Final = 86_400_000
EVERY: Final = 30 * DAY
AGAIN_AFTER: Final = DAY
_TOLERATED: Final = 1
_AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True)
class Rechecks:
    """Looks again at what agents publish, a few documents at a time."""

    store: Store
    keys: PublishedKeys

    async def __call__(self) -> None:
        """Look at what is due. A proof is dropped after two failures, a day apart."""
        before = values.now() - EVERY
        for proof in await self.store.read(lambda tx: registered.due(tx, before, limit=_AT_ONCE)):
            await self._look(proof)

    async def _look(self, proof: Proof) -> None:
        if await self._is_there(proof):
            await self.store.write(lambda tx: registered.seen(tx, proof))
        else:
            again_in = EVERY - AGAIN_AFTER
            await self.store.write(
                lambda tx: registered.missed(tx, proof, again_in=again_in, tolerated=_TOLERATED)
            )

    async def _is_there(self, proof: Proof) -> bool:
        try:
            published = await self.keys.all(Identity(proof.type, proof.value), address=None)
        except Unreadable:
            return False
        return any(thumbprint(key) == proof.thumbprint for _, _, key in published.keys)
