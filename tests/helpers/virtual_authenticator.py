"""Chromium's virtual authenticator: a device with a fingerprint reader beside one tab (WebAuthn domain of CDP)."""

from typing import Any, Final, cast

from playwright.sync_api import Page

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
    """One device; it says yes to whatever it is asked."""

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
