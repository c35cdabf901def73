"""Verification of signed tokens from other services.

`issuers` describes a trusted issuer, `issuer_queries` stores it, and `revocations` withdraws trust. `fetcher` reads
documents from the network within limits, by `http_client`; `fetch` says what that gives and how it fails.
`client_url_fetch` reads those at URLs that clients name. `keysets` reads and caches JWK Sets. `assertions` verifies
identity assertions, `openid` ID tokens, `security_events` security event tokens, and `dpop` DPoP proofs; they share
`signatures` and `claims`, which also maps a refused assertion to an HTTP answer. Marking an assertion as used and
finding its user belong to the caller's transaction (`users`, `agents`, `tokens`).
"""
