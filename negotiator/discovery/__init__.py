"""Discovery documents and public pages, each a pure function of the operations that are offered.

`authorization_metadata` and `agent_auth` make the OAuth metadata, `openapi` the description of every operation with
an example input from `operation_examples`, `catalogs` the API catalogue, `public_pages` the page about registration.
`published_documents` lists all documents and `documents` serves them in the media type that `content_negotiation`
prefers. No document names an endpoint that is not offered.
"""
