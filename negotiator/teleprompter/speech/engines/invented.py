"""What engines of the Whisper family write where nobody said anything."""

import re
from typing import Final

_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,80}[\])*♪]")
_CREDIT: Final = re.compile(
    r"(?:thanks?(?: you)?(?: so much)? for watching|subtitles? by .*|subscribe to .*|you)[.!]*",
    re.I,
)


def spoken(text: str) -> str:
    """The text without marks such as `[BLANK_AUDIO]` or `(music)`; empty when all of it is a known invention."""
    kept = " ".join(_MARK.sub(" ", text).split())
    return "" if _CREDIT.fullmatch(kept) or not any(map(str.isalnum, kept)) else kept
