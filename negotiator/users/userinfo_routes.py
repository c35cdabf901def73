"""`/oauth/userinfo`: the claims about a token's user that its scopes allow (OpenID Connect Core §5.3)."""

from dataclasses import dataclass, replace
from typing import Final

from pydantic import ConfigDict
from typing_extensions import TypedDict

from negotiator.base.schema import Lenient
from negotiator.base.scopes import OPENID, PROFILE
from negotiator.http.operation import Call, Operation
from negotiator.store.store import Store
from negotiator.users import user_queries

USERINFO_CLAIMS: Final = ("sub", "name", "preferred_username", "email")


class UserInfoForm(Lenient):
    """The form that an OpenID client may send along with the token in the header; its members are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class UserInfoClaims(TypedDict, total=False):
    """`sub` is always present; the other claims need the scope `profile` and a value in the user's account."""

    sub: str
    name: str
    preferred_username: str
    email: str


@dataclass(frozen=True, slots=True)
class UserInfoRoutes:
    """The userinfo endpoint for GET and POST."""

    store: Store

    def operations(self) -> list[Operation]:
        read = Operation(
            name="get_userinfo",
            method="GET",
            path="/oauth/userinfo",
            summary="Read the claims about the token's user",
            run=self.tell,
            input=UserInfoForm,
            output=UserInfoClaims,
            scopes=frozenset({OPENID}),
            tag="tokens",
        )
        return [read, replace(read, name="post_userinfo", method="POST", encoding="form")]

    async def tell(self, call: Call[UserInfoForm]) -> UserInfoClaims:
        """The claims that the token's scopes allow; `sub` is the client id when the token has no user."""
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
