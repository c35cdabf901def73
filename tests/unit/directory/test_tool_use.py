"""What an agent needs to use a tool, with the evidence of each fact."""

import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.base import values
from negotiator.directory import exchange_entries
from negotiator.directory.tool_record import ToolUse, ToolView, install_command


def use_of(record: Any) -> ToolUse:
    """The use that the view of a record answers."""
    moment = values.timestamp(0)
    times = {"status_changed_at": moment, "created_at": moment, "updated_at": moment}
    members = {**record.model_dump(exclude={"id", "slug"}), **times, "revision": 1}
    view = ToolView.model_validate({**members, "id": "tool_1", "slug": "x"})
    return ToolView.model_validate_json(view.document()).use


CONTENT = {entry.wanted_slug: entry.record for entry in exchange_entries.read_content()}


def test_each_fact_has_the_evidence_of_its_field() -> None:
    use = use_of(CONTENT["stripe-mcp"])
    assert use.sign_in is not None
    assert (use.sign_in.value, use.sign_in.source) == ("oauth2", "docker/mcp-registry")
    assert use.sign_in.checked_at is not None
    assert use.pricing is not None
    assert (use.pricing.value, use.pricing.checked_at) == ("free", None)
    assert use.install is None
    assert use.rest_base is None


def test_most_entries_say_enough_to_begin() -> None:
    found = [use_of(record) for record in CONTENT.values()]
    assert sum(use.documentation is not None for use in found) >= 90
    assert sum(use.rest_base is not None for use in found) >= 50
    assert sum(use.install is not None for use in found) >= 150
    for record, use in zip(CONTENT.values(), found, strict=True):
        facts = (use.documentation, use.sign_in, use.rest_base, use.pricing, use.licence, use.install)
        assert all(fact.source for fact in facts if fact is not None), record.name


def package(registry: str, identifier: str, kind: str = "library") -> str | None:
    """The command for one package."""
    return install_command({"kind": kind, "packages": [{"registry": registry, "identifier": identifier}]})


def test_a_library_is_installed_and_a_server_is_run() -> None:
    assert package("pypi", "chroma-mcp") == "pip install chroma-mcp"
    assert package("pypi", "chroma-mcp", "mcp_server") == "uvx chroma-mcp"
    assert package("npm", "@modelcontextprotocol/server-x", "mcp_server") == ("npx -y @modelcontextprotocol/server-x")
    assert package("oci", "mcp/stripe:1.2", "mcp_server") == "docker run -i --rm mcp/stripe:1.2"
    assert package("mcpb", "https://example.com/x.mcpb") is None


@given(st.text(max_size=60), st.sampled_from(["pypi", "npm", "oci", "nuget", "cargo", "mcpb"]))
def test_a_command_is_never_more_than_one_package(identifier: str, registry: str) -> None:
    command = package(registry, identifier)
    if command is not None:
        assert shlex.split(command)[-1] == identifier
        assert not identifier.startswith("-")
        assert set(identifier).isdisjoint(" ;|&$`\n\"'<>(){}\\*?#~!")
