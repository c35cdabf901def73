"""A clock that is not right, by libfaketime."""

from pathlib import Path

from tests.helpers.neighbours import require


class WrongClock:
    """The clock of a machine, which reads it from a file; `prefix` starts the machine under libfaketime."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.seconds = 0
        self.set(0)
        self.prefix = (
            "env",
            f"LD_PRELOAD={require('faketime')}",
            f"FAKETIME_TIMESTAMP_FILE={file}",
            "FAKETIME_CACHE_DURATION=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "NO_FAKE_STAT=1",
        )

    def set(self, seconds: int) -> None:
        """So many seconds ahead of the true time; takes effect within a second."""
        self.seconds = seconds
        self._file.write_text(f"{seconds:+d}\n")
