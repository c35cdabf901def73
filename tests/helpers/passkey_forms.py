"""The forms with a passkey, as the pages' script sends them."""

from typing import Any

import httpx2

from tests.helpers.form_browser import FormBrowser
from tests.helpers.software_authenticator import SoftwareAuthenticator

ENTRANCE = "/sign-in/passkey"
OWN = "/account/passkeys"


async def options(browser: FormBrowser, path: str) -> dict[str, Any]:
    """The options that a page asks for; the browser has opened the sign-in page before."""
    answer = await browser.open(f"{path}/options", accept="application/json")
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def add_passkey(browser: FormBrowser, passkey: SoftwareAuthenticator, name: str = "laptop") -> httpx2.Response:
    """Add a passkey on the account page."""
    credential = passkey.create(await options(browser, OWN))
    return await browser.send(OWN, on="/account", name=name, credential=credential)


async def enter(browser: FormBrowser, passkey: SoftwareAuthenticator, **fields: str) -> httpx2.Response:
    """Sign in by a passkey."""
    await browser.token("/sign-in?again")
    credential = passkey.get(await options(browser, ENTRANCE))
    return await browser.send(ENTRANCE, on="/sign-in?again", credential=credential, **fields)
