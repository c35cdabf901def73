"""Where issuers report what happened to their people: `/api/agent/events` (RFC 8935), and what it ends here.

`effects` turns a believed signal into rows, so that it holds on every worker at the next request; `routes` speaks
HTTP. Believing is `trust.signals`; watermarks are `trust.revocations`; links between people and issuers are `users`.
"""
