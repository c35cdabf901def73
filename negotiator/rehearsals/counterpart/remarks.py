"""What the user's words do in a talk besides naming figures: give a reason, ask, press, offend."""

from typing import Literal, TypeAlias, get_args

Remark: TypeAlias = Literal[
    "reason",
    "alternative",
    "question_interest",
    "question_limit",
    "question_why",
    "ultimatum",
    "names_tactic",
    "rude",
    "courtesy",
]
REMARKS: tuple[Remark, ...] = get_args(Remark)


def remarks_in(text: str) -> frozenset[Remark]:
    """What is said in a text, beside its figures; nothing for an empty one."""
    raise NotImplementedError
