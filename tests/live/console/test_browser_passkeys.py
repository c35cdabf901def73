"""Passkeys in a real browser with an authenticator of its own: added on the account page, and the way in by it."""

import re
from collections.abc import Generator
from typing import Any, Final, cast

import pytest
from playwright.sync_api import Browser, Page

from negotiator.store import audit
from tests.helpers.chromium import PASSWORD, Tab, tab
from tests.helpers.chromium import chromium as chromium
from tests.helpers.live_server import Server, free_port

_DEVICE: Final = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class VirtualAuthenticator:
    """Chromium's virtual authenticator: a device with a fingerprint reader beside one tab (WebAuthn domain of CDP)."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._send("WebAuthn.enable", enableUI=False)
        made = self._send("WebAuthn.addVirtualAuthenticator", options=_DEVICE)
        self._id = made["authenticatorId"]

    @property
    def credentials(self) -> list[dict[str, Any]]:
        """The passkeys that it holds."""
        return self._send("WebAuthn.getCredentials", authenticatorId=self._id)["credentials"]

    def add(self, credential: dict[str, Any]) -> None:
        """Hold another device's passkey too."""
        self._send("WebAuthn.addCredential", authenticatorId=self._id, credential=credential)

    def recognises(self, yes: bool) -> None:
        """Whether the finger on the reader is its owner's."""
        self._send("WebAuthn.setUserVerified", authenticatorId=self._id, isUserVerified=yes)

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        send = cast("Any", self._session).send
        return send(method, parameters)


@pytest.fixture(scope="module")
def named_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A service at `localhost`: browsers offer no passkeys at an address in numbers."""
    port = free_port()
    settings = {"base_url": f"http://localhost:{port}"}
    server = Server(tmp_path_factory.mktemp("house"), workers=1, port=port, settings=settings)
    server.start()
    yield server
    server.stop()


def first_user(server: Server, one: Tab) -> None:
    """Ada, by the link that the first start printed."""
    printed = (server.folder / "log").read_text()
    found = re.search(f"{re.escape(one.base)}/first-user/[0-9a-f-]+", printed)
    assert found, printed
    one.open(found[0])
    one.fill("E-mail", "ada@example.com")
    one.fill("Name", "Ada")
    one.fill("Password", PASSWORD)
    one.press("Make the account")
    one.page.wait_for_load_state()


UNOFFERED: Final = "PublicKeyCredential.isConditionalMediationAvailable = async () => false;"
"""A browser that offers no passkey by itself, so that the button has to ask for one."""


def sign_in_methods(server: Server) -> list[str]:
    """What the audit trail says of sign-ins, newest first."""
    events = server.change_now(lambda tx: audit.latest_events(tx, 50))
    return [each.event for each in events if each.event.startswith("user.sign")]


@pytest.mark.smoke
def test_a_passkey_is_added_and_signs_in_by_the_button_and_by_itself(chromium: Browser, named_server: Server) -> None:
    base = named_server.settings["base_url"]
    with chromium.new_context() as context:
        one = tab(context, base)
        first_user(named_server, one)
        device = VirtualAuthenticator(one.page)
        one.open("/account")
        one.fill("Name of the new passkey", "my laptop")
        one.press("Add a passkey")
        one.page.wait_for_url("**/account?told=passkey")
        assert one.sees("my laptop")
        assert [each["rpId"] for each in device.credentials] == ["localhost"]
        one.press("Add a passkey")
        one.page.get_by_text("This device has a passkey for this account already.").wait_for()

        before = len(sign_in_methods(named_server))
        context.clear_cookies()
        one.page.add_init_script(UNOFFERED)
        one.open("/sign-in?next=/account")
        one.press("Sign in with a passkey")
        one.at("/account")
        assert one.sees("last used")
        assert sign_in_methods(named_server)[: -before or None] == ["user.signed_in"]

        device.recognises(False)
        context.clear_cookies()
        one.open("/sign-in?next=/account")
        one.press("Sign in with a passkey")
        one.page.get_by_text("No passkey was given.").wait_for()
        assert one.page.get_by_role("button", name="Sign in", exact=True).is_enabled()
        other = context.new_page()
        VirtualAuthenticator(other).add(device.credentials[0])
        other.goto(f"{base}/sign-in?next=/account")
        other.wait_for_url(f"{base}/account")
        assert "Where you are signed in" in other.inner_text("main")
        assert one.outside == []
        assert one.said == []
