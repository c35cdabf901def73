"""`make faults`: each row in turn on servers of its own, then a table. Exit code 1 when a bound is broken.

`python -m tests.live.faults.run [--small] [--rounds N] [--keep] [ROW ...]`; `--list` prints the rows.
"""

import argparse
import asyncio
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Final

from tests.live.faults import (
    rows_clients,
    rows_clock,
    rows_databases,
    rows_disk,
    rows_machines,
    rows_neighbours,
    rows_races,
    rows_workers,
)
from tests.live.faults.row import Finding, Row, percentile, slowest_of, table
from tests.live.faults.site import Site, progress

ROWS: Final[tuple[Row, ...]] = (
    *rows_workers.ROWS,
    *rows_databases.ROWS,
    *rows_machines.ROWS,
    *rows_races.ROWS,
    *rows_disk.ROWS,
    *rows_clock.ROWS,
    *rows_clients.ROWS,
    *rows_neighbours.ROWS,
)


_SLOWEST: Final = 5


def _chosen(names: list[str]) -> list[Row]:
    known = {row.name: row for row in ROWS}
    if unknown := sorted(set(names) - set(known)):
        raise SystemExit(f"no such row: {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names] or list(ROWS)


async def _run(row: Row, options: argparse.Namespace) -> list[Finding]:
    began = time.monotonic()
    site = Site(options.small, options.rounds, options.keep)
    try:
        async with site:
            findings = await row.run(site)
    except Exception as fault:  # a row that fails is a finding, and the others go on
        traceback.print_exc()
        broken = [f"{type(fault).__name__}: {str(fault)[:300]}"]
        findings = [Finding(row.summary, broken=broken)]
    progress(f"{row.name}: {time.monotonic() - began:.0f} s")
    for finding in findings:
        _explain(finding)
    return findings


def _explain(finding: Finding) -> None:
    """What the table has no room for: what was lost, which requests were slow, which errors came, what was logged."""
    errors = Counter(f"{each.outcome} {each.detail}" for each in finding.samples if each.failed and each.detail)
    cause = finding.began
    slowest = sorted(finding.samples, key=lambda each: each.seconds_from(cause), reverse=True)
    lines = [
        *finding.missing[:20],
        f"before it: slowest {slowest_of(finding.quiet)}, p99 {percentile(finding.quiet):.2f} s",
        *(
            f"{each.seconds_from(cause):.2f} s, sent {each.began - cause:.1f} s after its begin: "
            f"{each.request}, {each.outcome}"
            for each in slowest[:_SLOWEST]
        ),
        *(f"{count} × {detail}" for detail, count in errors.most_common(12)),
        *(f"log: {line[:300]}" for line in finding.log[:12]),
        *(f"BROKEN: {text}" for text in finding.broken),
    ]
    for line in lines:
        progress(f"  {line}")


def main() -> int:
    """Run the rows; 1 when one broke a bound."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--small", action="store_true", help="fewer rounds, to try a row out")
    parser.add_argument("--rounds", type=int, default=0, help="how often kills and races happen")
    parser.add_argument("--keep", action="store_true", help="leave the folders of the machines")
    parser.add_argument("--list", action="store_true", help="print the rows")
    parser.add_argument("--output", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{row.name:24} {row.summary}" for row in ROWS))
        return 0
    findings: list[Finding] = []
    for row in _chosen(options.rows):
        findings += asyncio.run(_run(row, options))
    text = table(findings)
    print(text)
    if options.output:
        options.output.write_text(f"{text}\n")
    return int(any(finding.broken for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
