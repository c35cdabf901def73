"""Authorization requests, read without a database."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.errors import InvalidRequest
from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.tokens.authorization_request import (
    AuthorizationRequest,
    AuthorizationRequestRefused,
    RequestParameters,
    parse_request,
)
from negotiator.tokens.clients import NewClient, RegisteredClient, columns
from negotiator.tokens.tables import Client

CALLBACK = "https://app.example/callback"
RESOURCES = frozenset({"https://n.example", "https://n.example/mcp"})
GOOD = {
    "response_type": "code",
    "client_id": "cli_1",
    "redirect_uri": CALLBACK,
    "state": "s",
    "scope": "openid negotiations:read",
    "code_challenge": "c" * 43,
    "code_challenge_method": "S256",
}


def client(*, scope: str = " ".join(ASSISTANT), grants: str = "authorization_code refresh_token") -> RegisteredClient:
    """A client of the code flow."""
    told = NewClient("n", tuple(grants.split()), tuple(scope.split()), (CALLBACK,), "none")
    return RegisteredClient(Client(**columns("cli_1", told, secret_digest="", created_at=0)))


def asked(query: str, known: RegisteredClient | None = None) -> AuthorizationRequest:
    """The request in this query."""
    found = RequestParameters(query)
    return parse_request(found, known or client(), resources=RESOURCES, offered=set(ASSISTANT))


def changed(**changes: str | None) -> str:
    """A good query with these changes."""
    return urlencode({name: value for name, value in {**GOOD, **changes}.items() if value is not None})


def test_a_good_request_is_read() -> None:
    found = asked(f"{changed(nonce='n', prompt='login consent', max_age='60')}&resource=https://n.example")
    assert (found.redirect_uri, found.state, found.nonce) == (CALLBACK, "s", "n")
    assert found.scopes == ["openid", "negotiations:read"]
    assert found.resource == "https://n.example"
    assert (found.prompts, found.max_age) == (frozenset({"login", "consent"}), 60)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "c" * 42}, "invalid_request"),
        ({"code_challenge": "c" * 42 + "="}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"scope": "root"}, "invalid_scope"),
        ({"scope": 'negotiations:read "'}, "invalid_scope"),
        ({"resource": "https://evil.example"}, "invalid_target"),
        ({"resource": "https://n.example/"}, "invalid_target"),
        ({"resource": "https://n.example#x"}, "invalid_target"),
        ({"prompt": "none consent"}, "invalid_request"),
        ({"prompt": "create"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "1.5"}, "invalid_request"),
        ({"max_age": "٣"}, "invalid_request"),
        ({"nonce": "n" * 513}, "invalid_request"),
        ({"request": "x"}, "request_not_supported"),
        ({"request_uri": "https://evil.example"}, "request_uri_not_supported"),
        ({"registration": "{}"}, "registration_not_supported"),
    ],
)
def test_what_is_wrong_is_told_to_the_client_by_its_name(changes: dict[str, str | None], error: str) -> None:
    with pytest.raises(AuthorizationRequestRefused) as wrong:
        asked(changed(**changes))
    assert (wrong.value.error, wrong.value.redirect_uri, wrong.value.state) == (error, CALLBACK, "s")


def test_a_repeated_parameter_is_refused_and_a_repeated_state_not_echoed() -> None:
    with pytest.raises(AuthorizationRequestRefused) as wrong:
        asked(f"{changed()}&state=t")
    assert (wrong.value.error, wrong.value.state) == ("invalid_request", None)
    with pytest.raises(AuthorizationRequestRefused):
        asked(f"{changed()}&scope=openid")


@pytest.mark.parametrize(
    "query",
    [
        changed(redirect_uri=None),
        changed(redirect_uri="https://evil.example/callback"),
        f"{changed()}&redirect_uri={CALLBACK}",
        f"{changed()}&x=%ff",
        f"{changed()}&x=%00",
        f"{changed()}&x=" + "y" * 8000,
        "&".join(f"a{n}=1" for n in range(200)),
    ],
)
def test_nothing_is_told_where_nobody_is_known_to_listen(query: str) -> None:
    with pytest.raises(InvalidRequest):
        asked(query)


def test_a_client_gets_no_more_than_it_registered() -> None:
    few = client(scope="negotiations:read")
    assert asked(changed(scope="negotiations:read"), few).scopes == ["negotiations:read"]
    assert asked(changed(scope="negotiations:read negotiations:write mcp:tools"), few).scopes == ["negotiations:read"]
    with pytest.raises(AuthorizationRequestRefused) as wrong:
        asked(changed(scope="negotiations:write mcp:tools"), few)
    assert "negotiations:write mcp:tools." in wrong.value.description
    assert wrong.value.description.endswith("It may have: negotiations:read.")
    with pytest.raises(AuthorizationRequestRefused):
        asked(changed(), client(grants="client_credentials"))


def test_scopes_that_nobody_here_knows_are_left_out() -> None:
    found = asked(changed(scope="openid email offline_access phone"))
    assert found.scopes == ["openid"]
    for scope in ("negotiations:read offline_access", "negotiations:read email"):
        assert asked(changed(scope=scope)).scopes == ["negotiations:read"]
    assert asked(changed(scope=" offline_access")).scopes == list(ANONYMOUS)


def test_whoever_asks_for_nothing_in_particular_gets_the_anonymous_four() -> None:
    assert asked(changed(scope=None)).scopes == list(ANONYMOUS)
    assert asked(changed(scope=None), client(scope="profile")).scopes == ["profile"]


def outcome(query: str) -> AuthorizationRequest | InvalidRequest | AuthorizationRequestRefused:
    """What comes of a query, whatever it is."""
    try:
        return asked(query)
    except (InvalidRequest, AuthorizationRequestRefused) as refused:
        return refused


@given(st.text(max_size=200))
def test_any_query_is_read_or_refused(query: str) -> None:
    assert not isinstance(outcome(query), AuthorizationRequest)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.text(max_size=30)))
def test_any_change_of_a_good_request_is_read_or_refused(changes: dict[str, str]) -> None:
    found = outcome(changed(**changes))
    assert isinstance(found, InvalidRequest) or found.redirect_uri == CALLBACK
