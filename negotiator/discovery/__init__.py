"""Discovery documents, each a pure function of the service description.

`metadata` makes the OAuth and resource metadata, `catalogue` the api-catalog, `openapi` the description of every
operation with an input from `examples`, `manual` the page for people, `texts` those for agents; `published` lists them
all, `documents` serves them with ETag and HEAD. Nothing here names an endpoint by hand: what an operation does not
offer is not advertised.
"""
