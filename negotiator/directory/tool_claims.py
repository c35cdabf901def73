"""A publisher proves a tool to be theirs by a file at its own address (docs/contract 9.6).

The file's content is a keyed digest of the claimant, the tool and the host, so nothing is stored until the proof
stands, and it proves nothing for anyone else or elsewhere. A claim makes the publisher verified; it gives no right to
change the entry without a moderator.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from negotiator import audit, values
from negotiator.caller import Caller
from negotiator.directory import catalogue_queries, submissions_drafts, tool_ownership
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.name_index import ToolNameIndex
from negotiator.directory.submissions_routes import WRITE
from negotiator.directory.tool_record import (
    FieldEvidence,
    ProvenPublisher,
    ToolRecord,
    ToolView,
)
from negotiator.errors import Conflict, Forbidden
from negotiator.http.operation import Call, Operation
from negotiator.schema import Strict
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchFailed

CLAIM_FILE: Final = "/.well-known/negotiator-claim.json"
MEMBER: Final = "negotiator_claims"
_FILE_BYTES: Final = 16 * 1024
_LENGTH: Final = 40


class ClaimTool(Strict):
    """A tool that the caller publishes."""

    id: str = Field(max_length=100, description="The tool's id, tool_…, or its slug.")


class ToolClaimRequest(TypedDict):
    """What to publish: a JSON object with `negotiator_claims`, a list that has `value`, at `url`."""

    tool_id: str
    host: str
    url: str
    value: str
    file: dict[str, list[str]]


class ToolClaimResult(TypedDict):
    """A claim that stands: the tool's publisher is verified as `host`."""

    tool_id: str
    slug: str
    host: str
    status: Literal["verified"]


@dataclass(frozen=True, slots=True)
class _HostProof:
    """A host that the claimant controls, as `tool_ownership` reads proofs."""

    domain: str
    type: str = "agent_id"


@dataclass(frozen=True, slots=True)
class ToolClaims:
    """The two steps of a claim."""

    store: Store
    secret: bytes
    fetcher: ClientUrlFetcher
    name_index: ToolNameIndex

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="request_tool_claim",
                method="POST",
                path="/api/v1/tools/{id}/claim",
                summary="Say which file at the tool's address proves that you publish it",
                run=self.request,
                input=ClaimTool,
                output=ToolClaimRequest,
                scopes=WRITE,
                refusals=(403, 404, 410),
                tag="submissions",
            ),
            Operation(
                name="complete_tool_claim",
                method="POST",
                path="/api/v1/tools/{id}/claim/proof",
                summary="Read that file, and mark the tool's publisher as verified",
                run=self.complete,
                input=ClaimTool,
                output=ToolClaimResult,
                scopes=WRITE,
                refusals=(403, 404, 409, 410, 503),
                tag="submissions",
            ),
        ]

    async def request(self, call: Call[ClaimTool]) -> dict[str, Any]:
        """The file to publish, the same for the same caller and tool."""
        key = call.input.id
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        host = _host(tool.view)
        value = self._value(call.caller, tool, host)
        return {
            "tool_id": tool.id,
            "host": host,
            "url": f"https://{host}{CLAIM_FILE}",
            "value": value,
            "file": {MEMBER: [value]},
        }

    async def complete(self, call: Call[ClaimTool]) -> dict[str, Any]:
        """403 `claim_not_proven` while the file does not have the value; 409 when a moderator must look first."""
        key, caller = call.input.id, call.caller
        tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        host = _host(tool.view)
        screening = await self.name_index.see(tool.view, besides=tool.id)
        publishers = [each for each in screening.publishers if each.tool != host]
        if screening.flags or screening.tools or publishers:
            raise Conflict(
                "A person must look at this entry first: its texts or names need a check.",
                error="claim_needs_moderator",
            )
        await self._require_proof(caller, tool, host)

        def unit(tx: Transaction) -> CatalogueTool:
            current = catalogue_queries.require(tx, tool.id)
            if current.view.publisher != tool.view.publisher or _host(current.view) != host:
                raise Conflict("The entry has changed meanwhile.", error="claim_outdated")
            return _verify(tx, current, host, caller)

        after = await self.store.write(unit)
        return {"tool_id": after.id, "slug": after.slug, "host": host, "status": "verified"}

    async def _require_proof(self, caller: Caller, tool: CatalogueTool, host: str) -> None:
        url = f"https://{host}{CLAIM_FILE}"
        try:
            file = await self.fetcher.json(url, limit=_FILE_BYTES, address=caller.principal)
        except FetchFailed as failed:
            raise Forbidden(
                f"The file at {url} could not be read. A failed address is asked again after a minute.",
                error="claim_not_proven",
                detail=failed.detail,
            ) from None
        claims: Any = file.get(MEMBER)
        wanted = self._value(caller, tool, host)
        listed = cast("list[Any]", claims) if isinstance(claims, list) else []
        if not any(values.equal_in_constant_time(str(each), wanted) for each in listed):
            raise Forbidden(
                f"The file at {url} does not have the text that was asked for.",
                error="claim_not_proven",
            )

    def _value(self, caller: Caller, tool: CatalogueTool, host: str) -> str:
        named = f"claim:{caller.principal}:{tool.id}:{host}"
        return values.keyed_digest(self.secret, named)[:_LENGTH]


def _host(view: ToolView) -> str:
    """The host that proves the tool: of its verified publisher, else of its homepage or its repository's account."""
    publisher = view.publisher
    proven = publisher.domain if publisher and publisher.verified else None
    host = proven or tool_ownership.home_host(view)
    if not host or tool_ownership.find_listed_ownership([_HostProof(host)], view) is None:
        raise Forbidden("The entry names no address that could prove it.", error="not_claimable")
    return host


def _verify(tx: Transaction, tool: CatalogueTool, host: str, caller: Caller) -> CatalogueTool:
    view = tool.view
    name = view.publisher.name if view.publisher else None
    proof = FieldEvidence(
        field="publisher",
        source=f"a file that its publisher put at {host}",
        url=f"https://{host}{CLAIM_FILE}",
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
    audit.record(
        tx,
        "tool.changed",
        tool.id,
        actor=caller.actor,
        before=submissions_drafts.digest(tool.document),
        after=submissions_drafts.digest(after.document),
        domain=host,
    )
    return after


def claim_text(file: dict[str, list[str]]) -> str:
    """The file to publish, as text."""
    return orjson.dumps(file, option=orjson.OPT_INDENT_2).decode()
