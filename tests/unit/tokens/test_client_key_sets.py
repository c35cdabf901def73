"""Keys that clients publish at an address: how often they are fetched, and at whose cost."""

import asyncio
import json

import pytest

from negotiator.base.errors import TooManyRequests, Unavailable
from negotiator.tokens.client_authentication import ClientAssertion, ClientAssertionVerifier
from negotiator.tokens.clients import PRIVATE_KEY_JWT, NewClient, columns
from negotiator.tokens.tables import Client
from negotiator.trust.client_url_fetch import FETCHES, ClientUrlFetcher
from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.keysets import IssuerKeys
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.form_browser import BASE

pytestmark = pytest.mark.asyncio

ID, KEYS = "https://app.example/client.json", "https://keys.example/keys.json"
HERE, STRANGER = "203.0.113.7", "198.51.100.1"


class KeyWeb(Fetcher):
    """A web with one key set; `open` lets its answers out."""

    def __init__(self, *signers: ClientAssertionSigner) -> None:
        super().__init__(allow_loopback=False)
        self.signers, self.asked, self.open = list(signers), 0, asyncio.Event()
        self.open.set()

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        self.asked += 1
        assert (url, limit) == (KEYS, 65_536)
        await self.open.wait()
        if not self.signers:
            raise FetchFailed("away")
        keys = [key for signer in self.signers for key in signer.jwks["keys"]]
        return FetchedDocument(json.loads(json.dumps({"keys": keys})), None)


class Bench:
    """A verifier over this web, with a clock to turn and addresses whose budget is empty."""

    def __init__(self, *signers: ClientAssertionSigner) -> None:
        self.web, self.now, self.spent = KeyWeb(*signers), 0, set[str]()
        hosts = ClientUrlFetcher(self.web, self._charge, clock=lambda: self.now)
        keys = IssuerKeys(self.web, lambda: self.now, for_clients=True)
        self.verifier = ClientAssertionVerifier(BASE, keys, hosts)
        told = NewClient("App", (), (), auth_method=PRIVATE_KEY_JWT, jwks_uri=KEYS, origin="document")
        self.client = Client(**columns(ID, told, secret_digest="", created_at=0))

    async def _charge(self, budget: str, key: str) -> int:
        return 30 if budget == FETCHES and key in self.spent else 0

    async def verify(self, signer: ClientAssertionSigner, address: str = HERE) -> ClientAssertion | None:
        return await self.verifier.verify(signer.assertion(), self.client, address=address)


def signer(kid: str) -> ClientAssertionSigner:
    return ClientAssertionSigner(ID, kid=kid)


async def test_of_a_thousand_assertions_across_a_rotation_none_fails() -> None:
    old, new = signer("old"), signer("new")
    bench = Bench(old)
    for number in range(500):
        assert await bench.verify(old), number
    bench.web.signers = [new, old]
    for number in range(450):
        assert await bench.verify(new if number % 2 else old), number
    assert all(await asyncio.gather(*(bench.verify(new) for _ in range(50))))
    assert bench.web.asked == 2


async def test_a_thousand_unknown_keys_cost_one_fetch_a_minute() -> None:
    known = signer("known")
    bench = Bench(known)
    assert await bench.verify(known)
    for minute in range(3):
        bench.now = minute * 60_000
        guesses = [signer(f"guess-{number}") for number in range(20)]
        assert [await bench.verify(guess) for guess in guesses] == [None] * 20
        assert bench.web.asked == 2 + minute
        bench.now += 59_999
        assert await bench.verify(signer("again")) is None
        assert await bench.verify(known)
        assert bench.web.asked == 2 + minute


async def test_a_stranger_whose_budget_is_empty_delays_nobody() -> None:
    known = signer("known")
    bench = Bench(known)
    bench.spent = {STRANGER}
    with pytest.raises(TooManyRequests):
        await bench.verify(known, STRANGER)
    found = await asyncio.gather(
        bench.verify(known, STRANGER), bench.verify(known), bench.verify(known, STRANGER), return_exceptions=True
    )
    assert isinstance(found[0], TooManyRequests)
    assert found[1]
    assert bench.web.asked == 1
    # With keys that are there, an unknown kid of the stranger is refused without a fetch, and the next one is fetched.
    new = signer("new")
    bench.web.signers.append(new)
    with pytest.raises(TooManyRequests):
        await bench.verify(new, STRANGER)
    assert await bench.verify(new)


async def test_keys_that_are_away_are_asked_for_once_a_minute_and_old_ones_count_for_a_day() -> None:
    known = signer("known")
    bench = Bench()
    for _ in range(3):
        with pytest.raises(Unavailable) as away:
            await bench.verify(known)
        assert 0 < away.value.retry_after <= 60
    assert bench.web.asked == 1
    bench.web.signers, bench.now = [known], 60_000
    assert await bench.verify(known)
    bench.web.signers, bench.now = [], 60_000 + 86_399_999
    assert await bench.verify(known)
    bench.now += 60_000
    with pytest.raises(Unavailable):
        await bench.verify(known)
