"""The shape of a record: what text, addresses, tags and categories may be."""

import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from negotiator.base import values
from negotiator.directory import exchange_import, record_text, tool_record
from negotiator.directory.tool_record import (
    FieldEvidence,
    ToolDraft,
    ToolRecord,
    ToolUse,
    ToolView,
    canonical_url,
    install_command,
    keys_of,
)


def record(**members: Any) -> ToolRecord:
    """A small record."""
    plain = {"name": "Notion", "summary": "Notes for teams", "kind": "app", "category": "coding"}
    return ToolRecord.model_validate({**plain, **members})


def test_unknown_is_null_and_never_false() -> None:
    seen = record().model_dump()
    assert seen["open_source"] is None
    assert seen["auth"] == {"type": "unknown", "self_service": None}
    assert seen["health"] is None


def test_what_only_looks_like_text_is_taken_out() -> None:
    seen = record(name="No\u202etion\u200b\x00 \x1b[31mx", description="one\r\ntwo\u2028three\u2066")
    assert seen.name == "Notion [31mx"
    assert seen.description == "one\ntwo\nthree"


@given(st.text(max_size=300))
def test_plain_text_is_settled_at_once(text: str) -> None:
    assert record_text.plain_text(record_text.plain_text(text)) == record_text.plain_text(text)
    assert record_text.single_line(record_text.single_line(text)) == record_text.single_line(text)
    assert record_text.SLUG.fullmatch(record_text.slugify(text))


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "https://user:secret@example.com/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://exa mple.com/",
        "https://example.com/" + "a" * 2048,
        "javascript:alert(1)",
        "https://bücher.example/",
        "https://example.com:99999/",
    ],
)
def test_an_address_is_https_of_a_named_host(url: str) -> None:
    with pytest.raises(ValidationError):
        record(homepage_url=url)


def test_an_endpoint_may_be_a_template() -> None:
    held = record(interfaces=[{"type": "sse", "url": "https://{tenant}.example.com/{path}"}])
    assert held.interfaces[0].url == "https://{tenant}.example.com/{path}"


def test_a_category_and_its_subcategories_are_from_the_list() -> None:
    assert record(subcategories=["testing"]).subcategories == ("testing",)
    for wrong in ({"category": "other"}, {"subcategories": ["maps"]}):
        with pytest.raises(ValidationError):
            record(**wrong)


def test_one_tool_has_one_spelling_of_its_address() -> None:
    spellings = [
        "https://www.GitHub.com/Acme/Tool.git",
        "https://github.com/acme/tool/",
        "https://github.com:443/acme/tool?utm_source=x#readme",
    ]
    assert {canonical_url(each) for each in spellings} == {"github.com/acme/tool"}
    assert canonical_url("https://a.example/x?b=1&gclid=2") == "a.example/x?b=1"


def test_keys_name_page_source_package_endpoint_and_registry_name() -> None:
    held = record(
        homepage_url="https://acme.example/",
        repository={"url": "https://github.com/Acme/mono", "id": "42", "subfolder": "/x/"},
        packages=[
            {"registry": "pypi", "identifier": "Acme_Tool"},
            {"registry": "oci", "identifier": "docker.io/mcp/acme:1.2"},
        ],
        interfaces=[{"type": "sse", "url": "https://acme.example/sse"}],
        external_ids={"mcp_registry": "io.github.Acme/tool"},
    )
    assert keys_of(held) == [
        ("url", "acme.example"),
        ("repository", "github.com/acme/mono#x"),
        ("repository", "host:42#x"),
        ("package", "pypi:acme-tool"),
        ("package", "oci:mcp/acme"),
        ("endpoint", "acme.example/sse"),
        ("name", "io.github.acme/tool"),
    ]


def test_a_page_that_is_the_repository_is_one_key() -> None:
    page = {"homepage_url": "https://github.com/acme/tool"}
    source = {"repository": {"url": "https://github.com/acme/tool/"}}
    assert keys_of(record(**page)) == [("repository", "github.com/acme/tool")]
    assert keys_of(record(**page, **source)) == [("repository", "github.com/acme/tool")]


def proof(method: Any, source: str, *, field: str = "*") -> FieldEvidence:
    """A line of evidence."""
    return FieldEvidence(field=field, source=source, method=method)


def test_weaker_evidence_never_overwrites_and_always_adds() -> None:
    ours = record(summary="Ours", evidence=(proof("content", "us"),))
    listed = record(summary="Theirs", licence="MIT", name="N", evidence=(proof("list", "a list"),))
    merged = tool_record.merge_records(ours, listed)
    assert (merged.summary, merged.name, merged.licence) == ("Ours", "Notion", "MIT")
    assert {line.field: line.source for line in merged.evidence} == {"*": "us", "licence": "a list"}
    stronger = tool_record.merge_records(listed, ours)
    assert (stronger.summary, stronger.name, stronger.licence) == ("Ours", "Notion", "MIT")
    named = {line.field: line.source for line in stronger.evidence}
    assert named == {"*": "us", "licence": "a list"}


def test_fields_without_evidence_take_any() -> None:
    half = record(evidence=(proof("content", "us", field="summary"),))
    merged = tool_record.merge_records(half, record(licence="MIT", summary="X", evidence=(proof("list", "l"),)))
    assert (merged.licence, merged.summary) == ("MIT", "Notes for teams")


def test_a_proven_publisher_gives_way_to_a_proven_one_only() -> None:
    owner = record(publisher={"name": "Acme", "verified": True, "method": "dns"}, evidence=(proof("list", "l"),))
    claimed = record(publisher={"name": "Mallory"}, evidence=(proof("content", "us"),))
    kept = tool_record.merge_records(owner, claimed).publisher
    assert kept is not None
    assert kept.name == "Acme"


def test_merging_a_record_with_itself_changes_nothing() -> None:
    held = record(licence="MIT", evidence=(proof("content", "us"), proof("list", "l", field="licence")))
    assert tool_record.merge_records(held, held) == held


def test_a_draft_carries_nothing_that_is_ours_to_say() -> None:
    plain = {"name": "N", "summary": "S", "kind": "app", "category": "coding"}
    wrong: list[dict[str, Any]] = [{"status": "active"}, {"evidence": []}, {"publisher": {"verified": True}}]
    for ours in wrong:
        with pytest.raises(ValidationError):
            ToolDraft.model_validate({**plain, **ours})


def test_what_shows_nothing_is_taken_out_and_hides_nothing() -> None:
    assert record_text.plain_text("a\u3164b\u2800c\ufe01d\U000e0141e\u115ff") == "abcdef"
    assert record_text.plain_text("e\u200b\u0301") == "\u00e9"


@pytest.mark.parametrize("host", ["10.0.0.10", "1.2.3.45", "127.0.0.0x1"])
def test_an_address_is_no_name(host: str) -> None:
    with pytest.raises(ValueError, match="domain name"):
        record_text.split_url(f"https://{host}/")


def use_of(record: Any) -> ToolUse:
    """The use that the view of a record answers."""
    moment = values.timestamp(0)
    times = {"status_changed_at": moment, "created_at": moment, "updated_at": moment}
    members = {**record.model_dump(exclude={"id", "slug"}), **times, "revision": 1}
    view = ToolView.model_validate({**members, "id": "tool_1", "slug": "x"})
    return ToolView.model_validate_json(view.document()).use


CONTENT = {entry.wanted_slug: entry.record for entry in exchange_import.read_content()}


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
