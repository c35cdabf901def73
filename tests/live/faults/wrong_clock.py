"""A clock that is not right, by libfaketime."""

from pathlib import Path
from typing import Final

_LIBRARIES: Final = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib")


class WrongClock:
    """The clock of a machine, which reads it from a file; `prefix` starts the machine under libfaketime."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.seconds = 0
        self.set(0)
        found = _found()
        if not found:
            raise RuntimeError("libfaketime is missing: apt-get install libfaketime")
        self.prefix = (
            "env",
            f"LD_PRELOAD={found[0]}",
            f"FAKETIME_TIMESTAMP_FILE={file}",
            "FAKETIME_CACHE_DURATION=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "NO_FAKE_STAT=1",
        )

    def set(self, seconds: int) -> None:
        """So many seconds ahead of the true time; takes effect within a second."""
        self.seconds = seconds
        self._file.write_text(f"{seconds:+d}\n")


def has_library() -> bool:
    """Whether libfaketime is installed."""
    return bool(_found())


def _found() -> list[Path]:
    places = (Path(each) / "faketime/libfaketimeMT.so.1" for each in _LIBRARIES)
    return [path for path in places if path.exists()]
