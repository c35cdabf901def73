"""Credentials that the service issues, and the standard OAuth endpoints that issue, revoke and describe them.

`access_tokens` issues and checks tokens (RFC 9068 or opaque, compared with their rows at every request), `api_keys`
does so for keys, and `authenticator` tells the two apart in a bearer header. `clients` are OAuth clients;
`authorization_codes` and `refresh_tokens` belong to the code flow. Only the modules whose names begin with authlib
import Authlib. Paths: `/oauth/token`, `/oauth/revoke`, `/oauth/introspect`. Tables: `access_tokens`, `clients`,
`api_keys`.
"""
