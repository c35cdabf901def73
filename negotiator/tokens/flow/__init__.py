"""The code flow (RFC 6749 §4.1, 7636, 8707, 9207, 9700; OpenID Connect Core): a user lets a client in.

`redirects` and `asked` read an authorization request, without a database; `authorizations` keeps what a user granted,
with its one code; `refreshing` rotates what renews it; `consents` remembers; `identity` signs ID tokens. It is redeemed
in `standard.flow`; the page that asks the user is `console.consent`. Tables: `authorizations`, `refresh_tokens`,
`consents`.
"""
