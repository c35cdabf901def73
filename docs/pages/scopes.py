"""Every scope, its meaning, and what it opens."""

from collections.abc import Iterable

from docs.pages.markdown import code, grid
from negotiator.base.scopes import ANONYMOUS
from negotiator.http.operation import ServiceDescription


def page(service: ServiceDescription) -> Iterable[str]:
    """Scopes in the order in which `negotiator.base.scopes` lists them."""
    yield "# Scopes\n"
    yield "What each scope allows, whether an agent without a user gets it, and the operations that need it.\n"
    rows = (
        (code(scope), meaning, "yes" if scope in ANONYMOUS else "", _opened(service, scope))
        for scope, meaning in service.scopes.items()
    )
    yield from grid(("Scope", "Meaning", "Anonymous agents", "Operations that need it"), rows)


def _opened(service: ServiceDescription, scope: str) -> str:
    return " ".join(code(operation.name) for operation in service.operations if scope in operation.scopes)
