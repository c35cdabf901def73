"""Ranked search over the catalogue, in memory: the same order on SQLite and on PostgreSQL.

Pure arithmetic over columns: `text` understands queries, `held` keeps what tools say and are, `ranking` scores,
`index` takes tools over and `asking` answers pages. No web, no database; `listing` feeds it from the feed of changes.
Why not the database's own search: docs/decisions/0009-search.md.
"""
