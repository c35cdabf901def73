"""Numbers in English words."""

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""


_ROUND = "_ _ twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = _SMALL.split()
ROUND = _ROUND.split()


def spelled(value: int) -> str:
    """A cardinal as it is spoken in British English."""
    if value < 20:
        return SMALL[value]
    if value < 100:
        return ROUND[value // 10] + (f" {SMALL[value % 10]}" if value % 10 else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if value >= size:
            rest = value % size
            link = " and " if 0 < rest < 100 else " "
            return f"{spelled(value // size)} {name}" + (f"{link}{spelled(rest)}" if rest else "")
    raise AssertionError(value)
