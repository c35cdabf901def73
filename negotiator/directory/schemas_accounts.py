"""What crosses the wire at registration and proof (docs/contract 9.1 to 9.3)."""

from typing import Annotated, Any, Final, Literal, NotRequired, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from negotiator.agents.schemas import VERIFIED_EMAIL, AgentName
from negotiator.base.schema import Lenient, Strict, example_schema, member_error, missing_members, requires_non_null
from negotiator.base.scopes import CATEGORIES_READ, TOOLS_READ
from negotiator.base.values import Truth, Whole
from negotiator.directory.identity_proof import LONGEST_IDENTITY, ClaimedIdentity, is_did
from negotiator.trust.claims import mail_address

ACCOUNT_REGISTER_PATH: Final = "/api/auth/register"
LONGEST_OVERLAP: Final = 604_800
Overlap = Annotated[Whole, Field(ge=0, le=LONGEST_OVERLAP, description="How long the old key still works, seconds.")]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("Must have no characters that cannot be displayed")
    return text


def _mailbox(text: str) -> str:
    email = mail_address(text)
    if email is None:
        raise ValueError("Must be an e-mail address")
    return email


IdentityValue = Annotated[str, Field(min_length=1, max_length=LONGEST_IDENTITY), AfterValidator(_printable)]
MailboxAddress = Annotated[str, Field(max_length=254), AfterValidator(_mailbox)]
RequestedScope = Annotated[str, Field(max_length=100)]


class RegisterDirectoryAgent(Lenient):
    """The body of `POST /api/auth/register`; `identity_assertion` (auth.md) is equivalent to `email`."""

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema(
                {
                    "agent_name": "my agent",
                    "identity_type": "agent_id",
                    "identity_value": "my-agent-1",
                    "requested_scopes": [TOOLS_READ, CATEGORIES_READ],
                }
            ),
            "if": requires_non_null("type"),
            "then": requires_non_null("assertion_type", "assertion"),
            "else": {
                **requires_non_null("identity_type"),
                "if": {"properties": {"identity_type": {"const": "identity_assertion"}}},
                "then": requires_non_null("assertion_type", "assertion"),
                "else": requires_non_null("agent_name", "identity_value"),
            },
        }
    )

    agent_name: AgentName | None = Field(None, description="1 to 100 characters.")
    identity_type: Literal["did", "agent_id", "email", "identity_assertion"] | None = Field(
        None, description="What kind of identity the agent claims."
    )
    type: Literal["identity_assertion"] | None = Field(None, description="The name of identity_type in auth.md.")
    identity_value: IdentityValue | None = Field(None, description="The identity of that type.")
    contact_email: MailboxAddress | None = Field(
        None, description="An address of a person to contact; not verified and never shown."
    )
    requested_scopes: list[RequestedScope] | None = Field(
        None, max_length=20, description="Requested scopes; the three read scopes when left out."
    )
    assertion_type: Literal["verified_email"] | None = Field(
        None, description=f"`{VERIFIED_EMAIL}`, with identity_assertion."
    )
    assertion: IdentityValue | None = Field(None, description="An e-mail address, with identity_assertion.")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.type and self.identity_type not in (None, self.type):
            raise member_error("type", "Says something else than identity_type; send one of the two")
        if not self.identity_type and not self.type:
            raise missing_members("identity_type")
        if self._is_assertion:
            if not self.assertion_type or not self.assertion:
                raise missing_members(*(name for name in ("assertion_type", "assertion") if not getattr(self, name)))
        elif not self.agent_name:
            raise missing_members("agent_name")
        elif not self.identity_value:
            raise missing_members("identity_value")
        if wrong := _form_error(self.identity):
            raise member_error("assertion" if self._is_assertion else "identity_value", wrong)
        return self

    @property
    def _is_assertion(self) -> bool:
        return "identity_assertion" in (self.identity_type, self.type)

    @property
    def identity(self) -> ClaimedIdentity:
        """The claimed identity."""
        if self._is_assertion:
            kind, value = "email", self.assertion or ""
        else:
            kind, value = self.identity_type or "", self.identity_value or ""
        return ClaimedIdentity(kind, (mail_address(value) or value) if kind == "email" else value)

    @property
    def name(self) -> str:
        """The agent's name, which auth.md does not require."""
        return self.agent_name or "Unnamed agent"


def _form_error(identity: ClaimedIdentity) -> str:
    """What is wrong with the form of a value of its type, empty if nothing is."""
    if identity.type == "did" and not is_did(identity.value):
        return "Must be a DID such as did:key:z6Mk… or did:web:example.com"
    if identity.type == "email" and mail_address(identity.value) != identity.value:
        return "Must be an e-mail address such as agent@example.com"
    if identity.type == "agent_id" and len(identity.value) < 3:
        return "Must have at least 3 characters"
    return ""


class VerifyIdentity(Strict):
    """The body of `POST /api/auth/verify`."""

    model_config = ConfigDict(
        json_schema_extra=example_schema({"challenge_id": "chl_01jd3v9q1wz0b6x5y8c7e2k4mn", "proof": "12345678"})
    )

    challenge_id: str = Field(max_length=100, description="The id of the challenge.")
    proof: str = Field(min_length=1, max_length=8192, description="The signed statement, or the code of the mail.")
    rotate: Truth = Field(False, description="Also issue a new key; the present one ends at once.")


class RotateKey(Strict):
    """The body of `POST /api/auth/rotate`."""

    model_config = ConfigDict(json_schema_extra=example_schema({"overlap_seconds": 3600}))

    overlap_seconds: Overlap = 86_400


class RevokeCredential(Lenient):
    """The body of `POST /api/auth/revoke` (RFC 7009 §2.1)."""

    model_config = ConfigDict(json_schema_extra=example_schema({"token": "<API_KEY>", "token_type_hint": "api_key"}))

    token: str = Field(min_length=1, description="The key or token to revoke.")
    token_type_hint: Any = Field(None, description="`api_key` or another word; ignored.")


class RateView(TypedDict):
    """The agent's rate limit."""

    requests_per_minute: int
    burst: int


class ChallengeView(TypedDict):
    """How to prove the identity: `jws` needs a signed statement, `email_code` the mailed code."""

    id: str
    method: str
    nonce: NotRequired[str]
    audience: NotRequired[str]
    expires_at: str


class StandingView(TypedDict):
    """The agent's identity and level; `challenge` is null when there is none to answer."""

    type: str
    verified: bool
    trust_level: int
    challenge: ChallengeView | None


class CredentialRecord(TypedDict):
    """The credential record, and the identity (docs/contract 9.1)."""

    status: str
    client_id: str
    api_key: str
    scopes: list[str]
    rate_limit: RateView
    created_at: str
    identity: StandingView


class ChallengeResult(TypedDict):
    """A challenge for the calling agent."""

    client_id: str
    identity: StandingView


class VerifyResult(TypedDict):
    """The verified agent; with a new key when `rotate` was set."""

    status: str
    client_id: str
    identity: StandingView
    rate_limit: RateView
    api_key: NotRequired[str]


class RotateResult(TypedDict):
    """The new key, and when the old one ends."""

    status: str
    client_id: str
    api_key: str
    scopes: list[str]
    rate_limit: RateView
    created_at: str
    previous_key_expires_at: str


class RevokeResult(TypedDict):
    """The same answer for every token."""

    status: str
