"""`POST /api/v1/tools`, `PATCH` and `DELETE /api/v1/tools/{id}`, `/api/v1/submissions`, reports about tools."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from negotiator.base.errors import Conflict
from negotiator.base.scopes import TOOLS_READ, TOOLS_WRITE
from negotiator.base.values import timestamp
from negotiator.directory import (
    catalogue_queries,
    draft_checks,
    reports_queries,
    submissions_queries,
    submissions_transitions,
)
from negotiator.directory.address_reader import AddressReader
from negotiator.directory.draft_checks import ToolNameIndex
from negotiator.directory.schemas_listing import TOOL_PATH, TOOLS_PATH
from negotiator.directory.schemas_submissions import (
    SUBMISSION_PATH,
    SUBMISSIONS_PATH,
    AddressReading,
    AddressSource,
    AppealSubmission,
    EditSubmission,
    EditTool,
    ListSubmissions,
    NewReport,
    NewTool,
    ReadAddress,
    ReportView,
    SubmissionId,
    SubmissionList,
    SubmissionView,
    SubmittedToolPath,
)
from negotiator.directory.tables import Submission
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_submission_operation = partial(Operation, scopes=frozenset({TOOLS_WRITE}), tag="submissions")
_SELDOM: Final = (
    *("subcategories", "docs_url", "repository", "packages", "auth"),
    *("pricing", "open_source", "publisher", "external_ids", "version"),
)
"""Members that a model seldom knows; they are left out of the MCP tool."""


@dataclass(frozen=True, slots=True)
class Submissions:
    """Proposals of agents for the catalogue, and their reports about tools."""

    base: str
    store: Store
    cursors: Cursors
    name_index: ToolNameIndex
    reader: AddressReader

    def operations(self) -> list[Operation]:
        return [
            _submission_operation(
                name="submit_tool",
                method="POST",
                path=TOOLS_PATH,
                summary="Submit a new tool; one from its verified publisher is listed at once when no check flags it",
                run=self.submit,
                input=NewTool,
                output=SubmissionView,
                status=202,
                creates=True,
                refusals=(400, 409, 422),
                tool=ToolOffer(
                    "Submit a tool",
                    hint=(
                        "Use it when search_tools does not find a tool that should be there; list_categories has its "
                        "category. A person reviews it."
                    ),
                    public=True,
                    leave_out=_SELDOM,
                ),
            ),
            _submission_operation(
                name="read_tool_address",
                method="POST",
                path="/api/v1/tools/read-address",
                summary="Read what a tool's address says about it, as a draft to mend; nothing is stored",
                run=self.read_address,
                input=ReadAddress,
                output=AddressReading,
                refusals=(400, 422, 503),
            ),
            _submission_operation(
                name="request_update",
                method="PATCH",
                path=TOOL_PATH,
                summary="Propose a change to a tool, or claim it, by a JSON merge patch; needs If-Match",
                run=self.request,
                input=EditTool,
                output=SubmissionView,
                status=202,
                refusals=(400, 404, 409, 410, 412, 422, 428),
            ),
            _submission_operation(
                name="list_submissions",
                method="GET",
                path=SUBMISSIONS_PATH,
                summary="List your submissions, newest first, by status",
                run=self.list,
                input=ListSubmissions,
                output=SubmissionList,
                refusals=(400, 422),
            ),
            _submission_operation(
                name="get_submission",
                method="GET",
                path=SUBMISSION_PATH,
                summary="Read one of your submissions: its status, its checks, the moderator's reason",
                run=self.get,
                input=SubmissionId,
                output=SubmissionView,
                refusals=(404,),
            ),
            _submission_operation(
                name="change_submission",
                method="PATCH",
                path=SUBMISSION_PATH,
                summary="Change an open submission, which is then checked again; needs If-Match",
                run=self.change,
                input=EditSubmission,
                output=SubmissionView,
                refusals=(400, 404, 409, 410, 412, 422, 428),
            ),
            _submission_operation(
                name="appeal_submission",
                method="POST",
                path="/api/v1/submissions/{id}/appeal",
                summary="Appeal against a rejection, once and within 30 days",
                run=self.appeal,
                input=AppealSubmission,
                output=SubmissionView,
                creates=True,
                refusals=(400, 404, 409, 412, 422),
            ),
            _submission_operation(
                name="withdraw_submission",
                method="DELETE",
                path=SUBMISSION_PATH,
                summary="Withdraw an open submission",
                run=self.withdraw,
                input=SubmissionId,
                status=204,
                refusals=(404, 409, 412),
            ),
            _submission_operation(
                name="take_down_tool",
                method="DELETE",
                path=TOOL_PATH,
                summary="Delete a tool of which you are the verified publisher, at once and for good",
                run=self.take_down,
                input=SubmittedToolPath,
                status=204,
                refusals=(403, 404, 410, 412),
            ),
            Operation(
                name="report_tool",
                method="POST",
                path="/api/v1/tools/{id}/reports",
                summary="Report a problem with a tool",
                run=self.report,
                input=NewReport,
                output=ReportView,
                status=201,
                scopes=frozenset({TOOLS_READ}),
                creates=True,
                refusals=(400, 404, 409, 410, 422),
                tag="submissions",
            ),
        ]

    async def submit(self, call: Call[NewTool]) -> Answer:
        draft = call.input
        draft_checks.require_acceptable(draft)
        screening = await self.name_index.see(draft)

        def unit(tx: Transaction) -> SubmissionView:
            return self._view(tx, submissions_transitions.propose(tx, call.caller, draft, screening))

        return self._accepted(await self.store.write(call.once(unit)))

    async def read_address(self, call: Call[ReadAddress]) -> AddressReading:
        """What the documents at an address state; each fetch counts against a budget of the caller's."""
        url = call.input.url
        draft, sources = await self.reader.read(url, call.caller.principal)
        told: list[AddressSource] = [
            {"what": each.what, "url": each.url, "states": sorted(each.found or ())} for each in sources
        ]
        return {"url": url, "draft": draft, "sources": told}

    async def request(self, call: Call[EditTool]) -> Answer:
        """Propose a change to a tool."""
        call.require_condition()
        key, patch = call.input.id, call.input.patch
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        screening = await self.name_index.see(submissions_transitions.patched_draft(tool.view, patch), besides=tool.id)

        def unit(tx: Transaction) -> SubmissionView:
            tool = catalogue_queries.require(tx, key)
            call.require_revision(tool.revision)
            row = submissions_transitions.request_change(tx, call.caller, tool, patch, screening)
            return self._view(tx, row)

        return self._accepted(await self.store.write(unit))

    async def take_down(self, call: Call[SubmittedToolPath]) -> Answer:
        """Delete a tool for its verified publisher."""
        expected = call.expected
        await self.store.write(
            lambda tx: submissions_transitions.take_down(tx, call.caller, call.input.id, expected=expected)
        )
        return Answer(None, 204)

    async def list(self, call: Call[ListSubmissions]) -> SubmissionList:
        """A page of the caller's submissions."""
        owner, body = call.caller.principal, call.input
        bound = ("submissions", owner, body.status)
        before = self.cursors.open(body.cursor, *bound) if body.cursor else None

        def unit(tx: Transaction) -> SubmissionList:
            found = submissions_queries.page(tx, owner, status=body.status, before=before, limit=body.limit)
            shown, cursor = self.cursors.page(found, body.limit, lambda row: row.id, *bound)
            return {"items": [self._view(tx, row) for row in shown], "next_cursor": cursor}

        return await self.store.scan(unit)

    async def get(self, call: Call[SubmissionId]) -> SubmissionView:
        owner, key = call.caller.principal, call.input.id
        return await self.store.read(lambda tx: self._view(tx, submissions_queries.find_own(tx, owner, key)))

    async def change(self, call: Call[EditSubmission]) -> SubmissionView:
        """Change an open submission."""
        call.require_condition()
        owner, body = call.caller.principal, call.input

        def current_draft(tx: Transaction) -> Any:
            row = submissions_queries.find_own(tx, owner, body.id)
            if row.status not in submissions_queries.OPEN_STATUSES:
                raise Conflict(f"The submission is {row.status}.", error="illegal_transition")
            return row.tool, submissions_transitions.draft_of(
                tx, row, submissions_transitions.combined_proposal(row, body.patch)
            )

        tool, draft = await self.store.read(current_draft)
        screening = await self.name_index.see(draft, besides=tool or "")

        def unit(tx: Transaction) -> SubmissionView:
            row = submissions_queries.find_own(tx, owner, body.id, expected=call.expected)
            return self._view(tx, submissions_transitions.change(tx, call.caller, row, body.patch, screening))

        return await self.store.write(unit)

    async def withdraw(self, call: Call[SubmissionId]) -> Answer:
        owner, key = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> None:
            row = submissions_queries.find_own(tx, owner, key, expected=call.expected)
            submissions_transitions.withdraw(tx, call.caller, row)

        await self.store.write(unit)
        return Answer(None, 204)

    async def appeal(self, call: Call[AppealSubmission]) -> SubmissionView:
        """Put a rejected submission into the queue again."""
        owner, body = call.caller.principal, call.input

        def unit(tx: Transaction) -> SubmissionView:
            row = submissions_queries.find_own(tx, owner, body.id, expected=call.expected)
            return self._view(tx, submissions_transitions.appeal(tx, call.caller, row, body.message))

        view: SubmissionView = await self.store.write(call.once(unit))
        return view

    async def report(self, call: Call[NewReport]) -> dict[str, Any]:
        """Store a report; whether it led to a quarantine is not shown."""

        def unit(tx: Transaction) -> dict[str, Any]:
            row = reports_queries.add_report(tx, call.caller, call.input)
            return {
                "id": row.id,
                "tool_id": row.tool,
                "reason": row.reason,
                "details": row.details,
                "status": row.status,
                "created_at": timestamp(row.created_at),
            }

        view: dict[str, Any] = await self.store.write(call.once(unit))
        return view

    def _accepted(self, view: SubmissionView) -> Answer:
        return Answer(view, 202, {"location": f"{self.base}{SUBMISSIONS_PATH}/{view['id']}"})

    def _view(self, tx: Transaction, row: Submission) -> SubmissionView:
        return submissions_queries.submission_view(tx, row, self.base)
