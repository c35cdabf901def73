"""User accounts, the identities at issuers that belong to them, and requests that wait for their approval.

`user_queries` stores accounts. `identity_matching` finds or creates the user that a verified assertion names.
`passkey_queries` stores passkeys.
`approval_queries` stores requests that only the owner of an account may approve. `session_queries` stores browser
sessions. `invitation` signs the link that creates the first user,
`password_links` those by which users set a password. `userinfo_routes` serves `/oauth/userinfo`.
Tables: `users`, `identities`, `passkeys`, `approvals`, `browser_sessions`. Agents are referred to by id only.
"""
