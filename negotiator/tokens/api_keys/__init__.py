"""API keys and opaque bearers: the secrets of clients that registered themselves.

`form` is how they are written and recognised without a database, `rows` how keys are kept, retired and ended,
`believing` from a presented text to a Caller. What a client may do is told by `standing`, handed in by whoever
keeps the clients. Table: `api_keys`; opaque bearers are rows of `access_tokens` like every other token.
"""
