"""What the documents are made of: the service description, and what stands beside the operations."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from negotiator.http.operation import Operation, ServiceDescription


@dataclass(frozen=True, slots=True)
class DirectoryRates:
    """Requests per minute at the directory: of one address without a credential, and of an agent by its level."""

    anonymous: int
    unproven: int
    proven: int
    vetted: int


@dataclass(frozen=True, slots=True)
class SiteDescription:
    """One origin: its service, its version, and the paths that are no operations: pages and other documents.

    `personal` are the pages for signed-in users, which search engines do not index. `sign_in` is the path of the
    sign-in page, `mcp` that of the MCP endpoint.
    """

    service: ServiceDescription
    version: str
    paths: frozenset[str] = frozenset()
    personal: frozenset[str] = frozenset()
    rates: DirectoryRates | None = None
    sign_in: str = ""
    mcp: str = ""

    @property
    def base(self) -> str:
        """The address everything begins with."""
        return self.service.base

    @property
    def root(self) -> str:
        """The path of the base, empty for most; links on pages begin with it."""
        return urlsplit(self.base).path

    @property
    def negotiates(self) -> bool:
        """Whether the negotiation assistant is running here."""
        return self.offers("open_negotiation")

    @property
    def lists_tools(self) -> bool:
        """Whether the tools directory is running here."""
        return self.offers("list_tools")

    @property
    def api(self) -> tuple[Operation, ...]:
        """The operations in the order they are offered."""
        return self.service.operations

    def offers(self, name: str) -> bool:
        """Whether an operation of this name is part of the service."""
        return self.service.find(name) is not None

    def has(self, path: str) -> bool:
        """Whether a page, a document or a GET operation answers at the path."""
        return path in self.paths or self.service.at(path) is not None

    @property
    def title(self) -> str:
        """What runs here, as the beginning of a sentence."""
        return f"{self.name[0].upper()}{self.name[1:]}"

    @property
    def name(self) -> str:
        """What runs here, in a few words."""
        parts: list[str] = []
        if self.negotiates:
            parts.append("negotiation assistant")
        if self.lists_tools:
            parts.append("AI tools directory")
        return " and ".join(parts) or "authorization server"
