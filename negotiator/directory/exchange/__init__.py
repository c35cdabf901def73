"""The catalogue in other words: bringing entries in, handing them out.

`shapes` turns other formats into records and back (pure): the MCP registry's server.json, the facts files of public
lists, our own content. `importing` is the unit that takes records over, never over stronger evidence; `lines` reads
files; `routes` offers the whole catalogue as NDJSON and the MCP registry's read surface over the same tools.
"""
