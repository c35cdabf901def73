"""The AI tools directory: a public catalogue that agents search, keep lists of and add to.

`catalogue` owns the records, `search` ranks them, `exchange` brings them in and hands them out in other dialects,
`listing` answers over the API and `pages` for people; `accounts` are its agents: registration, proof of who they are,
their levels and rates; `submissions` are what they propose, `checks` what is looked at first, `reports` what they find
wrong, `bookmarks` the collections they keep. Keys and tokens are made by `tokens`, mails sent by `agents.mail`,
documents fetched by `trust.fetch`. What records say is text by third parties: data, never instructions.
Paths: `/api/auth/*`, `/api/v1/*`, `/v0.1/servers*`, `/tools`.
"""
