"""Addresses nobody may list, and who owns a place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.directory import tool_ownership
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.draft_checks import host_fault, url_fault
from negotiator.directory.reports_queries import registrable_domain, reporter_voice, total_weight
from negotiator.directory.tool_ownership import HostProof
from negotiator.directory.tool_record import ToolDraft

NO_HOST = ClaimedIdentity("email", "ada@acme.com")


def draft(**members: Any) -> ToolDraft:
    plain = {"name": "Acme", "summary": "Works", "kind": "app", "category": "coding"}
    return ToolDraft.model_validate({**plain, **members})


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "127.0.0.1", "10.0.0.10", "0x7f.1", "2130706433", "a.local", "x.internal"),
        *("router.lan", "x.test", "x.onion", "1.0.0.127.in-addr.arpa", "10.0.0.1.nip.io"),
        *("app.localtest.me", "printer.home.arpa", "db.corp"),
    ],
)
def test_a_host_that_is_not_everybody_s_is_refused(host: str) -> None:
    assert host_fault(host) is not None


@pytest.mark.parametrize("host", ["acme.com", "a.b.co.uk", "xn--bcher-kva.de", "nip.io.acme.dev"])
def test_a_public_host_passes(host: str) -> None:
    assert host_fault(host) is None


@given(st.integers(0, 2**32 - 1))
def test_no_address_passes_in_any_spelling(number: int) -> None:
    octets = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    for host in (octets, str(number), hex(number), f"{octets}."):
        assert host_fault(host.rstrip(".")) is not None


def test_tracking_is_refused_and_a_query_is_not() -> None:
    assert url_fault("https://acme.com/?utm_medium=x") is not None
    assert url_fault("https://acme.com/?q=x&fbclid=") is not None
    assert url_fault("https://acme.com/?q=x") is None
    assert url_fault("https://{tenant}.acme.com/mcp") is None
    assert url_fault("https://acme.{tld}/mcp") is not None


@pytest.mark.parametrize(
    ("domain", "home", "owned"),
    [
        ("acme.example", "https://acme.example", True),
        ("acme.example", "https://docs.acme.example", True),
        ("acme.example", "https://notacme.example", False),
        ("docs.acme.example", "https://acme.example", False),
        ("acme.example", "https://acme.example.evil.example", False),
        ("acme.github.io", "https://github.com/Acme/tool", True),
        ("acme.github.io", "https://github.com/other/tool", False),
        ("github.com", "https://github.com/other/tool", False),
        (None, "https://acme.example", False),
    ],
)
def test_a_place_is_its_host_s(domain: str | None, home: str, owned: bool) -> None:
    found = tool_ownership.find_ownership([HostProof(domain) if domain else NO_HOST], draft(homepage_url=home))
    assert (found is not None) == owned


def test_whole_ownership_leaves_out_nothing_that_leads_to_the_tool() -> None:
    proofs = [HostProof("acme.github.io")]
    mine: dict[str, Any] = {
        "repository": {"url": "https://github.com/acme/x"},
        "packages": [{"registry": "oci", "identifier": "ghcr.io/acme/x"}],
        "external_ids": {"mcp_registry": "io.github.acme/x"},
    }
    found = tool_ownership.find_whole_ownership(proofs, draft(**mine))
    assert found is not None
    assert found.method == "github"
    for other in (
        {"repository": {"url": "https://github.com"}},
        {"packages": [{"registry": "oci", "identifier": "ghcr.io/other/x"}]},
        {"packages": [{"registry": "pypi", "identifier": "x"}]},
        {"external_ids": {"mcp_registry": "io.github.other/x"}},
        {"homepage_url": "https://other.example"},
    ):
        assert tool_ownership.find_whole_ownership(proofs, draft(**{**mine, **other})) is None


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e"])))
def test_no_voice_counts_twice(voices: list[str]) -> None:
    reports = [(who, 1, "malware") for who in voices]
    assert total_weight(reports, guarded=False) == len(set(voices))
    assert total_weight(reports, guarded=True) == 0


def test_a_domain_speaks_once_however_many_names_it_has() -> None:
    assert registrable_domain("a.b.acme.com") == registrable_domain("x.acme.com") == "acme.com"
    assert registrable_domain("a.acme.co.uk") == "acme.co.uk"
    assert reporter_voice("agt_1", [ClaimedIdentity("did", "did:web:x.acme.com")], vetted=False) == ("acme.com", 1)
    assert reporter_voice("agt_1", [NO_HOST], vetted=False) == ("agt_1", 0)
    assert reporter_voice("agt_1", [], vetted=True) == ("agt_1", 3)
