"""What a process learns from shipped sentences: learned once in the background, kept in a file for all processes."""

import asyncio
import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Generic, TypeVar

from negotiator.base.errors import Unavailable
from negotiator.runtime import thread_pools
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.telemetry import logger

if TYPE_CHECKING:
    import numpy as np

    from negotiator.memory.embedding.embedder import Embedder, Vectors

_Learned = TypeVar("_Learned")
_BATCH: Final = 64
_LOOK_EVERY: Final = 0.05
"""Seconds between two looks at a lock that another process holds."""
log = logger(__name__)


class LearnedOnce(Generic[_Learned]):
    """Runs `learn` in the background once, however many calls wait for it, and keeps what it gives.

    `failing` is what the log says when it fails; the next call tries again then.
    """

    def __init__(self, learn: Callable[[], Coroutine[Any, Any, _Learned]], *, failing: str) -> None:
        self._learn = learn
        self._faults = FaultLog(failing)
        self._learned: _Learned | None = None
        self._task: asyncio.Task[_Learned] | None = None

    async def get(self, patience: float | None = None) -> _Learned | None:
        """What was learned; None when it takes longer than `patience` seconds, or the embedder or the disk failed."""
        if self._learned is not None:
            return self._learned
        if self._task is None:
            self._task = asyncio.create_task(self._learn())
        task = self._task
        done, _ = await asyncio.wait([task], timeout=patience)
        if not done:
            return None
        if self._task is task:
            self._task = None
        if task.cancelled():
            return None
        fault = task.exception()
        if isinstance(fault, Unavailable | OSError):
            self._faults.failed(str(fault))
            return None
        self._faults.worked()
        self._learned = task.result()
        return self._learned

    async def close(self) -> None:
        """Cancel learning that is running."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])


async def read_or_learn(
    file: Path,
    *,
    read: Callable[[Path], _Learned | None],
    learn: Callable[[], Coroutine[Any, Any, _Learned]],
    write: Callable[[Path, _Learned], None],
) -> _Learned:
    """What `read` finds in the file; else what one process learns and writes there, while the others wait for it."""
    if (kept := await thread_pools.FILES.run_unhurried(read, file)) is not None:
        return kept
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        while not _is_locked(lock):
            await asyncio.sleep(_LOOK_EVERY)
        if (kept := await thread_pools.FILES.run_unhurried(read, file)) is not None:
            return kept
        fresh = await learn()
        try:
            await thread_pools.FILES.run_unhurried(write, file, fresh)
        except OSError as fault:
            log.warning("what was learned is not kept", file=file.name, detail=str(fault))
        return fresh


def _is_locked(file: IO[str]) -> bool:
    """Whether this process has the lock now; it takes no thread to wait for a process that learns for a minute."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_arrays(file: Path, arrays: "Mapping[str, np.ndarray]") -> None:
    """Write the arrays atomically, and delete the files of other digests: the name ends in a hyphen and a digest."""
    import numpy as np

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")
    try:
        with os.fdopen(handle, "wb") as target:
            np.savez(target, **arrays)  # pyright: ignore[reportArgumentType]
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    for other in file.parent.glob(f"{file.stem.rsplit('-', 1)[0]}-*.npz"):
        if other != file:
            with contextlib.suppress(OSError):
                other.unlink()


async def embed_in_batches(embedder: "Embedder", texts: Sequence[str]) -> "Vectors":
    """The vectors of the texts, embedded in batches so that other requests run in between."""
    import numpy as np

    parts = [await embedder.embed(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
    return np.vstack(parts)
