"""Bodies and answers of auth.md's newer versions, with the flat members of v0.2 to v0.7 (docs/contract 2.8)."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.json_schema import JsonSchemaValue

from negotiator.agents.schemas import ID_JAG, AgentName
from negotiator.base.schema import (
    IS_NULL,
    NOT_NULL,
    Lenient,
    exactly_one,
    example_schema,
    member_error,
    missing_members,
)
from negotiator.base.strict_json import is_object

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
