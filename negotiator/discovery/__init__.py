"""Discovery documents, each a pure function of what runs: the service description, and the pages beside it (`site`).

`metadata` and `agent_auth` make the OAuth and resource metadata, `catalogue` the api-catalog, `openapi` the description
of every operation with an input from `examples`, `texts` the page about getting in; `agents` holds what programs read,
`pages` what people do. `published` lists them all, `documents` serves them in the `representation` that
`Accept` prefers. Nothing here names an endpoint that is not offered.
"""
