"""What crosses the wire under `/api/negotiations` (contract §3)."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator
from typing_extensions import TypedDict

from negotiator.edge.operation import Strict

Role = Literal["buyer", "seller", "employer", "candidate", "landlord", "tenant", "party"]
State = Literal[
    "draft",
    "planned",
    "active",
    "paused",
    "awaiting_approval",
    "agreed",
    "won",
    "lost",
    "walked_away",
    "cancelled",
    "expired",
]
Title = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=100)]


class OpenNegotiation(Strict):
    """A new negotiation."""

    title: Title
    role: Role
    issues: list[dict[str, Any]] = Field(
        min_length=1, max_length=50, description="What is negotiated, one entry each."
    )
    category: Word = "other"
    kind: Word = "other"


class NegotiationId(Strict):
    """One negotiation, by its id in the path."""

    id: str


class EditNegotiation(NegotiationId):
    """A JSON merge patch (RFC 7396): members left out stay as they are."""

    title: Title | None = None
    category: Word | None = None

    @field_validator("title", mode="before")
    @classmethod
    def _stays(cls, value: object) -> object:
        if value is None:
            raise ValueError("cannot be removed")
        return value

    @field_validator("category", mode="before")
    @classmethod
    def _removed_is_the_default(cls, value: object) -> object:
        return "other" if value is None else value


class ListNegotiations(Strict):
    """Newest first; `query` looks into titles."""

    state: State | None = None
    category: Word | None = None
    query: Word | None = None
    limit: int = Field(20, ge=1, le=100)
    cursor: str | None = None


class NegotiationView(TypedDict):
    """A negotiation as its owner sees it."""

    id: str
    title: str
    category: str
    kind: str
    role: str
    issues: list[dict[str, Any]]
    state: str
    revision: int
    created_at: str
    updated_at: str


class NegotiationList(TypedDict):
    """A page of negotiations."""

    items: list[NegotiationView]
    next_cursor: str | None
