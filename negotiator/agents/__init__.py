"""Programs acting for people: how an agent gets in, and how a user binds it to himself.

`registration` makes agents, anonymous or by a verified assertion; `delegation` makes and redeems the codes a
user hands to an agent, `claims` budgets wrong ones; `mail` reaches a mailbox owner. Paths: `/api/agent/register`,
`/api/agent/claim`. Tables: `agents`, `delegations`. Stands on `tokens`, `users` and `trust`.
"""
