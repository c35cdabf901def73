"""Two machines on one database, behind a proxy."""

import asyncio
import re
import signal
import subprocess
import tarfile
from collections import Counter
from pathlib import Path
from typing import Final

from negotiator.store.schema_upgrades import read_revisions
from tests.helpers.live_server import PATIENCE
from tests.live.faults.load import Load
from tests.live.faults.proxy import start_nginx
from tests.live.faults.row import Bounds, Finding, Row, counted, observed
from tests.live.faults.site import Site, progress, workers_answer

_REASON: Final = re.compile(r"\] \d+#\d+: \*\d+ ([^,]+)")
"""What nginx says of a request that failed, in a line of its log."""


async def rolling_restart(site: Site) -> list[Finding]:
    """Two machines behind nginx are restarted in turn under load; no client notices."""
    postgres, redis = await site.postgres(), await site.redis()
    url = await site.database(postgres)
    machines = await site.pair(database_url=url, redis_url=redis.url)
    folder = site.folder / "nginx"
    folder.mkdir()
    base, proxy = await asyncio.to_thread(start_nginx, folder, machines)
    site.at_end(lambda: (proxy.send_signal(signal.SIGQUIT), proxy.wait(PATIENCE)))
    rounds = site.rounds or (1 if site.small else 3)
    load = Load(machines, 16, base=base, retry_cut_reads=False)
    fault = f"Rolling restart of 2 machines behind nginx, {rounds} times"
    async with observed(fault, machines, Bounds(), load) as seen, seen.fault():
        for number in range(rounds):
            for machine in machines:
                progress(f"round {number + 1}: {machine.folder.name}")
                await asyncio.to_thread(machine.stop)
                await asyncio.to_thread(machine.start)
                await workers_answer(machine)
    failed = sum(each.failed for each in seen.finding.samples)
    if failed:
        seen.finding.broken.append(f"{failed} failed requests")
        reasons = Counter(found[1] for found in _REASON.finditer((folder / "errors").read_text()))
        seen.finding.notes.append(f"nginx: {counted(reasons)}")
    return [seen.finding]


_SCHEMA: Final = "negotiator/store/migrations/versions"


def _version_before(folder: Path) -> Path:
    """The package as it was before the newest migration, from the repository's history."""
    root = Path(__file__).parents[3]

    def git(*command: str) -> str:
        return subprocess.check_output(("git", *command), cwd=root, text=True).strip()

    newest = max((root / _SCHEMA).glob("0*.py")).name
    added = git("log", "--diff-filter=A", "--format=%h", "-1", "--", f"{_SCHEMA}/{newest}")
    subprocess.run(("git", "archive", "-o", folder / "old.tar", f"{added}^", "negotiator"), cwd=root, check=True)
    with tarfile.open(folder / "old.tar") as archive:
        archive.extractall(folder / "old", filter="data")
    return folder / "old"


async def two_versions(site: Site) -> list[Finding]:
    """Two machines of the version before behind nginx; one after the other gets the new one.

    Between them the old machine is restarted on the schema that the new one made.
    """
    postgres, redis = await site.postgres(), await site.redis()
    url = postgres.create_database("versions")
    old = _version_before(site.folder)
    machines = await site.pair(database_url=url, redis_url=redis.url, source=old)
    found, newest = await read_revisions(url)
    assert found != newest
    folder = site.folder / "nginx"
    folder.mkdir()
    base, proxy = await asyncio.to_thread(start_nginx, folder, machines)
    site.at_end(lambda: (proxy.send_signal(signal.SIGQUIT), proxy.wait(PATIENCE)))
    load = Load(machines, 16, base=base, retry_cut_reads=False)
    name = "Two versions at once: behind nginx one machine is upgraded, the other restarted, upgraded"
    async with observed(name, machines, Bounds(), load) as seen, seen.fault():
        first, second = machines
        for machine, source in ((first, None), (second, old), (second, None)):
            progress(f"{machine.folder.name}: {'the new version' if source is None else 'the old'}")
            await asyncio.to_thread(machine.stop)
            machine.source = source
            await asyncio.to_thread(machine.start)
            await workers_answer(machine)
    if failed := sum(each.failed for each in seen.finding.samples):
        seen.finding.broken.append(f"{failed} failed requests")
    return [seen.finding]


ROWS: Final = (
    Row("two-versions", "the version before and this one on one database", two_versions),
    Row("rolling-restart", "two machines behind nginx restart in turn", rolling_restart),
)
