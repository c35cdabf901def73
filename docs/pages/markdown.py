"""Markdown tables."""

from collections.abc import Iterable, Sequence


def row(cells: Iterable[str]) -> str:
    """One row; a bar or a line break inside a cell cannot end it."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table with a blank line after it; nothing at all without rows."""
    listed = [row(cells) for cells in rows]
    return [row(heads), row([":---"] * len(heads)), *listed, ""] if listed else []


def code(text: str) -> str:
    """The text as code; a dash when there is none."""
    return f"`{text}`" if text else "–"


def span(low: int | None, high: int | None, unit: str = "") -> str:
    """From where to where a number may go; nothing when it may go anywhere."""
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {high}{unit}"
    return f"at least {low}{unit}" if high is None else f"{low} to {high}{unit}"
