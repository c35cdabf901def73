"""People: their accounts, the identities at issuers that are theirs, and what waits for their approval.

`people` keeps accounts; `matching` finds or makes the user behind a verified assertion, once; `approvals` are
links and mails that only the owner, signed in, may grant. Tables: `users`, `identities`, `approvals`. Agents are
above and come in as ids.
"""
