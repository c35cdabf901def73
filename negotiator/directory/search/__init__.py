"""Ranked search over the catalogue, in memory: the same order on SQLite and on PostgreSQL.

`terms`, `spelling` and `query` interpret queries; `document_facts` reads tools; `postings` holds their words,
`known_words` finds misspelt ones, `text_index` finds what has the words of a query; `vectors` holds their meaning,
`columns` what they are filtered and ordered by, `index` all of it;
`matching` finds tools, `ranking` scores them, and `search` answers pages. It uses no web framework and no database:
`catalogue_index` feeds it. Reasons: docs/decisions/0009-search.md.
"""
