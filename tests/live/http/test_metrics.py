"""Numbers over several workers: exact, whoever is asked, and kept when a worker dies."""

import os
import signal
import time
from collections.abc import Generator
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.contract.requirements import covers
from tests.helpers.live_server import Server, free_port

TOKEN = "only the collector knows"
SAMPLE = 'negotiator_requests_total{operation="get_health",status="200"}'


@pytest.fixture
def metrics_server(tmp_path: Path) -> Generator[Server]:
    """A service with three workers that tells its numbers in both ways."""
    private = f"127.0.0.1:{free_port()}"
    started = Server(tmp_path, workers=3, settings={"metrics_token": TOKEN, "metrics_listen": private})
    started.start()
    yield started
    started.stop()


def scraped(url: str) -> dict[str, float]:
    """The samples at the address."""
    answer = httpx2.get(f"{url}/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    pairs = (line.rpartition(" ") for line in answer.text.splitlines() if line[0] != "#")
    return {name: float(value) for name, _, value in pairs}


def waited(server: Server, workers: int) -> dict[str, float]:
    """The samples as soon as this many workers are alive."""
    end = time.monotonic() + 30
    while (found := scraped(server.base))["negotiator_workers"] != workers:
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


@covers("1.13:metrics")
def test_whoever_is_asked_adds_up_all_workers_and_the_dead_are_not_forgotten(metrics_server: Server) -> None:
    before = waited(metrics_server, 3)[SAMPLE]
    for _ in range(40):
        assert httpx2.get(f"{metrics_server.base}/api/health").status_code == 200
    private = f"http://{metrics_server.settings['metrics_listen']}"
    answers = [scraped(url)[SAMPLE] for url in (metrics_server.base, private) for _ in range(6)]
    assert answers == [before + 40] * 12
    assert metrics_server.process is not None
    files = set((metrics_server.folder / "var" / "metrics").iterdir())
    lanes = [name for name in waited(metrics_server, 3) if name.startswith("process_resident")]
    assert len(lanes) == 3
    worker = psutil.Process(metrics_server.process.pid).children(recursive=True)[-1]
    os.kill(worker.pid, signal.SIGKILL)
    psutil.wait_procs([worker], 10)
    assert waited(metrics_server, 3)[SAMPLE] >= before + 40
    assert set((metrics_server.folder / "var" / "metrics").iterdir()) == files
