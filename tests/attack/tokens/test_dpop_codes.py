"""Codes that are bound to a key before they are issued (RFC 9449 §10), in the hands of thieves."""

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.helpers.code_flow import ClientApp, ConsentingUser, told
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.forger import refused

TOKEN = "/oauth/token"


async def _redeem(app: ClientApp, code: str, prover: DpopProver | None) -> httpx2.Response:
    form = {
        "client_id": app.client_id,
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": app.redirect_uri,
        "code_verifier": app.verifier,
    }
    headers = {"DPoP": prover.proof()} if prover else {}
    return await app.http.post(TOKEN, data=form, headers=headers)


@covers("3.8:dpop-code")
@pytest.mark.asyncio
async def test_a_stolen_code_is_worth_nothing_without_its_key(ada: ConsentingUser, public_app: ClientApp) -> None:
    """Even with the verifier: whoever started the request said whose key it is for."""
    prover, thief = DpopProver(), DpopProver()
    code = await ada.code(public_app, dpop_jkt=prover.thumbprint)
    for hand in (None, thief):
        refused(await _redeem(public_app, code, hand), (400, "invalid_grant"), code)
    # Neither attempt used it up.
    answer = await _redeem(public_app, code, prover)
    assert (answer.status_code, answer.json()["token_type"]) == (200, "DPoP"), answer.text
    again = await _redeem(public_app, code, prover)
    refused(again, (400, "invalid_grant"), code)


@covers("3.8:dpop-code")
@pytest.mark.asyncio
async def test_the_key_survives_the_consent_page_and_cannot_be_taken_off_on_it(
    ada: ConsentingUser, public_app: ClientApp
) -> None:
    """The page's form carries the request; a code that it gives without the key is another request's."""
    prover = DpopProver()
    path = public_app.asks(dpop_jkt=prover.thumbprint)
    page = await ada.http.get(path)
    assert prover.thumbprint in page.text
    code = told(await ada.answer(page))["code"]
    refused(await _redeem(public_app, code, None), (400, "invalid_grant"), code)
    assert (await _redeem(public_app, code, prover)).status_code == 200


@pytest.mark.asyncio
async def test_what_is_no_thumbprint_is_told_to_the_client(ada: ConsentingUser, public_app: ClientApp) -> None:
    for text in ("x", "A" * 42, "A" * 44, "é" * 43, "A" * 42 + "="):
        path = public_app.asks(dpop_jkt=text)
        answer = await ada.http.get(path)
        assert told(answer)["error"] == "invalid_request", text
    twice = f"{public_app.asks()}&dpop_jkt={'A' * 43}&dpop_jkt={'B' * 43}"
    assert told(await ada.http.get(twice))["error"] == "invalid_request"


@pytest.mark.asyncio
async def test_who_names_no_key_may_still_prove_one(ada: ConsentingUser, public_app: ClientApp) -> None:
    answer = await _redeem(public_app, await ada.code(public_app), DpopProver())
    assert (answer.status_code, answer.json()["token_type"]) == (200, "DPoP")
