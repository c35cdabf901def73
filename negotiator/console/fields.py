"""What people type into our forms, held to what a page can show without being turned or hidden."""

from typing import Final

from negotiator import values
from negotiator.console.room import Form
from negotiator.errors import FieldError, ValidationFailed

_LONGEST: Final = 100


def line_of(form: Form, field: str, called: str) -> str:
    """One short line of a form, stripped; 422 when it is too long or has marks that nobody sees."""
    text = form.get(field, "").strip()
    if len(text) > _LONGEST:
        raise ValidationFailed([FieldError(f"/{field}", f"{called} has at most 100 characters.")])
    if values.has_unseen(text):
        raise ValidationFailed(
            [FieldError(f"/{field}", f"{called} has a character that cannot be seen.")]
        )
    return text


def name_of(form: Form) -> str:
    """How to greet somebody."""
    return line_of(form, "name", "A name")
