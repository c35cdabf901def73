"""Known devices: browsers in which a user has signed in before, told apart from those of strangers who guess.

The cookie is signed, names nobody, and is bound to the user and the user's present password. It opens nothing by
itself: a try from a known device has a budget of its own, which strangers cannot use up.
"""

from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from negotiator import values
from negotiator.console.cookies import Cookies
from negotiator.strict import read_object
from negotiator.users.tables import User

LIFE: Final = 180 * 86_400
"""Seconds that a browser is known after its last sign-in."""


def remember(cookies: Cookies, response: Response, user: User) -> None:
    """Let the browser be known as one of this user's."""
    content = {"id": values.new_secret(), "at": values.now(), "of": _owner(cookies, user)}
    cookies.write(response, "device", cookies.seal("device", orjson.dumps(content)), life=LIFE)


def find(cookies: Cookies, request: Request, user: User | None) -> str | None:
    """The id of the browser, if this user signed in with it and has the same password still."""
    content = cookies.unseal("device", cookies.read(request, "device"))
    known = read_object(content) if content else {}
    owner = _owner(cookies, user)
    if not values.same(str(known.get("of", "")), owner) or user is None:
        return None
    return str(known["id"]) if known["at"] + LIFE * 1000 > values.now() else None


def _owner(cookies: Cookies, user: User | None) -> str:
    named = f"{user.id}:{user.password_hash}" if user else ":"
    return values.keyed_digest(cookies.pepper, f"device of {named}")
