"""The user sees the clients that they allowed, and ends a connection."""

import pytest

from tests.conftest import bearer
from tests.helpers.code_flow import ClientApp, ConsentingUser, csrf_token


@pytest.mark.asyncio
async def test_a_client_that_was_let_in_is_listed_and_ended(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    tokens, others = await ada.tokens(public_app), await ada.tokens(web_app)
    page = await ada.http.get("/agents")
    for said in ("Notes", "app.example", public_app.client_id):
        assert said in page.text
    form = {"csrf": csrf_token(page), "app": public_app.client_id}
    ended = await ada.http.post("/agents/apps/revoke", data=form)
    assert ended.status_code == 303
    assert public_app.client_id not in (await ada.http.get("/agents")).text
    listed = await public_app.http.get("/api/negotiations", headers=bearer(tokens))
    assert listed.status_code == 401
    assert (await public_app.refresh(tokens["refresh_token"])).status_code == 400
    kept = await web_app.http.get("/api/negotiations", headers=bearer(others))
    assert kept.status_code == 200
    assert (await ada.http.get(public_app.asks())).status_code == 200, "they are asked again"
    again = await ada.http.post("/agents/apps/revoke", data=form)
    assert again.status_code == 404
