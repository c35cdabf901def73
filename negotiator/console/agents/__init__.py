"""The *Agents* page (contract §1.2): a user makes codes, sees what works for him with which rights, and ends it.

`overview` gathers what the page shows, `routes` is the page and its forms. The things themselves are below, in
`agents` and `tokens`; clients that were let in by consent come as `Connections`.
"""
