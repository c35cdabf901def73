"""Bodies and answers of registration and claim (docs/contract 2.1 to 2.8)."""

from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.schema import (
    IS_NULL,
    NOT_NULL,
    Lenient,
    exactly_one,
    example_schema,
    member_error,
    missing_members,
    requires_non_null,
)
from negotiator.base.scopes import ASSISTANT
from negotiator.base.strict_json import is_object

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


IdentityRequestKind = Literal["anonymous", "identity_assertion", "service_auth", "refresh"]
_NEEDED: dict[str, tuple[str, ...]] = {
    "anonymous": (),
    "identity_assertion": ("assertion_type", "assertion"),
    "service_auth": ("login_hint",),
    "refresh": ("refresh_token",),
}
_MEMBERS = sorted({name for names in _NEEDED.values() for name in names})


def _variants() -> JsonSchemaValue:
    """Return JSON Schema keywords: each `type` requires its own members and takes none of the others."""
    rule: JsonSchemaValue = {}
    for kind, names in reversed(_NEEDED.items()):
        others = {name: IS_NULL for name in _MEMBERS if name not in names}
        needed: JsonSchemaValue = {"required": list(names), "properties": {**others, **dict.fromkeys(names, NOT_NULL)}}
        rule = {"if": {"properties": {"type": {"const": kind}}}, "then": needed, "else": rule}
    return rule


class RegisterIdentity(Lenient):
    """The body of `POST /api/agent/identity`; `type` selects the variant."""

    model_config = ConfigDict(json_schema_extra={**example_schema({"type": "anonymous"}), **_variants()})

    type: IdentityRequestKind = Field(description="The variant of registration.")
    agent_name: AgentName | None = Field(None, description="Shown to the user who claims the agent.")
    assertion_type: str | None = Field(None, max_length=200, description=f"`{ID_JAG}`.")
    assertion: str | None = Field(None, min_length=1, max_length=8192, description="An ID-JAG.")
    login_hint: str | None = Field(
        None, min_length=1, max_length=254, description="The e-mail address of the agent's user."
    )
    refresh_token: str | None = Field(
        None, min_length=1, max_length=200, description="The refresh token of the previous answer."
    )

    @model_validator(mode="after")
    def _is_one_variant(self) -> Self:
        for name in _MEMBERS:
            there, needed = getattr(self, name) is not None, name in _NEEDED[self.type]
            if there != needed:
                raise (
                    missing_members(name)
                    if needed
                    else member_error(name, f"Does not belong to the type {self.type}: leave it out")
                )
        return self

    @property
    def name(self) -> str:
        """The agent's name; auth.md does not require one."""
        return self.agent_name or "Unnamed agent"


class RequestClaim(Lenient):
    """The body of `POST /api/agent/identity/claim`.

    With `login_hint`, the answer has the URL of the page for the user. With auth.md v0.1's `email`, the user gets a
    mail with a link to the page.
    """

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema({"claim_token": "<CLAIM_TOKEN>", "login_hint": "ada@example.com"}),
            **exactly_one("login_hint", "email"),
        }
    )

    claim_token: str = Field(min_length=1, max_length=200)
    type: Literal["service_auth"] | None = None
    login_hint: str | None = Field(None, min_length=1, max_length=254)
    email: str | None = Field(None, min_length=1, max_length=254)

    @model_validator(mode="after")
    def _names_somebody_once(self) -> Self:
        if (self.login_hint is None) == (self.email is None):
            raise member_error("login_hint", "Send login_hint or email, and not both")
        return self


class CompleteClaim(Lenient):
    """The body of `POST /api/agent/identity/claim/complete`.

    `otp` is auth.md v0.1's name of `user_code`. A request with `otp` gets a credential as in v0.1, not an identity.
    """

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema({"claim_token": "<CLAIM_TOKEN>", "user_code": "BCDF-GHJK-LMNP"}),
            **exactly_one("user_code", "otp"),
        }
    )

    claim_token: str = Field(min_length=1, max_length=200)
    user_code: str | None = Field(
        None, min_length=1, max_length=200, description="The code that the user read on the page and gave to the agent."
    )
    otp: str | None = Field(None, min_length=1, max_length=200)

    @model_validator(mode="after")
    def _has_one_code(self) -> Self:
        if (self.user_code is None) == (self.otp is None):
            raise member_error("user_code", "Send user_code or otp, and not both")
        return self


def with_flat_members(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with the flat members of auth.md v0.2 to v0.7 added."""
    identity: dict[str, Any] = answer.get("identity", {})
    claim: dict[str, Any] = answer.get("claim", {})
    scopes: object = answer.get("scopes")
    named: dict[str, Any] = {
        "registration_id": answer["id"],
        "registration_type": answer.get("type"),
        "identity_assertion": identity.get("assertion"),
        "assertion_expires": identity.get("expires_at"),
        "claim_url": claim.get("url"),
        "claim_token": claim.get("token"),
        "claim_token_expires": claim.get("expires_at"),
        **({f"{when}_scopes": names for when, names in scopes.items()} if is_object(scopes) else {}),
    }
    return {**{name: value for name, value in named.items() if value is not None}, **answer}
