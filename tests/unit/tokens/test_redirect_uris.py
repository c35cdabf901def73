"""Redirect URIs: what may be registered, what matches, what is answered."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.tokens import redirect_uris

CALLBACK = "https://app.example/callback"


@pytest.mark.parametrize(
    "uri",
    [
        CALLBACK,
        "https://app.example:8443/a/b?c=d&e=%20",
        "https://app.example",
        "http://127.0.0.1/callback",
        "http://127.0.0.1:51004/callback",
        "http://[::1]:8080/cb",
        "http://localhost:3000/",
        "com.example.app:/callback",
        "com.example.app://host/callback",
    ],
)
def test_these_may_be_registered(uri: str) -> None:
    assert redirect_uris.registration_fault(uri) == ""


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "callback",
        "/callback",
        "//app.example/callback",
        "http://app.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://localhost.evil.example/cb",
        "http://localhost@evil.example/cb",
        "http://127.1/cb",
        "http://0.0.0.0/cb",
        "https://user@app.example/cb",
        "https://user:pass@app.example/cb",
        "https://app.example/cb#fragment",
        "https://app.example\\@evil.example/cb",
        "https://app.example/c b",
        "https://app.example/cb\n",
        "https://app.example/cb\t",
        "https://app.example/%zz",
        "https://app.example:0/cb",
        "https://app.example:99999/cb",
        "https://app.example:x/cb",
        "https:///cb",
        "https://-/cb",
        "https:app.example",
        "https://[::1/cb",
        "HTTPS://app.example/cb",
        "https://xn--é.example/cb",
        'https://app.example/"><script>',
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://app.example/x",
        "ftp://app.example/",
        "ws://app.example/",
        "about:blank",
        "intent://x#Intent;end",
        "myapp:/callback",
        "a.:/callback",
        "https://app.example/" + "x" * 2000,
    ],
)
def test_these_may_not(uri: str) -> None:
    assert redirect_uris.registration_fault(uri)


def test_the_schemes_of_known_editors_may_be_registered_and_lead_to_this_device() -> None:
    for uri in (
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://vscode.github-authentication/did-authenticate",
    ):
        assert redirect_uris.registration_fault(uri) == ""
        assert redirect_uris.is_on_device(uri)
        assert not redirect_uris.is_https_only(uri)
    assert redirect_uris.registration_fault("cursors://anysphere.cursor-mcp/oauth/callback")


def test_an_operator_may_add_an_app_s_own_scheme_but_never_a_browser_s() -> None:
    assert redirect_uris.registration_fault("myapp:/callback", private_schemes=True) == ""
    for scheme in ("javascript", "data", "file", "vbscript"):
        assert redirect_uris.registration_fault(f"{scheme}:x", private_schemes=True)


@pytest.mark.parametrize(
    ("registered", "given_"),
    [
        (CALLBACK, CALLBACK),
        ("http://127.0.0.1/callback", "http://127.0.0.1:51004/callback"),
        ("http://127.0.0.1:1/callback", "http://127.0.0.1:65535/callback"),
        ("http://127.0.0.1:1/callback", "http://127.0.0.1/callback"),
        ("http://[::1]/cb?x=y", "http://[::1]:5/cb?x=y"),
        ("http://localhost/cb", "http://localhost:3000/cb"),
    ],
)
def test_these_match(registered: str, given_: str) -> None:
    assert redirect_uris.matches(registered, given_)


@pytest.mark.parametrize(
    ("registered", "given_"),
    [
        (CALLBACK, f"{CALLBACK}/"),
        (CALLBACK, f"{CALLBACK}?x"),
        (CALLBACK, f"{CALLBACK}#"),
        (CALLBACK, "https://app.example/callback/../evil"),
        (CALLBACK, "https://app.example/Callback"),
        (CALLBACK, "https://APP.example/callback"),
        (CALLBACK, "https://app.example:443/callback"),
        (CALLBACK, "http://app.example/callback"),
        (CALLBACK, "https://app.example@evil.example/callback"),
        (CALLBACK, "https://app.example.evil.example/callback"),
        (CALLBACK, "https://app.example%2f@evil.example/callback"),
        (CALLBACK, "https://app.example/%63allback"),
        (CALLBACK, f"{CALLBACK}\n"),
        (CALLBACK, f" {CALLBACK}"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:065/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:65536/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80\\@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
        ("http://127.0.0.1/cb", "http://localhost/cb"),
        ("http://127.0.0.1/cb", "http://[::1]/cb"),
        ("http://127.0.0.1/cb", "https://127.0.0.1/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1/cb/"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/cb\r\nX: y"),
        ("http://127.0.0.1", "http://127.0.0.1:80/anything"),
        ("https://localhost/cb", "https://localhost:8443/cb"),
    ],
)
def test_these_do_not(registered: str, given_: str) -> None:
    assert not redirect_uris.matches(registered, given_)


@given(st.text(max_size=60))
def test_nothing_but_itself_matches_an_ordinary_uri(other: str) -> None:
    assert redirect_uris.matches(CALLBACK, other) == (other == CALLBACK)
    assert not redirect_uris.matches(CALLBACK, CALLBACK + other) or other == ""


@given(st.text(max_size=80))
def test_whatever_is_asked_the_rules_answer(uri: str) -> None:
    why = redirect_uris.registration_fault(uri)
    assert why == "" or why.endswith(".")
    if not why:
        assert redirect_uris.origin(uri)
        assert redirect_uris.display_host(uri)


@given(st.dictionaries(st.sampled_from(["code", "state", "iss"]), st.text(max_size=40)))
def test_what_is_answered_arrives_whole_and_changes_nothing_else(told: dict[str, str]) -> None:
    for uri in (CALLBACK, f"{CALLBACK}?own=1", "com.example.app:/cb"):
        answered = redirect_uris.add_parameters(uri, {**told, "absent": None})
        assert answered.startswith(uri)
        assert "#" not in answered
        assert "\n" not in answered
        pairs = parse_qsl(urlsplit(answered).query, keep_blank_values=True)
        assert dict(pairs) == {**({"own": "1"} if "own" in uri else {}), **told}


def test_places_and_origins_are_what_people_and_policies_read() -> None:
    assert redirect_uris.display_host("https://app.example:8443/x") == "app.example"
    assert redirect_uris.display_host("com.example.app:/x") == "com.example.app:"
    assert redirect_uris.origin("https://app.example:8443/x") == "https://app.example:8443"
    assert redirect_uris.origin("http://[::1]:5/x") == "http:"
    assert redirect_uris.is_https_only(CALLBACK)
    for uri in ("http://127.0.0.1/x", "com.example.app:/x", "https://localhost/x"):
        assert not redirect_uris.is_https_only(uri)
