"""What a row of the table of faults counts."""

from tests.live.faults.load import Sample
from tests.live.faults.row import Bounds, Finding


def test_seconds_of_a_request_count_from_the_cause_on() -> None:
    """A request that waited before the cause, while the servers started, is not the fault's."""
    early = Sample("read", began=90.0, ended=101.0, outcome="200")
    late = Sample("read", began=100.5, ended=102.0, outcome="200")
    health = Sample("health", began=97.0, ended=100.5, outcome="200")
    finding = Finding("a fault", samples=[early, late, health], began=100.0, recovery=0.0)
    finding.judge(Bounds(slowest=1.6, health=0.6))
    assert finding.broken == []
    _, _, times, _, seen, *_ = finding.cells()
    assert times == "1.50 s, 1.50 s"
    assert seen == "200 × 1; ≤ 0.50 s"
    finding.judge(Bounds(slowest=1.4, health=0.4))
    assert finding.broken == ["health took 0.5 s", "slowest answer 1.5 s"]
