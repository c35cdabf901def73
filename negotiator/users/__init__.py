"""User accounts, the identities at issuers that belong to them, and requests that wait for their approval.

`user_queries` stores accounts; `identity_matching` finds or makes the user behind a verified assertion;
`approval_queries` stores links and mails that only the owner, signed in, may approve. Tables: `users`,
`identities`, `approvals`. Agents are referred to by id only.
"""
