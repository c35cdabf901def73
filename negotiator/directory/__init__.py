"""The AI tools directory: a public catalogue that agents register themselves at.

`accounts` are its agents: registration, proof of who they are, their levels and rates. Keys and tokens are made by
`tokens`, mails are sent by `agents.mail`, documents are fetched by `trust.fetch`. Paths: `/api/auth/*`, `/api/v1/*`.
"""
