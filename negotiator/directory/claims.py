"""The file by which a publisher proves a host to be theirs (docs/contract 9.6), and what such a proof does not settle.

The file's content is a keyed digest of the claimant, of what they claim and of the host, so nothing is stored until the
proof stands, and it proves nothing for anyone else or elsewhere.

A file at the entry's own host proves the host and nothing about a name. So a similar name stands in the way where it
could mislead: the other publisher is verified, the other entry is saved by many, or the name is the other's in
disguise. It does not where the other entry is of the same host, is younger, or was beside this one when a moderator
approved it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import orjson
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Forbidden
from negotiator.directory import catalogue_queries, draft_checks, submissions_queries, submissions_transitions
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.draft_checks import TEXT_FLAGS, DraftScreening, HostProof
from negotiator.directory.name_likeness import is_disguised
from negotiator.directory.tables import Submission
from negotiator.directory.tool_record import EVIDENCE_METHODS, ToolDraft, ToolView, evidence_strength
from negotiator.store.statement import Transaction
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
    host = verified or draft_checks.home_host(draft)
    if not host:
        raise Forbidden("The entry names no address that could prove it.", error="not_claimable")
    return host


def claim_text(file: dict[str, list[str]]) -> str:
    """The file to publish, as text."""
    return orjson.dumps(file, option=orjson.OPT_INDENT_2).decode()


_MOST: Final = 5
_REVIEWED: Final = EVIDENCE_METHODS.index("submission")


class ClaimObstacle(TypedDict):
    """Why the proof of the host does not suffice: the `tool` with a similar name, or a text that a check flags.

    `url` is the address where the same file settles it at once; null where only a moderator does.
    """

    reason: Literal["similar_name", "similar_publisher", "flagged_text"]
    description: str
    tool: str | None
    host: str | None
    url: str | None


def find_obstacles(tx: Transaction, tool: CatalogueTool, host: str, screening: DraftScreening) -> list[ClaimObstacle]:
    """What stands in the way of this tool's claim by the proof of `host`; at most five."""
    approved = submissions_queries.approved_of(tx, tool.id)
    found = [
        *_flagged_texts(tool, screening, approved),
        *_similar_names(tx, tool, host, screening, approved),
        *_similar_publishers(host, screening, approved),
    ]
    return found[:_MOST]


def _flagged_texts(
    tool: CatalogueTool, screening: DraftScreening, approved: list[Submission]
) -> Iterator[ClaimObstacle]:
    members = submissions_transitions.draft_json(tool.view)
    for flag in screening.flags:
        member = flag.pointer.split("/")[1]
        if any(
            member in _flagged(row, "text") and orjson.loads(row.proposed).get(member) == members.get(member)
            for row in approved
        ):
            continue
        told = f"{flag.pointer}: {TEXT_FLAGS[flag.kind]} Correct the text, or ask a moderator."
        yield _obstacle("flagged_text", told)


def _similar_names(
    tx: Transaction, tool: CatalogueTool, host: str, screening: DraftScreening, approved: list[Submission]
) -> Iterator[ClaimObstacle]:
    view, decided = tool.view, {key for row in approved for key in orjson.loads(row.alike)}
    for each in screening.tools:
        other = catalogue_queries.find(tx, each.tool)
        if other is None or other.id in decided or _is_older(tool, view, other):
            continue
        shown = other.view
        if draft_checks.find_listed_ownership([HostProof(host)], shown):
            continue
        theirs = verified_domain(shown)
        if theirs:
            why = f"whose publisher is verified as {theirs}"
        elif each.protected:
            why = "which many people saved"
        elif is_disguised(view.name, shown.name):
            why = "and only look-alike letters tell them apart"
        else:
            continue
        place = theirs or draft_checks.home_host(shown)
        told = f"The name is like that of {shown.name} ({shown.slug}), {why}."
        yield _obstacle("similar_name", told, tool=shown.slug, host=place)


def _similar_publishers(host: str, screening: DraftScreening, approved: list[Submission]) -> Iterator[ClaimObstacle]:
    if any("publisher" in _flagged(row, "publisher") for row in approved):
        return
    for each in screening.publishers:
        domain = each.tool
        if domain != host and not domain.endswith(f".{host}"):
            told = f"The publisher's name is like that of the publisher verified as {domain}."
            yield _obstacle("similar_publisher", told, host=domain)


def _obstacle(
    reason: Literal["similar_name", "similar_publisher", "flagged_text"],
    description: str,
    *,
    tool: str | None = None,
    host: str | None = None,
) -> ClaimObstacle:
    url = url_at(host) if host else None
    return {"reason": reason, "description": description, "tool": tool, "host": host, "url": url}


def _is_older(tool: CatalogueTool, view: ToolView, other: CatalogueTool) -> bool:
    """Whether the tool was listed before the other, under a name that a person looked at."""
    reviewed = evidence_strength(view.evidence, "name") >= _REVIEWED
    return reviewed and tool.created_at < other.created_at


def verified_domain(view: ToolView) -> str | None:
    """The domain as whose holder the publisher is verified; None for an unverified one."""
    publisher = view.publisher
    return publisher.domain if publisher and publisher.verified else None


def _flagged(row: Submission, check: str) -> set[str]:
    """The members of the draft at which this check of an approved submission found something."""
    checks: list[dict[str, Any]] = orjson.loads(row.checks)
    return {str(found["pointer"]).split("/")[1] for each in checks if each["name"] == check for found in each["fields"]}
