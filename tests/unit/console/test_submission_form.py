"""What is typed into the form of a tool, as members of a draft."""

import pytest

from negotiator.console.tools.submission_pages import REASONS, members_of
from negotiator.directory.schemas_submissions import REJECTION_REASONS


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://mcp.paperclip.example/mcp", "streamable-http"),
        ("https://paperclip.example/mcp/sse", "sse"),
        ("https://api.paperclip.example/v1", "rest"),
    ],
)
def test_an_address_without_a_way_to_call_it_is_kept(address: str, kind: str) -> None:
    assert members_of({"interface_url": address})["interfaces"] == [{"type": kind, "url": address}]


def test_every_reason_of_a_rejection_has_words() -> None:
    assert tuple(REASONS) == REJECTION_REASONS
