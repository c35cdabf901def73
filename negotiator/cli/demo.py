"""placeholder"""


def demo() -> None: ...
