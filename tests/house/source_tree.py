"""The files of the repository: those tracked by git, and the Python sources."""

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "negotiator"


def tracked() -> list[Path]:
    """Every file that is or would be committed."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def sources(*folders: Path) -> list[Path]:
    """The Python files of these folders; migrations and benchmarks are left out."""
    return sorted(
        path
        for folder in folders
        for path in folder.rglob("*.py")
        if path.parent.name != "versions" and not {"bench", "node_modules"} & set(path.relative_to(ROOT).parts)
    )


def label(path: Path) -> str:
    """A file's name from the root."""
    return path.relative_to(ROOT).as_posix()
