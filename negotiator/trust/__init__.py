"""Whom we believe: issuers, their keys, and the one path from a string to an `Assertion`.

`issuer` says what an operator decided about one issuer, `fetch` asks the world without letting the
world choose what it reaches, `keysets` turns a JWK Set into keys and keeps them fresh, `assertions`
believes a signed text or says why not, and `readers` holds what reads hostile text for all of them.
`named_hosts` fetches documents at URLs that clients name, within budgets and apart from issuers.
Nothing here knows a database or a request: spending the `jti`, the revocation watermark and finding
the user belong to the caller's transaction (`users`, `agents`, `tokens`), which is where a `Reason`
becomes a status and a code.
"""
