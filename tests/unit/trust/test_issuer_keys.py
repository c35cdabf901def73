"""The cache of issuers' keys: fresh, never hammering, alive beside a dead host."""

import asyncio
import json
import threading
from typing import Any

import pytest

from negotiator.trust import fetch, keysets
from negotiator.trust.claims import AssertionRefused, Reason, at_registration, at_token_endpoint
from negotiator.trust.fetch import FetchedDocument, FetchFailed, NameResolver
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import Issuer
from negotiator.trust.keysets import FETCHES_AT_ONCE, MAX_ISSUERS, IssuerKeys, KeysUnavailable, NoSuchKey
from tests.contract.requirements import covers
from tests.helpers.forged_assertions import IDP, NOW, StaticKeys, issuer, jwk, jwks
from tests.helpers.loopback_server import answering, serving

pytestmark = pytest.mark.asyncio

URI = "https://idp.example/jwks"
OAUTH = "https://idp.example/.well-known/oauth-authorization-server"
OPENID = "https://idp.example/.well-known/openid-configuration"
MINUTE = 60_000
HOUR = 60 * MINUTE


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


class Bench:
    """A cache over a shelf of documents, with a clock to turn."""

    def __init__(self, **documents: FetchedDocument) -> None:
        self.clock = Clock()
        self.shelf = StaticKeys()
        self.keys = IssuerKeys(self.shelf, self.clock)
        self.publish("ES256")

    def publish(self, *kids: str, max_age: int | None = None, uri: str = URI) -> None:
        body = json.loads(jwks(*(jwk("ES256", kid) for kid in kids)))
        self.shelf.documents[uri] = FetchedDocument(body, max_age)

    def die(self) -> None:
        self.shelf.documents.clear()

    async def find(self, kid: str | None = "ES256", by: Issuer | None = None) -> str:
        """The outcome in a word: `found`, `unknown` or `unavailable`."""
        try:
            await self.keys.find(by or issuer(jwks="", jwks_uri=URI), kid, "ES256")
        except NoSuchKey:
            return "unknown"
        except KeysUnavailable:
            return "unavailable"
        return "found"

    @property
    def fetches(self) -> int:
        return len(self.shelf.asked)


@pytest.mark.parametrize(
    ("max_age", "kept"), [(None, 10 * MINUTE), (0, 10 * MINUTE), (60, 10 * MINUTE), (3600, HOUR), (10**9, 24 * HOUR)]
)
async def test_keys_are_kept_between_ten_minutes_and_a_day(max_age: int | None, kept: int) -> None:
    bench = Bench()
    bench.publish("ES256", max_age=max_age)
    assert await bench.find() == "found"
    bench.clock.now += kept - 1
    assert await bench.find() == "found"
    assert bench.fetches == 1
    bench.clock.now += 1
    assert await bench.find() == "found"
    assert bench.fetches == 2


async def test_a_rotated_key_is_found_at_once_and_the_old_one_goes_with_the_cache() -> None:
    bench = Bench()
    assert await bench.find("ES256") == "found"
    bench.publish("new")
    bench.clock.now += MINUTE
    assert await bench.find("ES256") == "found"
    assert await bench.find("new") == "found"
    assert await bench.find("ES256") == "unknown"


async def test_unknown_kids_cost_one_fetch_in_thirty_seconds() -> None:
    bench = Bench()
    assert await bench.find() == "found"
    bench.clock.now += MINUTE
    assert [await bench.find(f"guess-{number}") for number in range(50)] == ["unknown"] * 50
    assert bench.fetches == 2
    bench.clock.now += 29_999
    assert await bench.find("again") == "unknown"
    assert bench.fetches == 2
    bench.clock.now += 1
    assert await bench.find("again") == "unknown"
    assert bench.fetches == 3


async def test_a_dead_host_keeps_the_old_keys_for_a_day_and_no_longer() -> None:
    bench = Bench()
    assert await bench.find() == "found"
    bench.die()
    bench.clock.now += 24 * HOUR - 1
    assert await bench.find() == "found"
    assert bench.fetches == 2
    bench.clock.now += 1
    assert await bench.find() == "unavailable"


async def test_a_dead_host_is_not_hammered() -> None:
    bench = Bench()
    bench.die()
    assert [await bench.find() for _ in range(20)] == ["unavailable"] * 20
    assert bench.fetches == 1
    with pytest.raises(KeysUnavailable) as unavailable:
        await bench.keys.find(issuer(jwks="", jwks_uri=URI), "ES256", "ES256")
    assert unavailable.value.retry_after == 30
    bench.clock.now += 30_000
    bench.publish("ES256")
    assert await bench.find() == "found"


BAD: list[dict[str, Any]] = [{}, {"keys": [{"kty": "oct", "k": "AA"}]}, {"keys": [{}] * 51}]


@pytest.mark.parametrize("body", BAD)
async def test_a_bad_document_does_not_replace_a_good_one(body: dict[str, Any]) -> None:
    bench = Bench()
    assert await bench.find() == "found"
    bench.shelf.documents[URI] = FetchedDocument(body, None)
    bench.clock.now += HOUR
    assert await bench.find() == "found"
    assert bench.fetches == 2


async def test_a_withdrawn_set_takes_its_keys_away() -> None:
    bench = Bench()
    assert await bench.find() == "found"
    bench.publish()
    bench.clock.now += HOUR
    assert await bench.find() == "unknown"


class Slow(StaticKeys):
    """A shelf that waits for a signal before it answers."""

    def __init__(self) -> None:
        super().__init__({URI: FetchedDocument(json.loads(jwks(jwk("ES256"))), None)})
        self.signal = asyncio.Event()

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        found = await super().document(url, limit=limit)
        await self.signal.wait()
        return found


async def test_many_at_once_share_one_fetch_and_one_who_leaves_does_not_end_it() -> None:
    slow = Slow()
    keys = IssuerKeys(slow, Clock())
    trusted = issuer(jwks="", jwks_uri=URI)
    waiting = [asyncio.create_task(keys.find(trusted, "ES256", "ES256")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    slow.signal.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert not any(isinstance(outcome, BaseException) for outcome in outcomes[1:])
    assert slow.asked == [URI]


async def test_a_fetch_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keysets, "FLIGHT_SECONDS", 0.01)
    keys = IssuerKeys(Slow(), Clock())
    with pytest.raises(KeysUnavailable, match="too long"):
        await keys.find(issuer(jwks="", jwks_uri=URI), "ES256", "ES256")


async def test_closing_ends_the_fetches_under_way() -> None:
    slow = Slow()
    keys = IssuerKeys(slow, Clock())
    waiting = asyncio.create_task(keys.find(issuer(jwks="", jwks_uri=URI), "ES256", "ES256"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await keys.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_one_issuer_s_slow_host_does_not_hold_another_up() -> None:
    slow = Slow()
    keys = IssuerKeys(slow, Clock())
    waiting = asyncio.create_task(keys.find(issuer(jwks="", jwks_uri=URI), "ES256", "ES256"))
    await asyncio.sleep(0)
    assert await keys.find(issuer(issuer="https://b.example"), "ES256", "ES256")
    slow.signal.set()
    await waiting


@pytest.mark.parametrize(
    "after",
    [
        {"jwks": "", "jwks_uri": "https://idp.example/other"},
        {"jwks": jwks(jwk("ES256", "configured"))},
        {"jwks": "", "jwks_uri": ""},
    ],
)
async def test_a_changed_configuration_serves_no_old_key(after: dict[str, Any]) -> None:
    bench = Bench()
    assert await bench.find("ES256") == "found"
    assert await bench.find("ES256", issuer(**after)) in {"unknown", "unavailable"}


async def test_configured_keys_are_never_fetched() -> None:
    bench = Bench()
    assert await bench.find("ES256", issuer()) == "found"
    assert await bench.find("guess", issuer()) == "unknown"
    bench.clock.now += 72 * HOUR
    assert await bench.find("ES256", issuer()) == "found"
    assert bench.fetches == 0


BAD_TEXTS = ["x", "[]", '{"keys": 5}', '{"keys": [], "keys": []}', jwks(jwk("ES256")) + " " * 65_536]


@pytest.mark.parametrize("text", BAD_TEXTS)
async def test_unusable_configured_keys_are_unavailable(text: str) -> None:
    assert await Bench().find("ES256", issuer(jwks=text)) == "unavailable"


async def test_issuers_are_remembered_in_a_bounded_number() -> None:
    bench = Bench()
    assert await bench.find() == "found"
    for number in range(MAX_ISSUERS):
        assert await bench.find("ES256", issuer(issuer=f"https://{number}.example")) == "found"
    assert await bench.find() == "found"
    assert bench.fetches == 2


def metadata(uri: str = URI, named: Any = IDP) -> FetchedDocument:
    return FetchedDocument({"issuer": named, "jwks_uri": uri}, None)


async def discovered(documents: dict[str, FetchedDocument], name: str = IDP) -> tuple[str, list[str]]:
    bench = Bench()
    bench.shelf.documents.update(documents)
    return await bench.find("ES256", Issuer(name, ("ES256",))), bench.shelf.asked


async def test_keys_are_discovered_in_either_metadata() -> None:
    assert await discovered({OAUTH: metadata()}) == ("found", [OAUTH, URI])
    assert await discovered({OPENID: metadata()}) == ("found", [OAUTH, OPENID, URI])


async def test_the_path_of_an_issuer_goes_where_each_document_wants_it() -> None:
    _, asked = await discovered({}, "https://idp.example/tenant/")
    assert asked == [f"{OAUTH}/tenant", "https://idp.example/tenant/.well-known/openid-configuration"]


@pytest.mark.parametrize("named", [f"{IDP}/", IDP.upper(), "https://evil.example", None, [IDP]])
async def test_metadata_of_another_issuer_is_not_believed(named: Any) -> None:
    outcome, asked = await discovered({OAUTH: metadata(named=named), OPENID: metadata(named=named)})
    assert (outcome, asked) == ("unavailable", [OAUTH, OPENID])


@pytest.mark.parametrize("name", ["idp", "https://idp.example?x=1", "https://idp.example#x", ""])
async def test_an_issuer_that_is_no_url_has_nothing_to_discover(name: str) -> None:
    assert await discovered({}, name) == ("unavailable", [])


@covers("1.13:health-issuers")
async def test_health_tells_how_many_issuers_keys_fail_until_they_are_fetched() -> None:
    bench = Bench()
    assert bench.keys.state() == "ok"
    bench.die()
    assert await bench.find() == "unavailable"
    assert await bench.find(by=issuer(issuer="https://b.example")) == "found"
    assert bench.keys.state() == "failing: the keys of 1 of 2 issuers cannot be fetched"
    bench.clock.now += MINUTE
    bench.publish("ES256")
    assert await bench.find() == "found"
    assert bench.keys.state() == "ok"


async def test_a_clock_that_is_set_back_delays_no_fetch() -> None:
    bench = Bench()
    bench.die()
    assert await bench.find() == "unavailable"
    bench.clock.now -= HOUR
    bench.publish("ES256")
    assert await bench.find() == "found"


async def test_twelve_issuers_whose_hosts_hang_cost_the_thirteenth_nothing() -> None:
    async def hang(_writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    body = jwks(jwk("ES256")).encode()
    async with serving(hang) as (deaf, heads), serving(answering(body)) as (fine, _):
        fetcher = Fetcher(allow_loopback=True, at_once=FETCHES_AT_ONCE)
        keys = IssuerKeys(fetcher, Clock())

        def ask(name: str, port: int) -> "asyncio.Task[Any]":
            known = issuer(issuer=name, jwks="", jwks_uri=f"http://127.0.0.1:{port}/jwks")
            return asyncio.create_task(keys.find(known, "ES256", "ES256"))

        hung = [ask(f"https://{number}.example", deaf) for number in range(12)]
        while len(heads) < len(hung):
            await asyncio.sleep(0.001)
        assert await ask("https://13.example", fine)
        assert not any(each.done() for each in hung), "it waited for none of them"
        await keys.close()
        await asyncio.gather(*hung, return_exceptions=True)
        await fetcher.close()


async def test_a_name_that_takes_long_to_look_up_takes_one_thread_and_delays_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends, looked = threading.Event(), list[str]()

    def look_up(host: str, port: int) -> list[str]:
        looked.append(host)
        if host.startswith("hung"):
            ends.wait(10)
        return [f"203.0.113.{port % 256}"]

    monkeypatch.setattr(fetch, "_look_up", look_up)
    resolver = NameResolver(4)
    hung = [asyncio.create_task(resolver(f"hung{number % 3}", 443)) for number in range(30)]
    await asyncio.sleep(0)
    hung[0].cancel()
    assert await resolver("fine", 443) == ["203.0.113.187"]
    ends.set()
    await asyncio.gather(*hung, return_exceptions=True)
    assert sorted(looked) == ["fine", "hung0", "hung1", "hung2"]


async def test_the_refusal_says_when_the_keys_are_fetched_again() -> None:
    refused = AssertionRefused(Reason.KEYS_UNAVAILABLE, "Not now.", retry_after=17)
    for refusal in (at_registration(refused), at_token_endpoint(refused)):
        assert refusal.headers == {"retry-after": "17"}


async def test_a_failure_says_why_in_private() -> None:
    bench = Bench()
    bench.die()
    with pytest.raises(KeysUnavailable) as unavailable:
        await bench.keys.find(issuer(jwks="", jwks_uri=URI), "ES256", "ES256")
    assert URI in unavailable.value.detail
    assert isinstance(unavailable.value, Exception)
    with pytest.raises(FetchFailed):
        await bench.shelf.document(URI)
