"""Which tools a caller is shown, and how it gets access to the others.

An OAuth client that a user let in can ask for more scopes after a refusal (MCP, Authorization, Scope Challenge
Handling), so it is shown every tool. Other callers cannot widen their tokens: they are shown the tools that they may
call and are told about the others. A caller without a token is shown every tool too, since the refusal makes it sign
in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from negotiator.base.caller import Caller
from negotiator.base.errors import InsufficientScope, Refusal, Unauthorized
from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.http.operation import Operation, ServiceDescription
from negotiator.mcp import tools

_PAGE: Final = "/agents"
"""The console's page where users make delegation codes."""


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """The tools of a service and which callers may use them."""

    service: ServiceDescription
    tools: Mapping[str, Operation]

    def listed(self, caller: Caller) -> tuple[str, ...]:
        """The names of the tools that `tools/list` shows to this caller."""
        everything = caller.kind == "nobody" or _can_step_up(caller)
        return tuple(
            name
            for name, operation in self.tools.items()
            if (is_unclaimed(caller) if _redeems(operation) else everything or operation.scopes <= caller.scopes)
        )

    def description(self, name: str, caller: Caller) -> str:
        """The addition to the tool's description for this caller: the scopes that a delegation code would add."""
        missing = self._missing(caller, within=ASSISTANT) if _redeems(self.tools[name]) else {}
        return f"Your token lacks {_spelled(missing)}." if missing else ""

    def beyond(self, caller: Caller) -> str:
        """The tools that are not listed to this caller and how it gets them; empty if all are listed."""
        missing = self._missing(caller)
        if not missing:
            return ""
        return f"Some tools are not listed: your token lacks {_spelled(missing)}. {self.remedy(caller, missing)}"

    def explanation(self, refusal: Refusal, caller: Caller | None) -> str:
        """The refusal's description, with the next step for a model."""
        if isinstance(refusal, InsufficientScope) and caller is not None:
            return f"{refusal.description} {self.remedy(caller, refusal.scopes)}"
        if isinstance(refusal, Unauthorized):
            how = f"An agent gets a token by itself: {self.service.base}/auth.md says how."
            redeeming = self._redeeming_tool()
            if refusal.sent and redeeming:
                how += f" After {redeeming}, only the token in its answer works."
            return f"{refusal.description} {how}"
        return refusal.description

    def remedy(self, caller: Caller, scopes: Iterable[str]) -> str:
        """How this caller gets these scopes, in one or two sentences."""
        needed = ordered(scopes)
        if _can_step_up(caller):
            return f"Ask the user to authorize this client again, with {_listed(needed)}."
        if caller.by_assertion:
            return (
                f"An administrator decides whether this client may have {_listed(needed)}. "
                "The user's organisation let it in, so that signing in again changes nothing."
            )
        if caller.kind == "client":
            return (
                f"Request a token with {_listed(needed)}; "
                "the operator of the server decides which scopes this client may have."
            )
        own = [scope for scope in needed if scope in ASSISTANT]
        directory = [scope for scope in needed if scope not in ASSISTANT]
        steps = [self._delegated(caller, own)] if own else []
        if directory:
            steps.append(
                f"For {_listed(directory)}, register with the directory and request these scopes: "
                f"{self.service.base}/auth.md says how."
            )
        return " ".join(steps)

    def _delegated(self, caller: Caller, scopes: list[str]) -> str:
        code = (
            f"ask the user for a delegation code that grants {_listed(scopes)} "
            f"(the user makes one at {self.service.base}{_PAGE})"
        )
        redeeming = self._redeeming_tool()
        if redeeming and is_unclaimed(caller):
            return f"{code[0].upper()}{code[1:]}, then call {redeeming} with it."
        return f"Register as a new agent ({self.service.base}/auth.md says how) and {code}."

    def _redeeming_tool(self) -> str | None:
        return next((name for name, found in self.tools.items() if _redeems(found)), None)

    def _missing(self, caller: Caller, within: Iterable[str] | None = None) -> dict[str, list[str]]:
        """The names of the tools that are not listed because of a missing scope, by scope."""
        if caller.kind == "nobody" or _can_step_up(caller):
            return {}
        found: dict[str, list[str]] = {}
        for name, operation in self.tools.items():
            for scope in ordered(operation.scopes - caller.scopes):
                if within is None or scope in within:
                    found.setdefault(scope, []).append(name)
        return found


def make_tool_access(service: ServiceDescription) -> ToolAccess:
    return ToolAccess(service, tools.tool_operations(service))


def is_unclaimed(caller: Caller) -> bool:
    """Whether this is an agent of the assistant that no user has claimed; agents of the directory have a level."""
    return caller.kind == "agent" and caller.user_id is None and caller.level == 0


def _can_step_up(caller: Caller) -> bool:
    """Whether the client can ask for a wider token: it acts for a user who was asked for consent."""
    return caller.kind == "client" and caller.user_id is not None and not caller.by_assertion


def _redeems(operation: Operation) -> bool:
    return operation.tool is not None and operation.tool.unclaimed


def _listed(scopes: list[str]) -> str:
    return " and ".join(scopes)


def _spelled(missing: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{scope} (for {', '.join(names)})" for scope, names in missing.items())
