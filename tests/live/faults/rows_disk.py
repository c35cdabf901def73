"""A disk that is full, and one that the kernel has made read-only."""

import asyncio
import os
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.live.faults.load import ANONYMOUS, REGISTER, REVOKE, Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Machine, Site

_CLIENTS: Final = 16
_SIZE: Final = "48m"
_START: Final = 60.0


class SmallDisk:
    """A file system of its own for the data folder of a machine; it needs root."""

    def __init__(self, site: Site, *, image: bool = False) -> None:
        self._place = site.folder / "disk"
        self._image = site.folder / "disk.img" if image else None
        self.folder = self._place / "var"
        """The data folder of the machine in `self.machine_folder`."""
        self.folder.mkdir(parents=True)
        if self._image:
            _run("truncate", "-s", _SIZE, str(self._image))
            # Without a journal: the kernel refuses to mount one again that it has aborted, before it is repaired.
            _run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(self._image))
        self.mount()
        site.at_end(self.unmount)

    @property
    def machine_folder(self) -> Path:
        """Where the machine's log is, on a disk that stays well."""
        return self._place

    def mount(self, *options: str) -> None:
        """Mount it, with further options such as `ro`."""
        if self._image:
            told = ",".join(("loop", "errors=remount-ro", *options))
            _run("mount", "-o", told, str(self._image), str(self.folder))
        else:
            _run("mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(self.folder))

    def unmount(self) -> None:
        """Unmount it, whoever still has a file open."""
        subprocess.run(["umount", "-l", str(self.folder)], check=False, capture_output=True)

    def fill(self) -> None:
        """Leave not a byte."""
        block = b"\xff" * 65_536
        with (self.folder / "filling").open("ab", buffering=0) as file:
            while len(block) > 1:
                try:
                    file.write(block)
                except OSError:
                    block = block[: len(block) // 2]

    def free(self) -> None:
        """Give back what `fill` took."""
        (self.folder / "filling").unlink()

    def fail(self) -> None:
        """Let the kernel find a fault, upon which it makes the file system read-only at once, with files open."""
        device = Path(_run("findmnt", "-n", "-o", "SOURCE", str(self.folder)).strip()).name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("1")


async def full(site: Site) -> list[Finding]:
    """The disk is full for ten seconds, in which a worker is killed and replaced."""
    disk = SmallDisk(site)
    machine = await site.machine(folder=disk.machine_folder, keys=disk.folder / "keys")
    bounds = Bounds(cut=_CLIENTS)
    load = Load([machine], _CLIENTS)
    async with machine.connect() as client:
        agent = (await client.post(REGISTER, json=ANONYMOUS)).json()
    async with observed("Disk full, a worker killed meanwhile", [machine], bounds, load) as seen:
        async with seen.fault():
            await asyncio.to_thread(disk.fill)
            await asyncio.sleep(4)
            revoked = await _revoke(machine, agent["access_token"])
            machine.worker_processes()[0].kill()
            await asyncio.sleep(6)
            workers = len(machine.worker_processes())
            await asyncio.to_thread(disk.free)
        ended = time.monotonic()
    finding = seen.finding
    finding.notes.append(f"workers at the end of the fault: {workers}")
    if not any(each.kind == "write" and each.outcome == "503" for each in finding.samples):
        finding.broken.append("no write was refused")
    if revoked != 200:
        finding.broken.append(f"a revocation was answered {revoked}")
    late = Counter(each.outcome for each in finding.samples if each.began > ended + 2 and each.failed)
    if late:
        finding.broken.append(f"failed two seconds after it: {late}")
    return [finding]


async def _revoke(machine: Machine, token: str) -> int:
    """The status of the revocation of a token."""
    async with machine.connect() as client:
        return (await client.post(REVOKE, data={"token": token})).status_code


async def full_at_start(site: Site) -> list[Finding]:
    """A start on a full disk ends with one line, without data and with data; with space it starts and has all."""
    disk = SmallDisk(site)
    machine = site.new_machine(folder=disk.machine_folder, keys=disk.folder / "keys")
    findings = [Finding("Start on a full disk, no data yet"), Finding("Start on a full disk")]
    await asyncio.to_thread(disk.fill)
    await _refused(machine, findings[0], "full")
    await asyncio.to_thread(disk.free)
    await asyncio.to_thread(machine.start)
    load = Load([machine], _CLIENTS)
    async with load:
        await asyncio.sleep(2)
    await asyncio.to_thread(machine.stop)
    await asyncio.to_thread(disk.fill)
    await _refused(machine, findings[1], "full")
    await asyncio.to_thread(disk.free)
    await asyncio.to_thread(machine.start)
    await _compare(findings[1], load)
    return findings


async def read_only(site: Site) -> list[Finding]:
    """The kernel makes the file system read-only while the service runs; then it is mounted anew."""
    disk = SmallDisk(site, image=True)
    machine = await site.machine(folder=disk.machine_folder, keys=disk.folder / "keys")
    load = Load([machine], _CLIENTS)
    bounds = Bounds(recovery=None)
    name = "Disk read-only by a fault of its file system"
    async with observed(name, [machine], bounds, load, after=1, verify=False) as seen, seen.fault():
        await asyncio.to_thread(disk.fail)
        await asyncio.sleep(8)
    finding = seen.finding
    writes = Counter(each.outcome for each in finding.samples[20:] if each.kind == "write")
    finding.notes.append(f"writes: {dict(writes)}")
    await asyncio.to_thread(machine.stop)
    await asyncio.to_thread(disk.unmount)
    await asyncio.to_thread(disk.mount, "ro")
    refused = Finding("Start on a read-only disk")
    await _refused(machine, refused, "Read-only")
    await asyncio.to_thread(disk.unmount)
    await asyncio.to_thread(disk.mount)
    began = time.monotonic()
    await asyncio.to_thread(machine.start)
    finding.recovery = time.monotonic() - began
    finding.notes.append("recovery: mounted anew and started")
    await _compare(finding, load)
    return [finding, refused]


async def _refused(machine: Machine, finding: Finding, word: str) -> None:
    """Start the machine where it cannot start, and note what it says: one line that has this word."""
    began = time.monotonic()
    options = ("--port", str(machine.port), "--workers", str(machine.workers))
    process = await asyncio.create_subprocess_exec(
        *machine.command,
        *options,
        env=machine.environment,
        cwd=machine.folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_START):
            output, _ = await process.communicate()
    except TimeoutError:
        os.killpg(process.pid, 9)
        finding.broken.append(f"still running after {_START:.0f} s")
        return
    finding.log = [line for line in output.decode().splitlines() if line]
    seconds = time.monotonic() - began
    finding.notes.append(f"exit {process.returncode} after {seconds:.1f} s: {finding.log[:1]}")
    if len(finding.log) != 1 or word not in finding.log[0] or process.returncode != 1:
        finding.broken.append(f"not one line with “{word}” and exit 1")


async def _compare(finding: Finding, load: Load) -> None:
    finding.acknowledged = load.ledger.counts
    finding.missing = await load.missing()
    if finding.missing:
        finding.broken.append(f"{len(finding.missing)} acknowledged and lost")


def _run(*command: str) -> str:
    with suppress(subprocess.CalledProcessError):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    raise RuntimeError(f"{' '.join(command)} failed; this row needs root and free loop devices")


ROWS: Final = (
    Row("disk-full", "no space left while the service runs; a worker dies meanwhile", full),
    Row("disk-full-start", "no space left when the service starts", full_at_start),
    Row("disk-read-only", "the file system turns read-only while the service runs", read_only),
)
