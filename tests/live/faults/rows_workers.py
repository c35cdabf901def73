"""Workers that die or hang."""

import asyncio
import random
import signal
import sqlite3
import time
from typing import Final

import psutil

from tests.live.faults.load import Ledger, Load
from tests.live.faults.row import Bounds, Finding, Row, counted, observed
from tests.live.faults.site import ForkedMachine, Machine, Site, progress, workers_answer

_WORKERS: Final = 4
_CLIENTS: Final = 16
_WHOLE: Final = 20
"""After so many kills the whole command starts, not only its processes."""


async def kill_worker(site: Site) -> list[Finding]:
    """One of four workers gets SIGKILL; the supervisor replaces it."""
    machine = await site.machine(workers=_WORKERS)
    bounds = Bounds(cut=_CLIENTS)
    load = Load([machine], _CLIENTS)
    async with observed("Worker: 1 of 4 SIGKILL", [machine], bounds, load, after=6) as seen, seen.fault():
        victim = machine.worker_processes()[0]
        victim.kill()
    seen.finding.notes.append(f"replaced: {_is_replaced(machine, victim)}")
    return [seen.finding]


async def stop_worker(site: Site) -> list[Finding]:
    """One of four workers stops answering; the supervisor replaces it after the worker time-out."""
    machine = await site.machine(workers=_WORKERS, worker_timeout="5")
    bounds = Bounds(cut=_CLIENTS, health=None, recovery=None, slowest=15)
    load = Load([machine], _CLIENTS)
    async with observed("Worker: 1 of 4 SIGSTOP, time-out 5 s", [machine], bounds, load, after=6) as seen:
        victim = machine.worker_processes()[0]
        async with seen.fault():
            victim.send_signal(signal.SIGSTOP)
            await asyncio.to_thread(victim.wait, 30)
    seen.finding.notes.append(f"replaced: {_is_replaced(machine, victim)}")
    return [seen.finding]


def _is_replaced(machine: Machine, victim: psutil.Process) -> bool:
    workers = machine.worker_processes()
    return len(workers) == _WORKERS and victim.pid not in {each.pid for each in workers}


async def kill_everything(site: Site) -> list[Finding]:
    """SIGKILL to all processes under load, start, compare; again and again on one database.

    Every twentieth start is the whole command; the others fork the server's processes, which takes a tenth of the time.
    """
    rounds = site.rounds or (3 if site.small else 200)
    machine = await site.machine(forked=True, token_ttl="86400")
    assert isinstance(machine, ForkedMachine)
    finding = Finding(f"Everything: SIGKILL × {rounds}, 2 workers, SQLite")
    ledger, starts, codes = Ledger(), list[float](), list[str]()
    chance = random.Random(18)
    for number in range(1, rounds + 1):
        if number % 10 == 1:  # a code lives for an hour
            codes = await machine.delegation_codes(400)
        load = Load([machine], 8, pause=0.01, seed=number, ledger=ledger, codes=codes)
        before = len(ledger.entries)
        async with load:
            await asyncio.sleep(chance.uniform(0.2, 2.0))
            await asyncio.to_thread(machine.kill)
        finding.samples += [each for each in load.samples if each.outcome != "refused"]
        began = time.monotonic()
        await asyncio.to_thread(machine.start if number % _WHOLE == 0 else machine.start_forked)
        starts.append(time.monotonic() - began)
        newest = max(1, len(ledger.entries) - before) + 200
        missing = await load.missing(newest=newest) + _damage(machine)
        finding.missing += [f"round {number}: {each}" for each in missing]
        if number % 10 == 0 or missing:
            progress(f"round {number}: {ledger.counts.total()} acknowledged; missing: {missing}")
    await workers_answer(machine)
    finding.missing += await Load([machine], 0, ledger=ledger).missing()
    finding.acknowledged = ledger.counts
    starts.sort()
    finding.notes += [
        f"acknowledged: {counted(ledger.counts)}",
        f"start to first answer: median {starts[len(starts) // 2]:.1f} s, longest {starts[-1]:.1f} s",
    ]
    finding.log = [line for line in machine.log_lines() if "Traceback" in line]
    finding.judge(Bounds(cut=None, health=None, log_lines=0))
    return [finding]


def _damage(machine: Machine) -> list[str]:
    """What SQLite's own checks find."""
    with sqlite3.connect(machine.database) as connection:
        whole = [row[0] for row in connection.execute("pragma integrity_check")]
        orphans = connection.execute("pragma foreign_key_check").fetchall()
    return [text for text in whole if text != "ok"] + [f"orphan {row}" for row in orphans]


ROWS: Final = (
    Row("worker-kill", "one of four workers gets SIGKILL", kill_worker),
    Row("worker-stop", "one of four workers gets SIGSTOP", stop_worker),
    Row("kill-all", "SIGKILL of everything under load, 200 times", kill_everything),
)
