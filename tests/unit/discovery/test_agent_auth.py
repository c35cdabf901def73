"""The `agent_auth` block of one service and of both."""

from typing import Any, Final

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.discovery.authorization_metadata import agent_auth
from negotiator.discovery.public_pages import auth_md
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Call, Operation, ServiceDescription

BASE: Final = "https://negotiator.example"
ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
PATHS: Final = {
    "register_agent": "/api/agent/register",
    "claim_agent": "/api/agent/claim",
    "revoke_token": "/oauth/revoke",
    "register_directory_agent": "/api/auth/register",
    "verify_agent": "/api/auth/verify",
    "revoke_api_key": "/api/auth/revoke",
    "issue_token": "/oauth/token",
}
FIRST: Final = ("register_agent", "claim_agent", "revoke_token")
SECOND: Final = ("register_directory_agent", "verify_agent", "revoke_api_key")


async def nothing(_call: Call[Any]) -> None:
    """What these operations do."""


def service(*names: str) -> ServiceDescription:
    """A service with these operations."""
    operations = (Operation(name=name, method="POST", path=PATHS[name], summary="Do", run=nothing) for name in names)
    return ServiceDescription(BASE, {**ASSISTANT, **DIRECTORY}, tuple(operations))


def block(*names: str) -> dict[str, Any]:
    """The block of such a service."""
    made = agent_auth(service(*names), (ID_JAG, "verified_email"))
    assert made is not None
    return made


def test_where_no_agent_can_register_there_is_no_block() -> None:
    assert agent_auth(service("issue_token"), ()) is None


def test_the_directory_alone_names_its_own_doors() -> None:
    made = block(*SECOND)
    assert made["register_uri"] == made["identity_endpoint"] == f"{BASE}/api/auth/register"
    assert made["claim_uri"] == made["claim_endpoint"] == f"{BASE}/api/auth/verify"
    assert made["revocation_uri"] == f"{BASE}/api/auth/revoke"
    assert made["identity_types_supported"] == ["did", "agent_id", "email", "identity_assertion"]
    assert made["credential_types_supported"] == ["api_key", "bearer_token", "jwt"]
    assert made["identity_assertion"]["assertion_types_supported"] == ["verified_email"]
    assert made["did"]["methods_supported"] == ["key", "web"]
    assert "anonymous" not in made


def test_both_together_say_for_each_way_which_door_is_its_own() -> None:
    made = block(*FIRST, *SECOND)
    assert made["register_uri"] == f"{BASE}/api/agent/register"
    assert made["claim_uri"] == f"{BASE}/api/agent/claim"
    assert made["identity_types_supported"] == [*("anonymous", "identity_assertion"), *("did", "agent_id", "email")]
    assert made["credential_types_supported"] == [*("access_token", "api_key"), *("bearer_token", "jwt")]
    assert made["identity_assertion"]["assertion_types_supported"] == [ID_JAG, "verified_email"]
    for way, door in {
        "anonymous": "/api/agent/register",
        "identity_assertion": "/api/agent/register",
        "did": "/api/auth/register",
        "agent_id": "/api/auth/register",
        "email": "/api/auth/register",
    }.items():
        assert made[way]["register_uri"] == f"{BASE}{door}"
        assert made[way]["credential_types_supported"]
        assert made[way]["claim_uri"].startswith(f"{BASE}/api/")


def test_a_door_that_is_not_there_is_not_named() -> None:
    made = block("register_agent")
    assert made["register_uri"]
    assert not made.keys() & {"claim_uri", "claim_endpoint", "revocation_uri"}
    assert "claim_uri" not in made["anonymous"]


def test_the_page_about_getting_in_has_a_part_for_each_door() -> None:
    pages = {
        name: auth_md(SiteDescription(service(*names), "1.0.0"))
        for name, names in {"one": FIRST, "two": SECOND, "both": (*FIRST, *SECOND)}.items()
    }
    assert "/api/auth/" not in pages["one"]
    assert "/api/agent/" not in pages["two"]
    assert all(PATHS[name] in pages["both"] for name in (*FIRST, *SECOND))
    assert all(page.startswith("# auth.md") and "{base}" not in page for page in pages.values())
