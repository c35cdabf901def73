"""Agents: programs that register, and that users bind to their accounts.

`registration` stores agents, anonymous or with a verified assertion; `assertion_registration` verifies the assertion
first, or asks the owner of an address by mail, which `mail` sends. `delegation` creates and redeems the codes that a
user gives to an agent, and limits wrong codes. `identity_tokens` issues the identity assertions of auth.md.
`call_record` keeps what agents called last. HTTP is in `routes`, `identity_routes` and `security_event_routes`.
Tables: `agents`, `agent_calls`, `delegations`.
"""
