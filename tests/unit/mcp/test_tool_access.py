"""Which tools each kind of caller is shown, and what it is told of the others."""

from dataclasses import replace

import pytest

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import Forbidden, InsufficientScope, Unauthorized
from negotiator.base.scopes import ANONYMOUS, ASSISTANT, DIRECTORY
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.mcp import tools
from negotiator.mcp.endpoint import requires_credential
from negotiator.mcp.tool_access import ToolAccess, make_tool_access
from tests.conftest import make_settings
from tests.helpers.form_browser import BASE

REDEEM = "redeem_delegation_code"
WRITING = {"add_tactic", "remember", "record_win"}
SAVING = {"list_collections", "create_collection", "save_to_collection", "submit_tool"}
UNCLAIMED = Caller("agent", "agt_1", "t", frozenset(ANONYMOUS), client_id="agt_1")
CLAIMED = replace(UNCLAIMED, principal="usr_1", user_id="usr_1")
PROGRAM = Caller("client", "cli_1", "t", frozenset(ANONYMOUS), client_id="cli_1", level=1)
SIGNED_IN = replace(PROGRAM, principal="usr_1", user_id="usr_1")
VOUCHED = replace(SIGNED_IN, by_assertion=True)
ACCOUNT = Caller("agent", "agt_2", "k", frozenset(DIRECTORY), client_id="agt_2", level=1)


@pytest.fixture
def found(settings: Settings) -> ToolAccess:
    """The tools of both services."""
    return make_tool_access(build_application(settings).service)


def test_who_cannot_ask_for_more_is_shown_what_it_may_call(found: ToolAccess) -> None:
    for caller in (UNCLAIMED, CLAIMED, PROGRAM, VOUCHED, ACCOUNT):
        for name in found.listed(caller):
            assert found.tools[name].scopes <= caller.scopes, (caller, name)
        left_out = found.tools.keys() - set(found.listed(caller)) - {REDEEM}
        for name in left_out:
            assert not found.tools[name].scopes <= caller.scopes, (caller, name)
            assert name in found.beyond(caller)
    assert found.tools.keys() - set(found.listed(UNCLAIMED)) >= WRITING | SAVING
    assert set(found.listed(ACCOUNT)) >= SAVING


def test_a_client_that_steps_up_is_shown_everything(found: ToolAccess) -> None:
    for caller in (SIGNED_IN, anonymous_caller("203.0.113.7")):
        assert set(found.listed(caller)) == found.tools.keys() - {REDEEM}
        assert found.beyond(caller) == ""


def test_only_an_unclaimed_agent_is_shown_how_to_be_claimed(found: ToolAccess) -> None:
    assert REDEEM in found.listed(UNCLAIMED)
    for caller in (CLAIMED, PROGRAM, SIGNED_IN, ACCOUNT, anonymous_caller("203.0.113.7")):
        assert REDEEM not in found.listed(caller)


def test_the_tool_that_redeems_names_what_a_code_would_open(found: ToolAccess) -> None:
    added = found.description(REDEEM, UNCLAIMED)
    assert "memories:write (for add_tactic, remember, record_win)" in added
    assert "teleprompter:stream" in added
    assert "tools:write" not in added, "a delegation code grants no scope of the directory"
    whole = replace(UNCLAIMED, scopes=frozenset(ASSISTANT))
    assert found.description(REDEEM, whole) == ""
    assert found.description("list_negotiations", UNCLAIMED) == ""


@pytest.mark.parametrize(
    ("caller", "scopes", "words"),
    [
        (UNCLAIMED, ["memories:write"], f"makes one at {BASE}/agents), then call {REDEEM}"),
        (UNCLAIMED, ["tools:write"], "register with the directory"),
        (CLAIMED, ["memories:write"], "Register as a new agent"),
        (CLAIMED, ["memories:write"], "delegation code that grants memories:write"),
        (ACCOUNT, ["memories:write"], "Register as a new agent"),
        (PROGRAM, ["memories:write", "tools:write"], "a token with memories:write and tools:write"),
        (SIGNED_IN, ["memories:write"], "authorize this client again, with memories:write"),
        (VOUCHED, ["memories:write"], "An administrator decides whether this client may have memories:write."),
    ],
)
def test_a_refusal_says_how_this_caller_gets_the_scope(
    found: ToolAccess, caller: Caller, scopes: list[str], words: str
) -> None:
    said = found.explanation(InsufficientScope(scopes), caller)
    assert said.startswith(f"This operation needs the scope {' '.join(scopes)}.")
    assert words in said


def test_other_refusals_keep_their_words(found: ToolAccess) -> None:
    assert found.explanation(Forbidden("No."), UNCLAIMED) == "No."
    unsigned = found.explanation(Unauthorized("Send a token.", sent=False), None)
    assert unsigned == f"Send a token. An agent gets a token by itself: {BASE}/auth.md says how."


def test_the_directory_alone_is_open_and_shows_all_its_tools(settings: Settings) -> None:
    """Whoever has no token yet can sign in at the first call that needs one."""
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    service = build_application(alone).service
    found = make_tool_access(service)
    assert not requires_credential(service)
    assert SAVING | {"search_tools"} == found.tools.keys() - {"get_tool", "list_categories"}
    assert found.listed(anonymous_caller("203.0.113.7")) == tuple(found.tools)
    assert REDEEM not in found.explanation(Unauthorized("Expired."), None)


def test_the_assistant_needs_a_token_to_connect(settings: Settings) -> None:
    assert requires_credential(build_application(settings).service)


def test_a_note_is_a_member_of_the_result_s_schema(found: ToolAccess) -> None:
    schema = tools.tool_definition(REDEEM, found.tools[REDEEM])["outputSchema"]
    assert schema["properties"]["note"]["type"] == "string"
    assert "access_token" in schema["properties"]
