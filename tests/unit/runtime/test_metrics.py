"""Counting: in one worker, over several, and over those that are gone."""

import os
import subprocess
import sys
from array import array
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.runtime.metrics import MetricRegistry, RequestMetrics, prometheus_text

ROOT = Path(__file__).parents[3]


def traffic(folder: Path, *operations: str) -> tuple[MetricRegistry, RequestMetrics]:
    """The meters of one worker, open."""
    meters = MetricRegistry(folder)
    counted = RequestMetrics(meters, operations or ("read",))
    meters.open()
    return meters, counted


def values(meters: MetricRegistry) -> dict[str, float]:
    """The samples of the text, by name and labels."""
    lines = prometheus_text(meters.snapshot(), ("read",)).splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def test_a_request_is_counted_by_operation_and_status_and_time(tmp_path: Path) -> None:
    meters, counted = traffic(tmp_path)
    counted.observe("read", 200, 2_000_000)
    counted.observe("read", 200, 40_000_000_000)
    counted.observe("read", 299, 1)
    counted.observe("strange", 200, 1)
    found = values(meters)
    meters.close()
    assert found['negotiator_requests_total{operation="read",status="200"}'] == 2
    assert found['negotiator_requests_total{operation="read",status="other"}'] == 1
    assert found['negotiator_requests_total{operation="page",status="200"}'] == 1
    assert found['negotiator_request_seconds_bucket{operation="read",le="0.001"}'] == 1
    assert found['negotiator_request_seconds_bucket{operation="read",le="0.0025"}'] == 2
    assert found['negotiator_request_seconds_bucket{operation="read",le="10"}'] == 2
    assert found['negotiator_request_seconds_bucket{operation="read",le="+Inf"}'] == 3
    assert found['negotiator_request_seconds_count{operation="read"}'] == 3
    assert found['negotiator_request_seconds_sum{operation="read"}'] == pytest.approx(40.002)
    assert found['negotiator_tokens_issued_total{operation="read"}'] == 2
    assert found["negotiator_workers"] == 1
    assert found['process_resident_memory_bytes{worker="0"}'] > 1_000_000


def test_a_gauge_is_the_sum_or_the_greatest_of_the_live_workers_and_a_time_outlives_its_worker(tmp_path: Path) -> None:
    def worker(load: float, finished: int) -> MetricRegistry:
        meters = MetricRegistry(tmp_path)
        meters.sampled_gauge("load", "Sum", lambda: load, per_unit=1000)
        meters.sampled_gauge("worst", "Greatest", lambda: load, greatest=True, per_unit=1000)
        when = meters.timestamp("finished", "Newest")
        meters.open()
        when.set(finished)
        return meters

    one, other = worker(1.25, 1_800_000_000), worker(3.5, 1_700_000_000)
    assert (values(one)["load"], values(one)["worst"]) == (0, 0)
    one.sample()
    other.sample()
    both = values(other)
    assert (both["load"], both["worst"], both["finished"]) == (4.75, 3.5, 1_800_000_000)
    one.close()
    alone = values(other)
    other.close()
    assert (alone["load"], alone["worst"], alone["finished"]) == (3.5, 3.5, 1_800_000_000)
    assert 0 < alone["negotiator_disk_free_bytes"] <= alone["negotiator_disk_bytes"]


@given(st.lists(st.integers(0, 20 * 10**9), max_size=50))
def test_buckets_only_grow_and_end_at_the_count(ticks: list[int]) -> None:
    meters = MetricRegistry(Path())
    histogram = meters.histogram("h", "Sizes", (0.001, 1.0, 10.0), per_unit=10**9)
    for each in ticks:
        histogram.observe(each)
    found = values(meters)
    buckets = [found[f'h_bucket{{le="{bound}"}}'] for bound in ("0.001", "1", "10", "+Inf")]
    assert all(left <= right for left, right in pairwise(buckets))
    assert buckets == [*(sum(each <= bound * 10**9 for each in ticks) for bound in (0.001, 1, 10)), len(ticks)]
    assert found["h_count"] == len(ticks)


def test_several_workers_add_up_and_every_one_says_the_same(tmp_path: Path) -> None:
    one, first = traffic(tmp_path)
    two, second = traffic(tmp_path)
    for _ in range(3):
        first.observe("read", 200, 1)
    second.observe("read", 404, 1)
    assert prometheus_text(one.snapshot(), ()).count("_total{") == 2
    assert values(one)["negotiator_workers"] == 2
    assert values(two)['negotiator_requests_total{operation="read",status="200"}'] == 3
    one.close()
    assert values(two)["negotiator_workers"] == 1
    assert values(two)['negotiator_requests_total{operation="read",status="200"}'] == 3
    two.close()


def test_the_next_worker_goes_on_where_a_dead_one_stopped(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom negotiator.runtime.metrics import *\n"
        "meters = MetricRegistry(Path(sys.argv[1])); counted = RequestMetrics(meters, ['read']); meters.open()\n"
        "counted.observe('read', 200, 1); os._exit(1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(3):
        asked = [sys.executable, "-c", script, str(tmp_path)]
        assert subprocess.run(asked, env=environment, check=False).returncode == 1
    assert len(list(tmp_path.iterdir())) == 1
    meters, counted = traffic(tmp_path)
    counted.observe("read", 200, 1)
    found = values(meters)
    meters.close()
    assert found['negotiator_requests_total{operation="read",status="200"}'] == 4
    assert len(list(tmp_path.iterdir())) == 1


def test_files_of_another_version_go_unless_somebody_still_writes_them(tmp_path: Path) -> None:
    old, counted = traffic(tmp_path, "was")
    counted.observe("was", 200, 1)
    new, _ = traffic(tmp_path, "is")
    assert len(list(tmp_path.iterdir())) == 2
    assert values(new)["negotiator_workers"] == 1
    old.close()
    new.close()
    last, _ = traffic(tmp_path, "is")
    assert len(list(tmp_path.iterdir())) == 1
    last.close()


def test_without_a_file_counting_goes_to_memory(tmp_path: Path) -> None:
    meters = MetricRegistry(tmp_path / "metrics")
    meters.counter("early_total", "Counted before the start").add(5)
    meters.open()
    assert values(meters)["early_total"] == 5
    meters.close()
    assert isinstance(meters.cells, array)
    assert not (tmp_path / "metrics" / "other").exists()


def test_what_is_counted_is_named_before_the_start(tmp_path: Path) -> None:
    meters, _ = traffic(tmp_path)
    with pytest.raises(AssertionError, match="registered before"):
        meters.counter("late_total", "Too late")
    meters.close()


def test_a_worker_that_starts_on_a_full_disk_counts_in_memory(tmp_path: Path) -> None:
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom negotiator.runtime.metrics import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
        "meters = MetricRegistry(Path(sys.argv[1])); counted = RequestMetrics(meters, ['read']); meters.open()\n"
        "counted.observe('read', 200, 1); print(prometheus_text(meters.snapshot(), ()))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, str(tmp_path)]
    ended = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert 'negotiator_requests_total{operation="read",status="200"} 1' in ended.stdout
    assert "negotiator_workers 0" in ended.stdout
    assert "counted in memory only" in ended.stdout + ended.stderr


def test_labels_are_escaped() -> None:
    meters = MetricRegistry(Path())
    meters.counter("odd_total", "Odd", what='a"b\\c\nd').add()
    assert 'odd_total{what="a\\"b\\\\c\\nd"} 1' in prometheus_text(meters.snapshot(), ())


def test_a_gauge_is_the_sum_over_the_workers_that_live(tmp_path: Path) -> None:
    workers = [MetricRegistry(tmp_path) for _ in range(3)]
    gauges = [meters.gauge("waiting", "Calls that wait") for meters in workers]
    for meters, gauge in zip(workers[:2], gauges, strict=False):
        meters.open()
        gauge.set(2)
    gauges[0].set(1)
    assert values(workers[0])["waiting"] == 3
    workers[1].close()
    assert values(workers[0])["waiting"] == 1
    workers[2].open()  # in the file of the one that closed
    assert values(workers[0])["waiting"] == 1
    for meters in (workers[0], workers[2]):
        meters.close()
