"""What a browser carries while it is away at the provider, sealed: state, nonce, verifier, and where it was going."""

from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from negotiator import values
from negotiator.console.cookies import Cookies
from negotiator.console.visitor import own_path
from negotiator.strict import read_object

LIFE: Final = 600


@dataclass(frozen=True, slots=True)
class Errand:
    """One sign-in at the provider, for one browser, for ten minutes (`until` in milliseconds)."""

    state: str
    nonce: str
    verifier: str
    onward: str
    until: int


def send_off(onward: str) -> Errand:
    """A new errand with secrets of its own."""
    return Errand(
        values.new_secret(),
        values.new_secret(),
        values.new_secret(),
        onward,
        values.now() + LIFE * 1000,
    )


def carry(cookies: Cookies, response: Response, errand: Errand) -> None:
    """Give it to the browser."""
    cookies.write(
        response, "errand", cookies.seal("errand", orjson.dumps(asdict(errand))), life=LIFE
    )


def back_from(cookies: Cookies, request: Request, *, otherwise: str) -> Errand | None:
    """The errand this browser was on, if its answer is to that and comes in time."""
    content = cookies.unseal("errand", cookies.read(request, "errand"))
    if content is None:
        return None
    told: dict[str, Any] = read_object(content)
    errand = Errand(**told)
    if errand.until <= values.now() or not values.same(
        errand.state, request.query_params.get("state", "")
    ):
        return None
    return Errand(
        errand.state,
        errand.nonce,
        errand.verifier,
        own_path(errand.onward, otherwise=otherwise),
        errand.until,
    )
