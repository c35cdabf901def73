"""Credentials that the service issues, and the standard OAuth endpoints that issue, revoke and describe them.

`access_tokens` issues access tokens (RFC 9068 or opaque) and compares them with their rows at every request; it finds
the caller of a bearer header. `api_keys` makes, finds, rotates and revokes API keys. `clients` stores OAuth clients;
`authorization_codes` and `refresh_tokens` belong to the code flow. Only the modules whose names begin with authlib
import Authlib. Paths: `/oauth/token`, `/oauth/revoke`, `/oauth/introspect`, `/oauth/register`. Tables: `access_tokens`,
`clients`, `api_keys`, `authorizations`, `refresh_tokens`, `consents`.
"""
