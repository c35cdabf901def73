"""What the documents are made of: the service description, and what stands beside the operations."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from negotiator.http.operation import Operation, ServiceDescription

REGISTER_PATH = "/api/agent/register"
CLAIM_PATH = "/api/agent/claim"
IDENTITY_PATH = "/api/agent/identity"
IDENTITY_CLAIM_PATH = "/api/agent/identity/claim"
IDENTITY_COMPLETE_PATH = "/api/agent/identity/claim/complete"
EVENTS_PATH = "/api/agent/events"
NEGOTIATIONS_PATH = "/api/negotiations"
TOOLS_PATH = "/api/v1/tools"
CATEGORIES_PATH = "/api/v1/categories"
ENROL_PATH = "/api/auth/register"
SIGN_IN_PATH = "/sign-in"
MCP_PATH = "/mcp"


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

    `personal` are those among them that are for people who are signed in, and nothing to be found.
    """

    service: ServiceDescription
    version: str
    paths: frozenset[str] = frozenset()
    personal: frozenset[str] = frozenset()
    rates: DirectoryRates | None = None

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
        return self.service.at(NEGOTIATIONS_PATH, "POST") is not None

    @property
    def lists_tools(self) -> bool:
        """Whether the tools directory is running here."""
        return self.service.at(TOOLS_PATH) is not None

    @property
    def api(self) -> tuple[Operation, ...]:
        """The operations in the order they are offered."""
        return self.service.operations

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
