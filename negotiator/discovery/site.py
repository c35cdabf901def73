"""The input of the discovery documents: the service description, and the paths that are not operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from negotiator.http.operation import Operation, ServiceDescription


@dataclass(frozen=True, slots=True)
class DirectoryRates:
    """Requests per minute at the directory: per address without a credential, and per agent by its trust level."""

    anonymous: int
    unproven: int
    proven: int
    vetted: int


@dataclass(frozen=True, slots=True)
class RegistrationLimits:
    """Registrations from one address: anonymous agents an hour, agents of the directory an hour and a day."""

    anonymous: int
    directory: int
    directory_daily: int


@dataclass(frozen=True, slots=True)
class SiteDescription:
    """One origin: its service, its version, and the paths of pages and other documents, which are not operations.

    `personal` are the pages for signed-in users, which search engines do not index. `policies` are the operator's own
    texts for pages, by path, `support` is their e-mail address or page, `processors` are sentences on what goes to the
    services of others. `sign_in` is the path of the sign-in page, `mcp` that of the MCP endpoint.
    """

    service: ServiceDescription
    version: str
    paths: frozenset[str] = frozenset()
    personal: frozenset[str] = frozenset()
    rates: DirectoryRates | None = None
    registrations: RegistrationLimits | None = None
    policies: Mapping[str, str] = field(default_factory=dict[str, str])
    support: str = ""
    processors: tuple[str, ...] = ()
    sign_in: str = ""
    mcp: str = ""

    @property
    def base(self) -> str:
        """The base URL of the service."""
        return self.service.base

    @property
    def root(self) -> str:
        """The path of the base URL, usually empty; links on pages begin with it."""
        return urlsplit(self.base).path

    @property
    def negotiates(self) -> bool:
        """Whether the negotiation assistant is running."""
        return self.offers("open_negotiation")

    @property
    def lists_tools(self) -> bool:
        """Whether the tools directory is running."""
        return self.offers("list_tools")

    @property
    def api(self) -> tuple[Operation, ...]:
        """The operations in the order of the service description."""
        return self.service.operations

    def offers(self, name: str) -> bool:
        """Whether the service has an operation of this name."""
        return self.service.find(name) is not None

    def has(self, path: str) -> bool:
        """Whether a page, a document or a GET operation answers at the path."""
        return path in self.paths or self.service.at(path) is not None

    @property
    def title(self) -> str:
        """The enabled services, as the beginning of a sentence."""
        return f"{self.name[0].upper()}{self.name[1:]}"

    @property
    def name(self) -> str:
        """The enabled services, in a few words."""
        parts: list[str] = []
        if self.negotiates:
            parts.append("negotiation assistant")
        if self.lists_tools:
            parts.append("AI tools directory")
        return " and ".join(parts) or "authorization server"
