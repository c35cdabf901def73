"""`/oauth/userinfo`: who the user behind a token is, as far as its scopes open (OpenID Connect Core §5.3)."""

from dataclasses import dataclass, replace
from typing import Final

from pydantic import ConfigDict
from typing_extensions import TypedDict

from negotiator.http.operation import Call, Operation
from negotiator.schema import Lenient
from negotiator.scopes import OPENID, PROFILE
from negotiator.store.store import Store
from negotiator.users import user_queries

USERINFO_CLAIMS: Final = ("sub", "name", "preferred_username", "email")


class UserInfoForm(Lenient):
    """OpenID clients may send a form with their token in the header; nothing in it matters."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class UserInfoClaims(TypedDict, total=False):
    """`sub` always; the rest with the scope `profile`, as far as it is known."""

    sub: str
    name: str
    preferred_username: str
    email: str


@dataclass(frozen=True, slots=True)
class UserInfoRoutes:
    """The endpoint, by GET and by POST."""

    store: Store

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        read = Operation(
            name="get_userinfo",
            method="GET",
            path="/oauth/userinfo",
            summary="Say who the user behind the token is",
            run=self.tell,
            input=UserInfoForm,
            output=UserInfoClaims,
            scopes=frozenset({OPENID}),
            tag="tokens",
        )
        return [read, replace(read, name="post_userinfo", method="POST", encoding="form")]

    async def tell(self, call: Call[UserInfoForm]) -> UserInfoClaims:
        """The claims that the token's scopes open; a client that acts for itself is its own subject."""
        user_id = call.caller.user_id
        claims: UserInfoClaims = {"sub": call.caller.principal}
        if user_id is None or PROFILE not in call.caller.scopes:
            return claims
        user = await self.store.read(lambda tx: user_queries.by_id(tx, user_id))
        if user is not None and user.name:
            claims["name"] = user.name
        if user is not None and user.email:
            claims["preferred_username"] = claims["email"] = user.email
        return claims
