"""Takes proofs in: each counts once on all workers, and carries our nonce where the operator wants one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from negotiator import values
from negotiator.errors import ProofRefused
from negotiator.store import moves
from negotiator.store.store import Store
from negotiator.trust.possession.proofs import ALGORITHMS, Sent, believe

_WINDOW: Final = 300_000


@dataclass(frozen=True, slots=True)
class Proofs:
    """Checks the proofs that come with requests to `base`. `pepper` makes the nonces, which need no store."""

    store: Store
    base: str
    pepper: bytes
    demands_nonce: bool = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        """What a proof may be signed with."""
        return ALGORITHMS

    async def check(self, text: str, *, method: str, path: str, token: str | None = None) -> str:
        """The thumbprint of the key that the sender holds; `ProofRefused` for anything wrong with the proof."""
        now = values.now()
        proof = believe(text, Sent(method, f"{self.base}{path}", token), now=now)
        if self.demands_nonce and proof.nonce not in (self._nonce(now), self._nonce(now - _WINDOW)):
            raise ProofRefused(
                "Put the nonce of the DPoP-Nonce header into the proof.",
                error="use_dpop_nonce",
                nonce=self._nonce(now),
            )
        # A digest, so that no client decides how much is kept.
        once = values.digest(f"{proof.thumbprint}\x1f{proof.jti}")
        if not await self.store.write(
            lambda tx: moves.spend(tx, "dpop", once, expires_at=proof.until)
        ):
            raise ProofRefused("The DPoP proof was used before.")
        return proof.thumbprint

    async def key(self, headers: Mapping[str, str], *, method: str, path: str) -> str | None:
        """The key that a request for a token asks to have it bound to; None without a proof."""
        text = headers.get("dpop")
        return None if text is None else await self.check(text, method=method, path=path)

    def _nonce(self, at: int) -> str:
        return values.keyed_digest(self.pepper, f"dpop-nonce:{at // _WINDOW}")[:32]
