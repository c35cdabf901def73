"""Signing keys as an operator's command and a token show them."""

from typing import Any

import jwt

from negotiator.compose.shared_secrets import rotate_keys
from negotiator.config.settings import Settings
from tests.helpers.opened_store import opened_store


async def rotate(settings: Settings) -> str:
    """Rotate as the operator's command does; the id of the key that signs from now on."""
    async with opened_store(settings.database_url) as store:
        return await rotate_keys(store, settings)


def signer(agent: dict[str, Any]) -> str:
    """The id of the key that signed an agent's access token."""
    return str(jwt.get_unverified_header(agent["access_token"])["kid"])
