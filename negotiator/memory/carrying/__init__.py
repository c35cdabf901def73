"""Memories carried away and brought along.

`export` writes an owner's everything as lines of JSON, `bringing` reads such lines again, `/api/memories/export` and
`/api/memories/import` speak HTTP. No tables of its own; `memories` below keeps and believes what is brought.
"""
