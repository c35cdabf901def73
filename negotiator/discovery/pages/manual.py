"""`/docs`: every operation on one page, read from the service description; it loads nothing from elsewhere."""

from dataclasses import dataclass
from typing import Final

from negotiator.discovery import examples
from negotiator.discovery.pages import frame
from negotiator.discovery.site import Site
from negotiator.edge.operation import Operation
from negotiator.scopes import ordered

PATH: Final = "/docs"
_NEEDS: Final = {
    "open": "No credential",
    "public": "Works without a credential",
    "bearer": "Bearer token",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One operation as the page shows it."""

    operation: Operation
    needs: str
    scopes: list[str]
    example: str


def manual(site: Site) -> str:
    """The page, grouped by slice in the order of the description."""
    groups: dict[str, list[Section]] = {}
    for operation in site.api:
        groups.setdefault(operation.tag, []).append(_section(operation, site.base))
    return frame.render(site, "docs.html", groups=groups)


def _section(operation: Operation, base: str) -> Section:
    shown = examples.command(operation, base)
    return Section(operation, _NEEDS[operation.access], ordered(operation.scopes), shown)
