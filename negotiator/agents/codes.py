"""How a delegation code is written: twelve letters that no one mistakes for each other (RFC 8628 §6.1)."""

import re
import secrets
from typing import Final

ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
LENGTH: Final = 12


def new_code() -> str:
    """Twelve random letters, 51 bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def shown(code: str) -> str:
    """The code as people read it, in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, LENGTH, 4))


def normalise(text: str) -> str | None:
    """The twelve letters of a code, however it was typed; None when it cannot be one."""
    code = re.sub(r"[\s-]", "", text).upper()
    return code if re.fullmatch(f"[{ALPHABET}]{{{LENGTH}}}", code) else None
