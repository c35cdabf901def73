"""Credentials that the service issues, and the standard OAuth endpoints that issue, revoke and describe them.

`access_tokens` issues access tokens (RFC 9068 or opaque) and compares them with their rows at every request; it finds
the caller of a bearer header. `api_keys` makes, finds, rotates and revokes API keys. `clients` stores OAuth clients,
`authlib_server` authenticates them by Authlib, and `token_grants` says what they get. `authorization_codes` and
`refresh_tokens` belong to the code flow. Paths: `/oauth/token`, `/oauth/revoke`, `/oauth/introspect`,
`/oauth/register`. Tables: `access_tokens`, `clients`, `api_keys`, `authorizations`, `refresh_tokens`, `consents`.
"""
