"""Runs synchronous units whose statements wait for an asynchronous driver.

SQLAlchemy's `greenlet_spawn` makes a greenlet for each call, which takes ten times as long as this one, which stays.
"""

import contextvars
from collections.abc import Callable
from typing import Any, TypeVar, cast

from greenlet import GreenletExit, greenlet

T = TypeVar("T")


class UnitGreenlet:
    """Runs one function at a time beside the greenlet of the event loop; `wait` is for what runs inside.

    `run` awaits what the function waits for. A caller that serves several at once uses `start`, `resume` and `fail`,
    which give what the function waits for next, or None when it has ended, and then `outcome`.
    """

    __slots__ = ("_greenlet", "_raised", "_result")

    def __init__(self) -> None:
        self._greenlet: Any = greenlet(self._serve)
        self._result: Any = None
        self._raised: BaseException | None = None

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """The function's result."""
        awaitable = self.start(function, *arguments)
        while awaitable is not None:
            try:
                value = await awaitable
            except BaseException as raised:
                awaitable = self.fail(raised)
            else:
                awaitable = self.resume(value)
        result, raised = self.outcome()
        if raised is not None:
            try:
                raise raised
            finally:
                del raised
        return cast("T", result)

    def start(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self._greenlet.gr_context = contextvars.copy_context()
        return self._greenlet.switch(function, arguments)

    def resume(self, value: Any) -> Any:
        return self._greenlet.switch(value)

    def fail(self, raised: BaseException) -> Any:
        return self._greenlet.throw(raised)

    def outcome(self) -> tuple[Any, BaseException | None]:
        """The result of the function that has ended, or what it raised."""
        result, raised = self._result, self._raised
        self._result = self._raised = None
        return result, raised

    def wait(self, awaited: Any) -> Any:
        """Pass this to the caller outside; its answer."""
        return self._greenlet.parent.switch(awaited)

    def _serve(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        outer = self._greenlet.parent
        while True:
            try:
                self._result = function(*arguments)
            except GreenletExit:  # nobody will ask again
                return
            except BaseException as raised:
                self._raised = raised
            function, arguments = outer.switch(None)
