"""Verification of what others signed: issuers, their keys, and the way from a string to an `Assertion`.

`issuers` describes an issuer as the operator configured it; `fetch` reads documents from the network within limits,
`client_url_fetch` those at URLs that clients name; `keysets` reads JWK Sets and keeps them fresh; `assertions`
verifies a signed text or refuses it with a `Reason`. Marking an assertion as spent and finding its user belong to
the caller's transaction (`users`, `agents`, `tokens`).
"""
