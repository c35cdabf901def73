"""A form that is refused as a whole gives its texts back; a foreign one is not repeated."""

import pytest

from tests.conftest import Account
from tests.helpers.form_browser import FormBrowser

GONE = "/negotiations/neg_00000000000000000000000000/offers"
TEXT = "They said <b>that</b> prices rose for everybody."


@pytest.mark.asyncio
async def test_texts_come_back_with_the_refusal(browser: FormBrowser, account: Account) -> None:
    fields = {"by": "them", "issue__price": "45", "rationale": TEXT}
    refused = await browser.send(GONE, on="/account", **fields)
    assert refused.status_code == 404
    assert "Nothing was saved. Your text is here" in refused.text
    assert "They said &lt;b&gt;that&lt;/b&gt; prices rose for everybody." in refused.text
    assert ">45<" not in refused.text


@pytest.mark.asyncio
async def test_passwords_and_forged_forms_are_not_repeated(browser: FormBrowser, account: Account) -> None:
    forged = await browser.client.post(GONE, data={"csrf": "forged", "rationale": TEXT})
    assert forged.status_code == 403
    assert "prices rose" not in forged.text
    secret = {"rationale": TEXT, "password": "words of a long secret"}
    refused = await browser.send(GONE, on="/account", **secret)
    assert "prices rose" in refused.text
    assert "long secret" not in refused.text
    assert "prices rose" not in (await browser.open("/nothing-here", accept="text/html")).text
