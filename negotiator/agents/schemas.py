"""Bodies and answers of registration and claim (docs/contract 2.1 to 2.8)."""

from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.schema import IS_NULL, Lenient, example_schema, member_error, missing_members, requires_non_null
from negotiator.base.scopes import ASSISTANT

ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
VERIFIED_EMAIL = "verified_email"
ANONYMOUS_BUDGET = "registrations"
ASSERTION_BUDGET = "assertions"


def _plain(text: str) -> str:
    """Refuse a name that could hide or reorder the text beside it on a consent page."""
    if values.has_invisible_characters(text):
        raise ValueError("Must have no control, bidirectional or invisible characters")
    if not text.strip():
        raise ValueError("Must not be blank")
    return text


AgentName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_plain)]
IdentityType = Literal["anonymous", "identity_assertion"]


def _variant(name: str) -> JsonSchemaValue:
    """Return JSON Schema keywords: an anonymous registration has no assertion, any other has one."""
    return {
        "if": {"properties": {name: {"const": "anonymous"}}},
        "then": {"properties": {"assertion_type": IS_NULL, "assertion": IS_NULL}},
        "else": requires_non_null("assertion_type", "assertion"),
    }


class RegisterAgent(Lenient):
    """The body of `POST /api/agent/register`; `identity_type` selects the variant, `type` is its alias."""

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema({"agent_name": "my agent", "identity_type": "anonymous"}),
            "if": requires_non_null("type"),
            "then": _variant("type"),
            "else": {**requires_non_null("identity_type", "agent_name"), **_variant("identity_type")},
        }
    )

    agent_name: AgentName | None = Field(
        None, description="1 to 100 characters; shown to the user who binds the agent."
    )
    identity_type: IdentityType | None = Field(None, description="The variant of registration.")
    type: IdentityType | None = Field(None, description="auth.md's name of identity_type.")
    assertion_type: str | None = Field(None, max_length=200, description=f"`{ID_JAG}` or `{VERIFIED_EMAIL}`.")
    assertion: str | None = Field(
        None, min_length=1, max_length=8192, description="A signed JWT, or an e-mail address."
    )

    @model_validator(mode="after")
    def _is_one_variant(self) -> Self:
        if self.identity_type and self.type and self.identity_type != self.type:
            raise member_error("type", "Says something else than identity_type; send one of the two")
        if self.variant is None:
            raise missing_members("identity_type")
        if self.agent_name is None and not self.in_auth_md:
            raise missing_members("agent_name")
        asserted = self.assertion is not None or self.assertion_type is not None
        if self.variant == "anonymous" and asserted:
            name = "assertion_type" if self.assertion is None else "assertion"
            raise member_error(name, "An anonymous registration has none: leave it out")
        if self.variant == "identity_assertion" and (self.assertion is None or self.assertion_type is None):
            raise missing_members(*(name for name in ("assertion_type", "assertion") if getattr(self, name) is None))
        return self

    @property
    def variant(self) -> IdentityType | None:
        return self.identity_type or self.type

    @property
    def in_auth_md(self) -> bool:
        """Whether the request uses `type`, the member of auth.md v0.1 (docs/contract 2.8)."""
        return self.type is not None

    @property
    def name(self) -> str:
        """The agent's name; auth.md does not require one."""
        return self.agent_name or "Unnamed agent"

    @property
    def is_bare_email(self) -> bool:
        """Whether the assertion is an e-mail address, not a signed JWT."""
        return self.assertion_type == VERIFIED_EMAIL and "@" in (self.assertion or "")


class ClaimAgent(Lenient):
    """The body of `POST /api/agent/claim`."""

    model_config = ConfigDict(json_schema_extra=example_schema({"claim_token": "BCDF-GHJK-LMNP"}))

    claim_token: str = Field(
        min_length=1, max_length=200, description="The delegation code that the user gave to the agent."
    )


class IdentityView(TypedDict):
    """The user of an agent."""

    user_id: str
    email: str | None
    issuer: NotRequired[str]
    subject: NotRequired[str]


class VerificationView(TypedDict):
    """The state of the mail to the owner of the address; `expires_in` is in seconds."""

    status: str
    expires_in: int


class RegistrationResult(TypedDict):
    """The five members of every registration (docs/contract 2.1), and those that the variant adds."""

    client_id: str
    access_token: str
    token_type: str
    expires_in: int
    scopes: list[str]
    identity: NotRequired[IdentityView]
    verification: NotRequired[VerificationView]


class ClaimResult(TypedDict):
    """The five members with the new token, the agent's user, and the refresh token for `/oauth/token`."""

    client_id: str
    access_token: str
    token_type: str
    expires_in: int
    scopes: list[str]
    status: str
    identity: IdentityView
    refresh_token: str


def auth_md_members(result: dict[str, Any], claim: dict[str, Any] | None, *, expires_at: str) -> dict[str, Any]:
    """Return the five members under their names in auth.md v0.1 (docs/contract 2.8).

    `claim` has `url`, `token` and `expires_at` for an agent without a user; None for an agent with one.
    """
    members = {
        "registration_id": result["client_id"],
        "credential_type": "access_token",
        "credential": result["access_token"],
        "credential_expires": expires_at,
    }
    if claim is not None:
        members |= {
            "claim_url": claim["url"],
            "claim_token": claim["token"],
            "claim_token_expires": claim["expires_at"],
            "post_claim_scopes": list(ASSISTANT),
        }
    return members
