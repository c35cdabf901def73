"""Codes and refresh tokens under a race, on each engine: whatever may happen once happens once."""

import asyncio
from typing import Any, Final

import pytest

from negotiator.base.errors import InvalidRequest
from negotiator.store.store import Store
from negotiator.tokens import authorization_codes
from negotiator.tokens.authorization_codes import NewGrant, PresentedCode
from negotiator.tokens.refresh_tokens import RefreshTokens

pytestmark = pytest.mark.asyncio
PEPPER: Final = b"p"
CALLBACK: Final = "https://app.example/callback"
VERIFIER: Final = "v" * 43
GRANTED: Final = NewGrant(
    "cli_1", "usr_1", ["openid"], "", CALLBACK, "n", authorization_codes.s256_challenge(VERIFIER), 0
)


def won(answers: list[Any]) -> list[Any]:
    """What came of those that were not refused; every refusal knows how to end the grant."""
    for refused in answers:
        if isinstance(refused, BaseException):
            assert isinstance(refused, InvalidRequest)
            assert refused.remember
    return [answer for answer in answers if not isinstance(answer, BaseException)]


async def test_of_many_at_once_one_redeems_a_code_and_a_refresh_token_gets_one_successor(store: Store) -> None:
    code = await store.write(lambda tx: authorization_codes.issue_code(tx, GRANTED, pepper=PEPPER))
    presented = PresentedCode(code, "cli_1", CALLBACK, VERIFIER)
    racing = [store.write(lambda tx: authorization_codes.redeem(tx, presented, pepper=PEPPER)) for _ in range(30)]
    (grant,) = won(await asyncio.gather(*racing, return_exceptions=True))
    refreshing = RefreshTokens(PEPPER, 600)
    token = await store.write(lambda tx: refreshing.issue(tx, grant.id, granted_at=grant.created_at))
    rotating = [store.write(lambda tx: refreshing.rotate(tx, token.text, client_id="cli_1")) for _ in range(30)]
    rotated = await asyncio.gather(*rotating)
    assert {same.id for same, _ in rotated} == {grant.id}
    (following,) = {following.text for _, following in rotated}
    await store.write(lambda tx: authorization_codes.end(tx, grant.id, client_id="cli_1", actor="", reason="test"))
    with pytest.raises(InvalidRequest):
        await store.write(lambda tx: refreshing.rotate(tx, following, client_id="cli_1"))
