"""The wait of a request for Redis is a span of its trace, without the address or credential that it counts."""

import pytest

from negotiator.config.settings import Settings
from tests.conftest import bearer, connect, make_settings, running
from tests.helpers.trace_collector import collecting, span_attributes


@pytest.mark.asyncio
async def test_a_call_of_redis_is_inside_its_request(settings: Settings, redis_url: str) -> None:
    body = {"agent_name": "tester", "identity_type": "anonymous"}
    with collecting() as collector:
        chosen = make_settings(
            settings.data_dir, settings.keys_dir, redis_url=redis_url, traces_url=collector.url, traces_sample=1.0
        )
        async with running(chosen) as application, connect(application) as client:
            agent = bearer((await client.post("/api/agent/register", json=body)).json())
            await client.get("/api/negotiations", headers=agent)
    [request] = [span for span in collector.spans if span.name == "list_negotiations"]
    [asked] = [span for span in collector.spans if span.name == "redis" and span.parent_span_id == request.span_id]
    assert span_attributes(asked) == {"db.system.name": "redis"}
