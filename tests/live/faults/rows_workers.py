"""Workers that die or hang."""

import asyncio
import signal
from typing import Final

import psutil

from tests.live.faults.load import Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Machine, Site

_WORKERS: Final = 4
_CLIENTS: Final = 16


async def kill_worker(site: Site) -> list[Finding]:
    """One of four workers gets SIGKILL; the supervisor replaces it."""
    machine = await site.machine(workers=_WORKERS)
    bounds = Bounds(cut=_CLIENTS)
    load = Load([machine], _CLIENTS)
    async with (
        observed("Worker: 1 of 4 SIGKILL", [machine], bounds, load, after=6) as seen,
        seen.fault(),
    ):
        victim = machine.worker_processes()[0]
        victim.kill()
    seen.finding.notes.append(f"replaced: {_is_replaced(machine, victim)}")
    return [seen.finding]


async def stop_worker(site: Site) -> list[Finding]:
    """One of four workers stops answering; the supervisor replaces it after the worker time-out."""
    machine = await site.machine(workers=_WORKERS, worker_timeout="5")
    bounds = Bounds(cut=_CLIENTS, health=None, recovery=None, slowest=15)
    load = Load([machine], _CLIENTS)
    async with observed(
        "Worker: 1 of 4 SIGSTOP, time-out 5 s", [machine], bounds, load, after=6
    ) as seen:
        victim = machine.worker_processes()[0]
        async with seen.fault():
            victim.send_signal(signal.SIGSTOP)
            await asyncio.to_thread(victim.wait, 30)
    seen.finding.notes.append(f"replaced: {_is_replaced(machine, victim)}")
    return [seen.finding]


def _is_replaced(machine: Machine, victim: psutil.Process) -> bool:
    workers = machine.worker_processes()
    return len(workers) == _WORKERS and victim.pid not in {each.pid for each in workers}


ROWS: Final = (
    Row("worker-kill", "one of four workers gets SIGKILL", kill_worker),
    Row("worker-stop", "one of four workers gets SIGSTOP", stop_worker),
)
