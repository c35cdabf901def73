"""The file by which a publisher proves a host to be theirs (docs/contract 9.6).

The file's content is a keyed digest of the claimant, of what they claim and of the host, so nothing is stored until the
proof stands, and it proves nothing for anyone else or elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Forbidden
from negotiator.directory import tool_ownership
from negotiator.directory.tool_record import ToolDraft
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchFailed

CLAIM_FILE: Final = "/.well-known/negotiator-claim.json"
MEMBER: Final = "negotiator_claims"
_FILE_BYTES: Final = 16 * 1024
_LENGTH: Final = 40


class ClaimFile(TypedDict):
    """What to publish: a JSON object with `negotiator_claims`, a list that has `value`, at `url`."""

    host: str
    url: str
    value: str
    file: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class ClaimFiles:
    """Makes and reads these files; `subject` is the id of a tool or a submission."""

    secret: bytes
    fetcher: ClientUrlFetcher

    def describe(self, caller: Caller, subject: str, host: str, others: Sequence[str] = ()) -> ClaimFile:
        """The file, the same for the same caller and subject. It is good for the `others` too, at their own address."""
        listed = [self._value(caller, subject, each) for each in (host, *others)]
        return {"host": host, "url": url_at(host), "value": listed[0], "file": {MEMBER: listed}}

    async def require(self, caller: Caller, subject: str, host: str) -> None:
        """403 `claim_not_proven` unless the file at the host has the caller's value; 429 and 503 if it is not read."""
        url = url_at(host)
        try:
            file = await self.fetcher.json(url, limit=_FILE_BYTES, address=caller.principal)
        except FetchFailed as failed:
            raise Forbidden(
                f"The file at {url} could not be read. A failed address is asked again after a minute.",
                error="claim_not_proven",
                detail=failed.detail,
            ) from None
        claims: Any = file.get(MEMBER)
        wanted = self._value(caller, subject, host)
        listed = cast("list[Any]", claims) if isinstance(claims, list) else []
        if not any(values.equal_in_constant_time(str(each), wanted) for each in listed):
            raise Forbidden(f"The file at {url} does not have the text that was asked for.", error="claim_not_proven")

    def _value(self, caller: Caller, subject: str, host: str) -> str:
        named = f"claim:{caller.principal}:{subject}:{host}"
        return values.keyed_digest(self.secret, named)[:_LENGTH]


def url_at(host: str) -> str:
    """The address of the file at a host."""
    return f"https://{host}{CLAIM_FILE}"


def provable_host(draft: ToolDraft, verified: str | None = None) -> str:
    """The host that proves a tool: of its `verified` publisher, else of its homepage or its repository's account.

    403 `not_claimable` when it names none.
    """
    host = verified or tool_ownership.home_host(draft)
    if not host:
        raise Forbidden("The entry names no address that could prove it.", error="not_claimable")
    return host


def claim_text(file: dict[str, list[str]]) -> str:
    """The file to publish, as text."""
    return orjson.dumps(file, option=orjson.OPT_INDENT_2).decode()
