"""Finds the caller behind a bearer credential: an API key, an opaque access token or a JWT access token."""

import asyncio
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from negotiator.base import values
from negotiator.base.caller import Caller, RetiringCredential
from negotiator.base.errors import Refusal
from negotiator.runtime import telemetry
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens import api_key_queries, api_keys
from negotiator.tokens.access_tokens import AccessTokens
from negotiator.tokens.api_keys import ClientEntitlement, FindEntitlement

_NOTED_EVERY: Final = 300_000
_REMEMBERED: Final = 8192
log = telemetry.logger(__name__)


@dataclass(frozen=True, slots=True)
class LiveApiKey:
    """A live API key and the entitlement of its client."""

    row: api_key_queries.ApiKeyRow
    standing: ClientEntitlement


class ApiKeyAuthenticator:
    """Checks API keys against their rows at every request and records their use at most once in five minutes.

    A key of a client of level 1 ends after `unused_days` without use.
    """

    def __init__(self, store: Store, pepper: bytes, find_standing: FindEntitlement, *, unused_days: int) -> None:
        self._store = store
        self._pepper = pepper
        self._find_standing = find_standing
        self._unused_after = unused_days * values.DAY
        self._noted: dict[str, int] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def live(self, tx: Transaction, text: str) -> LiveApiKey | None:
        """The key with this text, if the key is live and its client exists."""
        return self._live(tx, api_key_queries.find(tx, self._pepper, text))

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the caller's key is still live."""
        return self._live(tx, api_key_queries.by_id(tx, caller.credential)) is not None

    def _live(self, tx: Transaction, key: api_key_queries.ApiKeyRow | None) -> LiveApiKey | None:
        standing = self._find_standing(tx, key.client_id) if key else None
        if key is None or standing is None:
            return None
        idle = self._unused_after if standing.level == 1 else None
        return LiveApiKey(key, standing) if api_key_queries.is_live(key, unused_after=idle) else None

    def confirm(self, tx: Transaction, found: LiveApiKey, address: str) -> LiveApiKey | None:
        """The key as it is now, if it is still live; its use is recorded if it is due."""
        live = self._live(tx, api_key_queries.by_id(tx, found.row.id))
        if live and is_use_due(live):
            network = client_network(address)
            api_key_queries.note_use(tx, live.row.id, at=values.now(), network=network)
        return live

    async def authenticate(self, text: str, address: str) -> Caller | None:
        """The caller of a live key, else None. A text with a wrong checksum is refused without reading the database."""
        if api_keys.read_key(text) is None:
            return None
        found = await self._store.read(lambda tx: self.live(tx, text))
        if found is None:
            return None
        key, standing = found.row, found.standing
        self._note(key, address)
        return Caller(
            kind="agent",
            principal=key.client_id,
            credential=key.id,
            scopes=standing.scopes,
            client_id=key.client_id,
            level=standing.level,
            rate=standing.rate,
            retiring=RetiringCredential(key.retired_at, key.expires_at)
            if key.retired_at is not None and key.expires_at is not None
            else None,
        )

    async def close(self) -> None:
        """Wait until the pending records of use are written."""
        await asyncio.gather(*self._notes)

    def _note(self, key: api_key_queries.ApiKeyRow, address: str) -> None:
        """Record the use in a background task, unless it was recorded within the last five minutes."""
        now = values.now()
        last = max(key.last_used_at or 0, self._noted.get(key.id, 0))
        if now - last < _NOTED_EVERY:
            return
        if len(self._noted) >= _REMEMBERED:
            del self._noted[next(iter(self._noted))]
        self._noted[key.id] = now
        task = asyncio.create_task(self._write_note(key.id, now, client_network(address)))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _write_note(self, key_id: str, now: int, seen_from: str) -> None:
        try:
            await self._store.write(lambda tx: api_key_queries.note_use(tx, key_id, at=now, network=seen_from))
        except Refusal as refusal:
            log.warning("use of a key was not noted", detail=refusal.detail)


@dataclass(frozen=True, slots=True)
class BearerAuthenticator:
    """Authenticates the text after `Bearer`: an API key, an opaque access token or a JWT access token."""

    keys: ApiKeyAuthenticator
    credentials: AccessTokens

    async def authenticate(self, credential: str, address: str = "") -> Caller | None:
        """The caller of a live credential; None for any other text."""
        if credential.startswith(api_keys.KEY_PREFIX):
            return await self.keys.authenticate(credential, address)
        return await self.credentials.authenticate(credential)

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the caller's credential is live: neither it nor anything that it depends on has ended."""
        if _is_key(caller):
            return self.keys.stands(tx, caller)
        return self.credentials.stands(tx, caller)

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        """The subjects whose revocation ends the caller's credential (see `trust.tables.Revocation`)."""
        if _is_key(caller):
            return frozenset({api_key_queries.key_identity(caller.credential), caller.client_id})
        return self.credentials.subjects(tx, caller)

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        """Whether the holder was revoked rather than this one credential."""
        return _is_key(caller) or self.credentials.is_withdrawn(tx, caller)


def is_use_due(key: LiveApiKey) -> bool:
    """Whether the use of the key was not recorded for five minutes."""
    return values.now() - (key.row.last_used_at or 0) >= _NOTED_EVERY


def _is_key(caller: Caller) -> bool:
    return len(caller.credential) == api_keys.KEY_ID_LENGTH


def client_network(address: str) -> str:
    """The network of a client address, which does not identify one machine: IPv4 /24, IPv6 /48; else empty."""
    try:
        first = ip_address(address.partition("/")[0].partition("%")[0])
    except ValueError:
        return ""
    return str(ip_network((first, 24 if first.version == 4 else 48), strict=False))
