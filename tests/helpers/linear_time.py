"""Whether something takes time in proportion to its input; in CPU time, so that a busy machine does not disturb it."""

import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

WHOLE: Final = 8192
"""Characters of the longest input that is timed."""
_SHORT: Final = 64
_QUIET: Final = 0.003
"""Seconds beyond those of a short input that are no matter for a header of the greatest size that is read."""
_MOST: Final = 3.0
"""How much longer twice the input may take; in proportion it is 2, by the square 4."""
_REPEATS: Final = 3
_ATTEMPTS: Final = 3

UNITS: Final = (
    *("a", " ", '"', '\\"', ",", ";", "=", "%41", "%", ".", "-", "/", ":", "1", "\t", "'", "(", "[", "{", "<", "@"),
    *("a,", "a;", "a=", "a/b,", "a/b;q=", 'W/"a",', "a@", "a.", "a ", "1.", "1,", "127.0.0.1,", "::1,", "\\", "a:b "),
    *("eyJhIjoxfQ.", "*/*,", "a=b;", "%25", "&a", "+", "_", "~", "0x", "$1 ", "one ", "not "),
)  # fmt: skip


def filled(unit: str, size: int) -> str:
    """So many characters of the unit again and again, and one that fits nowhere."""
    return (unit * (size // len(unit) + 1))[: size - 1] + "\x7f"


def is_linear(call: Callable[[int], object], whole: int = WHOLE) -> bool:
    """Whether the call's time grows no faster than the size it is given, up to `whole` and the half of it."""
    if _cpu(call, whole) < _QUIET:
        return True
    sizes = (_SHORT, whole // 2, whole)
    # A busy processor makes any one measurement too long; what is not linear fails every time.
    return any(_holds(*(min(_cpu(call, size) for _ in range(_REPEATS)) for size in sizes)) for _ in range(_ATTEMPTS))


async def is_linear_async(call: Callable[[int], Awaitable[object]]) -> bool:
    """The same for what is awaited; the time of all threads counts."""
    if await _awaited(call, WHOLE) < _QUIET:
        return True
    for _ in range(_ATTEMPTS):
        times = [min([await _awaited(call, size) for _ in range(_REPEATS)]) for size in (_SHORT, WHOLE // 2, WHOLE)]
        if _holds(*times):
            return True
    return False


def pairs(letters: Iterator[str] | list[str]) -> set[str]:
    """Each letter, and each two of them after one another."""
    known = list(letters)
    return {*known, *(one + other for one in known for other in known)}


def _holds(short: float, half: float, whole: float) -> bool:
    return whole < short + _QUIET or whole < _MOST * half


def _cpu(call: Callable[[int], object], size: int) -> float:
    began = time.thread_time()
    call(size)
    return time.thread_time() - began


async def _awaited(call: Callable[[int], Awaitable[object]], size: int) -> float:
    began = time.process_time()
    await call(size)
    return time.process_time() - began
