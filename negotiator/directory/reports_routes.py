"""`POST /api/v1/tools/{id}/reports`."""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.base.scopes import TOOLS_READ
from negotiator.base.values import timestamp
from negotiator.directory import reports_queries
from negotiator.directory.schemas_submissions import NewReport, ReportView
from negotiator.http.operation import Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

READ: Final = frozenset({TOOLS_READ})


@dataclass(frozen=True, slots=True)
class Reports:
    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="report_tool",
                method="POST",
                path="/api/v1/tools/{id}/reports",
                summary="Report a problem with a tool",
                run=self.report,
                input=NewReport,
                output=ReportView,
                status=201,
                scopes=READ,
                creates=True,
                refusals=(400, 404, 409, 410, 422),
                tag="submissions",
            )
        ]

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
