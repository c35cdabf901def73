"""E-mail addresses as they are kept: of two spellings one, and none that no mail can reach."""

import pytest

from negotiator.trust.claims import mail_address
from negotiator.trust.issuers import Issuer


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" User@B\u00fccher.Example", "user@xn--bcher-kva.example"),
        ("user@bu\u0308cher.example", "user@xn--bcher-kva.example"),
        ("user@xn--bcher-kva.example", "user@xn--bcher-kva.example"),
        ("user@stra\u00dfe.example", "user@xn--strae-oqa.example"),
        ("o'brien+tag@a.co", "o'brien+tag@a.co"),
        (f"{'x' * 64}@a.example", f"{'x' * 64}@a.example"),
    ],
)
def test_a_domain_is_kept_as_mail_servers_name_it(text: str, kept: str) -> None:
    assert mail_address(text) == mail_address(kept) == kept


WRONG = """
user@example..com us..er@a.example .u@a.example u.@a.example u@-a.example u@a-.example \u00fcser@a.example u@a u
@a.example u@xn--\u00e9.example u@a.example. u@\u2024\u2024
"""


@pytest.mark.parametrize("text", [*WRONG.split(), f"{'x' * 65}@a.example", f"u@{'a.' * 125}example"])
def test_what_no_mail_can_reach_is_no_address(text: str) -> None:
    assert mail_address(text) is None


def test_an_issuer_s_domain_is_compared_in_the_same_spelling() -> None:
    issuer = Issuer("https://i.example", ("ES256",), email_domains=("B\u00fccher.example", "\x80"))
    assert issuer.email_domains == ("xn--bcher-kva.example", "\x80")
