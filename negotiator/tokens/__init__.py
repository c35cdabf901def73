"""What we hand out: access tokens, and the standard endpoints that issue, revoke and describe them.

`credentials` issues and believes tokens (RFC 9068 or opaque, checked against their rows at every request), `api_keys`
believes keys and tells them from all else that comes as a bearer; `authorization` is the one file that imports
Authlib's server; `clients` are OAuth clients. Paths: `/oauth/token`, `/oauth/revoke`, `/oauth/introspect`. Tables:
`access_tokens`, `clients`, `api_keys`. Knows `keys`, `store` and `trust`; how an assertion finds its user and what the
holder of a key may do is handed in.
"""
