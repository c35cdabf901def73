"""Agents of the directory: they register themselves, prove who they are, rotate and revoke their keys.

`registered` holds the agents, their standing (level, rate, scopes) and what each has proven; `proving` and `signing`
are how; `upkeep` looks again later; `routes` are the doors. Paths: `/api/auth/*`. Tables: `directory_agents`,
`directory_proofs`, `directory_challenges`. The keys themselves are rows of `tokens.api_keys`.
"""
