"""The pages for privacy and terms: the operator's text, else what is true of the program."""

from pathlib import Path

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from tests.contract.requirements import covers


def page(settings: Settings, path: str) -> str:
    """The page that a server with these settings publishes."""
    documents = build_application(settings).documents
    (found,) = [document for document in documents if document.path == path]
    return found.body().decode()


@pytest.mark.asyncio
@covers("4.1:policies")
async def test_the_metadata_names_pages_that_are_there(client: httpx2.AsyncClient) -> None:
    metadata = (await client.get("/.well-known/oauth-authorization-server")).json()
    for name, title in (("op_policy_uri", "Privacy"), ("op_tos_uri", "Terms of use")):
        answer = await client.get(metadata[name])
        assert answer.status_code == 200
        assert f"<h1>{title}</h1>" in answer.text
        assert "named no address for questions" in answer.text
    assert "of another company is connected" in (await client.get(metadata["op_policy_uri"])).text


def test_the_operator_s_text_and_address_take_their_place(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "privacy.txt").write_text("We keep <little>.\n\nAsk us.")
    told = settings.model_copy(update={"policies_dir": tmp_path, "support_address": "help@desk.example"})
    shown = page(told, "/privacy")
    assert "<p>We keep &lt;little&gt;.</p>\n<p>Ask us.</p>" in shown
    assert '<a href="mailto:help@desk.example">' in shown
    assert "What is kept" not in shown
    assert "without any warranty" in page(told, "/terms"), "there is no terms.txt"


def test_services_of_others_are_named(settings: Settings) -> None:
    told = settings.model_copy(update={"advisor_url": "https://words.example/v1", "advisor_model": "m"})
    shown = page(told, "/privacy")
    assert "go to words.example" in shown
    assert "of another company is connected" not in shown


@pytest.mark.parametrize("address", ["help", "http://desk.example", "a@b.example, c@d.example", "javascript:a@b"])
def test_an_address_that_reaches_nobody_stops_the_start(address: str) -> None:
    with pytest.raises(ValueError, match="support_address"):
        Settings.model_validate({"support_address": address})
