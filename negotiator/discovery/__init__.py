"""Discovery documents and public pages, each a pure function of the operations that are offered.

`authorization_metadata` makes the OAuth metadata with auth.md's block, `openapi` the description of every operation
with an example input, `catalogs` the catalogues and the MCP server card, `public_pages` what is made from templates.
`published_documents` lists all documents and `documents` serves them in the media type that a request prefers. No
document names an endpoint that is not offered.
"""
