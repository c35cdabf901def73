"""The commands of the guides "On a server" and "On several machines" stop at the first failure, and then do no harm.

Each block runs in a shell of its own. The programs that change a machine only note how they were called, and `/opt`,
`/etc` and `/var` are in a folder.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.house.source_tree import PACKAGE

_GUIDES: Final = PACKAGE / "console" / "guides"
_CODE: Final = re.compile(r"^```bash\n(.*?)^```$|((?:^ {4}[^\n]+\n)+)", re.DOTALL | re.MULTILINE)
_REPLACES: Final = re.compile(r"^ *(?:ln -s|mv |runuser [^\n]* restore )", re.MULTILINE)
_STOPS: Final = re.compile(r"^ *\(\n +set -e\n", re.MULTILINE)
_ROOT: Final = re.compile(r"/(?=(?:opt|var|etc)/)")
_NOTED: Final = ("systemctl", "runuser", "curl", "journalctl", "install", "age-keygen", "python3", "cp")
_STUB: Final = """#!/bin/sh
name=$(basename "$0")
echo "$name $*" >> "$CALLS"
case "$name $*" in
*"$FAILING"*) if [ "$name" = cp ]; then mkdir "$3"; fi; exit 1 ;;
esac
case $name in
python3) mkdir -p "$3/bin" && ln -s "$STUB" "$3/bin/pip" ;;
cp) exec /bin/cp "$@" ;;
age-keygen) printf '# created\nAGE-SECRET-KEY-1\n' ;;
esac
"""
UPDATE: Final = 'python3 -m venv "/opt/$release"\n'
GO_BACK: Final = 'ln -sfn "$before" /opt/negotiator'
PUT_DATA_BACK: Final = "mv -T /var/lib/negotiator "
RESTORE: Final = 'restore --replace "$newest"'
BACKUPS: Final = "backup_key"


@dataclass(frozen=True, slots=True)
class Machine:
    """A server with the release `negotiator-old` and its data; `folder` has what is at `/` there."""

    folder: Path

    def run(self, *blocks: str, failing: str = "no such call", given: str = "") -> int:
        """The exit code of these blocks in one shell, where calls with the text `failing` fail."""
        script = _ROOT.sub(f"{self.folder}/", given + "".join(blocks))
        variables = {
            "PATH": f"{self.folder}/stubs:/usr/bin:/bin",
            "CALLS": f"{self.folder}/calls",
            "STUB": f"{self.folder}/stub",
            "FAILING": failing,
        }
        done = subprocess.run(["bash", "-c", script], env=variables, cwd=self.folder, check=False)
        return done.returncode

    def services(self) -> list[str]:
        """What systemctl was told, in order."""
        path = self.folder / "calls"
        calls = path.read_text().splitlines() if path.exists() else []
        return [call.split()[1] for call in calls if call.startswith("systemctl")]

    @property
    def release(self) -> str:
        return str((self.folder / "opt/negotiator").readlink())

    def data(self, name: str = "negotiator") -> str:
        return (self.folder / "var/lib" / name / "data").read_text()

    def copies(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "var/lib").iterdir())

    def add_release(self, name: str, before: str = "") -> None:
        program = self.folder / "opt" / name / "bin/negotiator"
        program.parent.mkdir(parents=True)
        program.touch()
        if before:
            (self.folder / "opt" / name / "before").write_text(f"{before}\n")

    def add_data(self, name: str, text: str) -> None:
        (self.folder / "var/lib" / name).mkdir(parents=True)
        (self.folder / "var/lib" / name / "data").write_text(text)

    def link(self, name: str) -> None:
        (self.folder / "opt/negotiator").unlink(missing_ok=True)
        (self.folder / "opt/negotiator").symlink_to(name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "stub").write_text(_STUB)
    (tmp_path / "stub").chmod(0o755)
    (tmp_path / "stubs").mkdir()
    for name in _NOTED:
        (tmp_path / "stubs" / name).symlink_to("../stub")
    made = Machine(tmp_path)
    made.add_release("negotiator-old")
    made.link("negotiator-old")
    made.add_data("negotiator", "old")
    return made


@pytest.fixture
def updated(machine: Machine) -> Machine:
    """The machine after an update to `negotiator-new`."""
    machine.add_release("negotiator-new", before="negotiator-old")
    machine.link("negotiator-new")
    machine.add_data("negotiator-new-before", "old")
    (machine.folder / "var/lib/negotiator/data").write_text("new")
    return machine


def _blocks(guide: str) -> list[str]:
    found = _CODE.findall((_GUIDES / f"{guide}.md").read_text())
    return [fenced or indented for fenced, indented in found]


def _block(text: str) -> str:
    """The block of the guide "On a server" that has this text; of several the last."""
    return [block for block in _blocks("server") if text in block][-1]


@pytest.mark.parametrize(("guide", "least"), [("server", 5), ("machines", 4)])
def test_each_block_that_replaces_something_stops_at_the_first_failure(guide: str, least: int) -> None:
    dangerous = [block for block in _blocks(guide) if "set -e" in block or _REPLACES.search(block)]
    assert len(dangerous) >= least
    for block in dangerous:
        assert _STOPS.search(block), block


def test_an_update_copies_the_data_and_leads_to_the_new_release(machine: Machine) -> None:
    assert machine.run(_block(UPDATE)) == 0
    assert machine.services() == ["stop", "start"]
    assert machine.release != "negotiator-old"
    assert (machine.folder / "opt" / machine.release / "before").read_text() == "negotiator-old\n"
    assert machine.data(f"{machine.release}-before") == machine.data() == "old"


@pytest.mark.parametrize("failing", ["-m venv", "--require-hashes", "dist/negotiator-"])
def test_an_update_whose_packages_cannot_be_installed_changes_nothing(machine: Machine, failing: str) -> None:
    assert machine.run(_block(UPDATE), failing=failing) != 0
    assert (machine.release, machine.services()) == ("negotiator-old", [])


def test_an_update_whose_data_cannot_be_copied_leaves_no_copy_and_starts_the_old_release(machine: Machine) -> None:
    machine.run(_block(UPDATE), failing="cp -aT")
    assert (machine.release, machine.services()) == ("negotiator-old", ["stop", "start"])
    assert machine.copies() == ["negotiator"]


def test_going_back_keeps_the_data_and_then_the_copy_can_be_put_in_its_place(updated: Machine) -> None:
    assert updated.run(_block(GO_BACK)) == 0
    assert (updated.release, updated.data()) == ("negotiator-old", "new")
    updated.link("negotiator-new")
    assert updated.run(_block(GO_BACK), _block(PUT_DATA_BACK)) == 0
    assert (updated.data(), updated.data("negotiator-new-after")) == ("old", "new")
    assert updated.services()[-3:] == ["stop", "reset-failed", "start"]


def test_nothing_stops_where_there_is_no_release_to_go_back_to(machine: Machine, updated: Machine) -> None:
    (updated.folder / "opt/negotiator-old/bin/negotiator").unlink()
    assert updated.run(_block(GO_BACK)) != 0
    machine.link("negotiator-old")
    assert machine.run(_block(GO_BACK)) != 0
    assert updated.services() == []


@pytest.mark.parametrize("given", ["", "release=\n", "release=negotiator-old\n", "release=negotiator-strange\n"])
def test_no_data_is_moved_in_a_shell_that_does_not_know_what_was_left(updated: Machine, given: str) -> None:
    """`release` is empty in a new shell, and another release's where one went back twice."""
    updated.add_data("negotiator-old-before", "older")
    updated.link("negotiator-old")
    before = updated.copies()
    assert updated.run(_block(PUT_DATA_BACK), given=given) != 0
    assert (updated.data(), updated.copies(), updated.services()) == ("new", before, [])


def test_no_data_is_moved_while_the_new_release_runs_or_without_a_copy(updated: Machine) -> None:
    given = "release=negotiator-new\n"
    assert updated.run(_block(PUT_DATA_BACK), given=given) != 0
    updated.link("negotiator-old")
    (updated.folder / "var/lib/negotiator-new-before/data").unlink()
    (updated.folder / "var/lib/negotiator-new-before").rmdir()
    assert updated.run(_block(PUT_DATA_BACK), given=given) != 0
    assert (updated.data(), updated.services()) == ("new", [])


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        ("no such call", ["stop", "reset-failed", "start"]),
        ("negotiator verify", []),
        ("negotiator restore", ["stop", "reset-failed"]),
    ],
)
def test_a_server_starts_after_a_restore_only_if_that_succeeded(
    machine: Machine, failing: str, told: list[str]
) -> None:
    backups = machine.folder / "var/backups/negotiator"
    backups.mkdir(parents=True)
    (backups / "2026-11-23-031204.backup").touch()
    assert (machine.run(_block(RESTORE), failing=failing) == 0) is ("start" in told)
    assert machine.services() == told


def test_backups_that_are_set_up_twice_have_one_key(machine: Machine) -> None:
    settings = machine.folder / "etc/negotiator/negotiator.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('log_format = "json"\n# backup_key = "…"\n')
    (machine.folder / "var/backups/negotiator").mkdir(parents=True)
    for _ in range(2):
        assert machine.run(_block(BACKUPS)) == 0
    added = settings.read_text().splitlines()[2:]
    assert added == ['backup_key = "AGE-SECRET-KEY-1"']


def test_backups_without_a_key_are_not_set_up(machine: Machine) -> None:
    settings = machine.folder / "etc/negotiator/negotiator.toml"
    settings.parent.mkdir(parents=True)
    settings.touch()
    assert machine.run(_block(BACKUPS), failing="age-keygen") != 0
    assert (settings.read_text(), machine.services()) == ("", [])
