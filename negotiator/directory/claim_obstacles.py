"""What keeps a proof of its host from making an entry's publisher verified: names like those of others, flagged texts.

A file at the entry's own host proves the host and nothing about a name. So a similar name stands in the way where it
could mislead: the other publisher is verified, the other entry is saved by many, or the name is the other's in
disguise. It does not where the other entry is of the same host, is younger, or was beside this one when a moderator
approved it.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

import orjson
from typing_extensions import TypedDict

from negotiator.directory import catalogue_queries, claim_files, submissions_drafts, submissions_queries, tool_ownership
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.draft_checks import TEXT_FLAGS, DraftScreening
from negotiator.directory.name_likeness import is_disguised
from negotiator.directory.tables import Submission
from negotiator.directory.tool_ownership import HostProof
from negotiator.directory.tool_record import EVIDENCE_METHODS, ToolView, evidence_strength
from negotiator.store.statement import Transaction

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
    members = submissions_drafts.draft_json(tool.view)
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
        if tool_ownership.find_listed_ownership([HostProof(host)], shown):
            continue
        theirs = _verified_domain(shown)
        if theirs:
            why = f"whose publisher is verified as {theirs}"
        elif each.protected:
            why = "which many people saved"
        elif is_disguised(view.name, shown.name):
            why = "and only look-alike letters tell them apart"
        else:
            continue
        place = theirs or tool_ownership.home_host(shown)
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
    url = claim_files.url_at(host) if host else None
    return {"reason": reason, "description": description, "tool": tool, "host": host, "url": url}


def _is_older(tool: CatalogueTool, view: ToolView, other: CatalogueTool) -> bool:
    """Whether the tool was listed before the other, under a name that a person looked at."""
    reviewed = evidence_strength(view.evidence, "name") >= _REVIEWED
    return reviewed and tool.created_at < other.created_at


def _verified_domain(view: ToolView) -> str | None:
    publisher = view.publisher
    return publisher.domain if publisher and publisher.verified else None


def _flagged(row: Submission, check: str) -> set[str]:
    """The members of the draft at which this check of an approved submission found something."""
    checks: list[dict[str, Any]] = orjson.loads(row.checks)
    return {str(found["pointer"]).split("/")[1] for each in checks if each["name"] == check for found in each["fields"]}
