"""Whether this process was told to stop and serves on for `drain_seconds`, so that proxies can send requests elsewhere.

A flag of the process, since a signal sets it.
"""

import signal
from typing import Final

ANNOUNCEMENT: Final = signal.SIGUSR1
"""What the supervisor sends to its workers when the server will stop soon."""
_is_announced = False


def announce() -> None:
    """Say that this process will stop soon."""
    global _is_announced
    _is_announced = True


def is_announced() -> bool:
    """Whether this process will stop soon."""
    return _is_announced
