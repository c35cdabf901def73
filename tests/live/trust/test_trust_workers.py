"""What has to hold on every worker at once, PostgreSQL between them: proofs that count once, events that end all."""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator

import httpx2
import pytest

from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from tests.conftest import bearer
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.event_transmitter import CAEP, push, security_event
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.live_server import ROUNDS, Server
from tests.helpers.mcp_client import McpClient

pytestmark = pytest.mark.asyncio
LIST = "/api/negotiations"
REGISTER = "/api/agent/register"
MCP = "/mcp"


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory, postgres: Callable[[], str]) -> Generator[Server]:
    """A server with two workers on PostgreSQL."""
    settings = {"database_url": postgres(), "services": "assistant"}
    started = Server(tmp_path_factory.mktemp("crowd"), workers=2, settings=settings)
    started.start()
    yield started
    started.stop()
    assert "crashed" not in (started.folder / "log").read_text()


def _prove(prover: DpopProver, server: Server, token: str, method: str, path: str) -> dict[str, str]:
    return prover.headers(token, method, path, htu=f"{server.base}{path}")


async def test_a_proof_counts_once_on_all_workers_together(two_workers: Server) -> None:
    """One proof on a dozen connections at once: one is let in, over HTTP and over MCP."""
    prover, body = DpopProver(), {"agent_name": "prover", "identity_type": "anonymous"}
    proof = {"DPoP": prover.proof("POST", REGISTER, htu=f"{two_workers.base}{REGISTER}")}
    async with two_workers.connect() as http:
        made = await asyncio.gather(*(http.post(REGISTER, json=body, headers=proof) for _ in range(12)))
        assert Counter(answer.status_code for answer in made) == {201: 1, 400: 11}
        (token,) = (answer.json()["access_token"] for answer in made if answer.is_success)
        for _ in range(ROUNDS):
            headers = _prove(prover, two_workers, token, "GET", LIST)
            answers = await asyncio.gather(*(http.get(LIST, headers=headers) for _ in range(12)))
            assert Counter(answer.status_code for answer in answers) == {200: 1, 401: 11}
        over_mcp = McpClient(http, _prove(prover, two_workers, token, "POST", MCP))
        answers = await asyncio.gather(*(over_mcp.call("list_negotiations") for _ in range(12)))
        assert Counter(answer.status_code for answer in answers) == {200: 1, 401: 11}
        refused = [answer.json()["error"] for answer in answers if answer.status_code == 401]
        assert {error["data"]["error"] for error in refused} == {"invalid_dpop_proof"}
        # Proofs of its own for each: all are let in, wherever they arrive.
        own = [_prove(prover, two_workers, token, "GET", LIST) for _ in range(12)]
        answers = await asyncio.gather(*(http.get(LIST, headers=each) for each in own))
        assert {answer.status_code for answer in answers} == {200}


async def test_a_report_to_one_worker_ends_what_all_of_them_believed(two_workers: Server) -> None:
    """The next request after the report's answer is refused, on whichever worker it comes to."""
    for place in range(ROUNDS):
        idp = FakeIssuer(two_workers.base, f"https://idp-{place}.example")

        def unit(tx: Transaction, idp: FakeIssuer = idp) -> None:
            issuer_queries.add(tx, idp.issuer(), own=two_workers.base, allow_loopback=False)

        await two_workers.change(unit)
        async with two_workers.connect() as http:
            assertions = [idp.assertion() for _ in range(4)]
            made = await asyncio.gather(*(http.post(REGISTER, json=registration(text)) for text in assertions))
            tokens = [answer.json() for answer in made]
            assert await _believed(http, tokens) == {200}
            late = idp.assertion()
            reported = await push(http, security_event(idp, f"{CAEP}session-revoked", aud=two_workers.base))
            assert reported.status_code == 202
            assert await _believed(http, tokens) == {401}
            again = await asyncio.gather(*(http.post(REGISTER, json=registration(late)) for _ in range(3)))
            assert {answer.json()["error"] for answer in again} == {"expired"}


async def _believed(http: httpx2.AsyncClient, tokens: list[dict[str, str]]) -> set[int]:
    """How several requests with each of these tokens are answered, each on a connection of its own."""
    asked = (http.get(LIST, headers=bearer(token)) for token in tokens for _ in range(4))
    return {answer.status_code for answer in await asyncio.gather(*asked)}
