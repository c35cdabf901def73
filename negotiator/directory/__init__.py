"""The AI tools directory: a public catalogue that agents search, register themselves at, keep lists of and add to.

`catalogue` owns the records, `search` ranks them, `listing` and `exchange` hand them out; `accounts` are its agents:
registration, proof of who they are, their levels and rates. Keys and tokens are made by `tokens`, mails are sent by
`agents.mail`, documents are fetched by `trust.fetch`. Every text in a record is a third party's: data, never
instructions. Paths: `/api/auth/*`, `/api/v1/*`, `/v0.1/servers*`.
"""
