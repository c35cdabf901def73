"""Ranked search over the catalogue, in memory: the same order on SQLite and on PostgreSQL.

`terms`, `spelling` and `query` interpret queries; `document_facts`, `columns` and `postings` hold the searchable facts;
`ranking` scores, `index` adds tools, and `search` answers pages. It uses no web framework and no database;
`catalogue_index` feeds it. Reasons against the database's own search: docs/decisions/0009-search.md.
"""
