"""Tables and progress bars of commands, by rich."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE: Final = 10_000

stdout_console: Final = Console(soft_wrap=True)
stderr_console: Final = Console(stderr=True, soft_wrap=True)


def print_cells(names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print these texts literally, in columns with these names."""
    table = Table(box=None, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    # A truncated id could not be copied, so a pipe gets a width that fits every row.
    (stdout_console if stdout_console.is_terminal else Console(width=_PIPE)).print(table)
