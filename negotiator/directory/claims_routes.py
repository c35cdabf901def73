"""A publisher proves a tool to be theirs by a file at its own address: a listed one, or a new one while its submission
waits (docs/contract 9.6).

A claim makes the publisher verified; it gives no right to change the entry without a moderator.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import orjson
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, Forbidden
from negotiator.base.scopes import TOOLS_WRITE
from negotiator.directory import catalogue_queries, claims, submissions_queries, submissions_transitions
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.claims import ClaimFile, ClaimFiles, ClaimObstacle, provable_host, url_at
from negotiator.directory.draft_checks import ToolNameIndex
from negotiator.directory.schemas_submissions import SubmissionId, SubmissionView, SubmittedToolPath
from negotiator.directory.tables import Submission
from negotiator.directory.tool_record import FieldEvidence, ProvenPublisher, ToolDraft, ToolRecord
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_claim_operation = partial(Operation, method="POST", scopes=frozenset({TOOLS_WRITE}), tag="submissions")


class ToolClaimRequest(ClaimFile):
    """What to publish: a JSON object with `negotiator_claims`, a list that has `value`, at `url`.

    `obstacles` are why that alone does not suffice; usually there are none.
    """

    tool_id: str
    obstacles: list[ClaimObstacle]


class ToolClaimResult(TypedDict):
    """A claim that stands: the tool's publisher is verified as `host`."""

    tool_id: str
    slug: str
    host: str
    status: Literal["verified"]


class SubmissionClaimRequest(ClaimFile):
    """What to publish: a JSON object with `negotiator_claims`, a list that has `value`, at `url`."""

    submission_id: str


@dataclass(frozen=True, slots=True)
class PublisherClaims:
    """The two steps of a claim: the file to publish, and its proof."""

    base: str
    store: Store
    files: ClaimFiles
    name_index: ToolNameIndex

    def operations(self) -> list[Operation]:
        return [
            _claim_operation(
                name="request_submission_claim",
                path="/api/v1/submissions/{id}/claim",
                summary="Say which file proves that you publish the new tool, while its submission waits",
                run=self.request_for_submission,
                input=SubmissionId,
                output=SubmissionClaimRequest,
                refusals=(403, 404, 409),
            ),
            _claim_operation(
                name="complete_submission_claim",
                path="/api/v1/submissions/{id}/claim/proof",
                summary="Read that file; the tool's publisher is verified as soon as the tool is listed",
                run=self.complete_for_submission,
                input=SubmissionId,
                output=SubmissionView,
                refusals=(403, 404, 409, 503),
            ),
            _claim_operation(
                name="request_tool_claim",
                path="/api/v1/tools/{id}/claim",
                summary="Say which file at the tool's address proves that you publish it, and what else is needed",
                run=self.request_for_tool,
                input=SubmittedToolPath,
                output=ToolClaimRequest,
                refusals=(403, 404, 410),
            ),
            _claim_operation(
                name="complete_tool_claim",
                path="/api/v1/tools/{id}/claim/proof",
                summary="Read that file, and mark the tool's publisher as verified",
                run=self.complete_for_tool,
                input=SubmittedToolPath,
                output=ToolClaimResult,
                refusals=(403, 404, 409, 410, 503),
            ),
        ]

    async def request_for_tool(self, call: Call[SubmittedToolPath]) -> ToolClaimRequest:
        """The file to publish, the same for the same caller and tool."""
        tool, host, obstacles = await self._examine(call.input.id)
        others = [each["host"] for each in obstacles if each["host"]]
        return {"tool_id": tool.id, **self.files.describe(call.caller, tool.id, host, others), "obstacles": obstacles}

    async def complete_for_tool(self, call: Call[SubmittedToolPath]) -> ToolClaimResult:
        """403 `claim_not_proven` while the file does not have the value; 409 when a moderator must look first."""
        caller = call.caller
        tool, host, obstacles = await self._examine(call.input.id)
        await self.files.require(caller, tool.id, host)
        if left := [each for each in obstacles if not await self._settled(caller, tool, each)]:
            raise _needs_moderator(tool, left)

        def unit(tx: Transaction) -> CatalogueTool:
            current = catalogue_queries.require(tx, tool.id)
            if current.view.record != tool.view.record:  # saves may be counted meanwhile
                raise Conflict("The entry has changed meanwhile.", error="claim_outdated")
            return _verify(tx, current, host, caller)

        after = await self.store.write(unit)
        return {"tool_id": after.id, "slug": after.slug, "host": host, "status": "verified"}

    async def _examine(self, key: str) -> tuple[CatalogueTool, str, list[ClaimObstacle]]:
        """The tool, the host that proves it, and what else stands in the way."""
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        view = tool.view
        host = provable_host(view, claims.verified_domain(view))
        screening = await self.name_index.see(view, besides=tool.id)
        return tool, host, await self.store.read(lambda tx: claims.find_obstacles(tx, tool, host, screening))

    async def _settled(self, caller: Caller, tool: CatalogueTool, obstacle: ClaimObstacle) -> bool:
        """Whether the caller's file is at the other host too, so that both belong to the caller."""
        if obstacle["host"] is None:
            return False
        try:
            await self.files.require(caller, tool.id, obstacle["host"])
        except Forbidden:
            return False
        return True

    async def request_for_submission(self, call: Call[SubmissionId]) -> SubmissionClaimRequest:
        """The file to publish, the same for the same caller and submission."""
        row, draft = await self._open(call)
        return {"submission_id": row.id, **self.files.describe(call.caller, row.id, provable_host(draft))}

    async def complete_for_submission(self, call: Call[SubmissionId]) -> SubmissionView:
        """403 `claim_not_proven` while the file does not have the value."""
        row, draft = await self._open(call)
        host, owner = provable_host(draft), call.caller.principal
        await self.files.require(call.caller, row.id, host)
        screening = await self.name_index.see(draft)

        def unit(tx: Transaction) -> SubmissionView:
            current = submissions_queries.find_own(tx, owner, row.id)
            after = submissions_transitions.prove(tx, call.caller, current, screening, host)
            return submissions_queries.submission_view(tx, after, self.base)

        return await self.store.write(unit)

    async def _open(self, call: Call[SubmissionId]) -> tuple[Submission, ToolDraft]:
        """The caller's submission of a new tool and its draft; 404, 409 for a decided one or that of a change."""
        owner, key = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> tuple[Submission, ToolDraft]:
            row = submissions_queries.find_own(tx, owner, key, expected=call.expected)
            if row.type != "create":
                raise Conflict("The tool is listed: claim the tool.", error="claim_the_tool")
            if row.status not in submissions_queries.OPEN_STATUSES:
                raise Conflict(f"The submission is {row.status}.", error="illegal_transition")
            return row, submissions_transitions.draft_of(tx, row, orjson.loads(row.proposed))

        return await self.store.read(unit)


def _needs_moderator(tool: CatalogueTool, obstacles: list[ClaimObstacle]) -> Conflict:
    """The refusal that says why, who decides, and what the claimant can do themselves."""
    why = " ".join(each["description"] for each in obstacles)
    urls = [each["url"] for each in obstacles if each["url"]]
    own = f" If that is yours too, put the same file at {' and '.join(urls)}." if urls else ""
    return Conflict(
        f"Your file was found. {why}{own} Else a moderator of this directory decides: PATCH "
        f"/api/v1/tools/{tool.slug} with {{}} asks them, and after their approval send this request again.",
        error="claim_needs_moderator",
        members={"obstacles": obstacles},
    )


def _verify(tx: Transaction, tool: CatalogueTool, host: str, caller: Caller) -> CatalogueTool:
    view = tool.view
    name = view.publisher.name if view.publisher else None
    proof = FieldEvidence(
        field="publisher",
        source=f"a file that its publisher put at {host}",
        url=url_at(host),
        checked_at=values.timestamp(values.now()),
        method="owner",
    )
    kept = [line for line in view.evidence if line.field != "publisher"][:39]
    record = ToolRecord.model_validate(
        {
            **view.record.model_dump(),
            "publisher": ProvenPublisher(name=name, domain=host, verified=True, method="http"),
            "evidence": [*kept, proof],
        }
    )
    after = catalogue_queries.put(tx, record, actor=caller.actor)
    catalogue_queries.record_event(tx, "tool.changed", tool, after, actor=caller.actor, domain=host)
    return after
