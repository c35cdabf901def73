"""What we hand out: access tokens, and the standard endpoints that issue, revoke and describe them.

`credentials` issues and believes tokens (RFC 9068, checked against their rows at every request);
`authorization` is the one file that imports Authlib's server; `clients` are OAuth clients. Paths:
`/oauth/token`, `/oauth/revoke`, `/oauth/introspect`. Tables: `access_tokens`, `clients`. Knows `keys`,
`store` and `trust`; how an assertion finds its user is handed in.
"""
