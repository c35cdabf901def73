"""The refusal family, and why an assertion is refused at each door."""

from collections.abc import Iterable, Iterator
from inspect import cleandoc
from itertools import chain
from typing import Any, Final

from docs.pages.markdown import code, grid
from negotiator import __version__
from negotiator.base.errors import Refusal
from negotiator.discovery import openapi
from negotiator.http.operation import ServiceDescription
from negotiator.trust.claims import AssertionRefused, Reason, at_registration, at_token_endpoint

_HOUSE: Final = "negotiator.base.errors"


def page(service: ServiceDescription) -> Iterable[str]:
    """The family by status, then the table of assertions."""
    yield "# Errors\n"
    yield (
        "Every refusal is JSON with `error` (a stable word), `error_description` (prose that may change),\n"
        "`request_id`, and for refused fields `errors`, a list of `{pointer, description}`. A fault of the\n"
        "server is 500 `server_error`.\n"
    )
    reasons = _reasons(service)
    family = sorted(_descendants(Refusal), key=lambda kind: (kind.status, kind.__name__))
    rows = (
        (
            str(kind.status),
            code(kind.default_error),
            code(kind.__name__),
            _sentence(kind) or reasons.get(kind.status, ""),
        )
        for kind in family
    )
    yield from grid(("Status", "`error` unless named", "Class", "When"), rows)
    yield "## Refused assertions\n"
    yield "The same reason in the words of each door.\n"
    doors = (
        (code(reason.value), _said(at_registration(refused)), _said(at_token_endpoint(refused)))
        for reason in Reason
        for refused in [AssertionRefused(reason, "")]
    )
    yield from grid(("Reason", "`/api/agent/register`", "`/oauth/token`"), doors)


def _descendants(kind: type[Refusal]) -> Iterator[type[Refusal]]:
    """Every kind of refusal in the family's own file."""
    children = [child for child in kind.__subclasses__() if child.__module__ == _HOUSE]
    return chain(children, chain.from_iterable(map(_descendants, children)))


def _reasons(service: ServiceDescription) -> dict[int, str]:
    """What the OpenAPI document says of each refusing status."""
    paths: dict[str, dict[str, Any]] = openapi.openapi_document(service, __version__)["paths"]
    operations = (each for methods in paths.values() for each in methods.values())
    return {
        int(status): response["description"]
        for operation in operations
        for status, response in operation["responses"].items()
        if int(status) >= 400
    }


def _sentence(kind: type[Any]) -> str:
    own = kind.__doc__ if "__doc__" in vars(kind) else None
    return cleandoc(own or "").partition("\n\n")[0].replace("\n", " ")


def _said(refusal: Refusal) -> str:
    return f"{refusal.status} {code(refusal.error)}"
