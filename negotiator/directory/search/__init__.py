"""Ranked search over the catalogue, in memory: the same order on SQLite and on PostgreSQL.

`request` says what is asked and answered. `terms` and `query` interpret queries, `languages` reads those in other
languages, `spelling` finds misspelt words; `document_facts` reads tools; `postings` holds their words, `text_index`
finds what has the words of a query; `vectors` holds their meaning, `columns` what they are filtered and ordered by,
`index` all of it; `matching` finds tools, `ranking` scores them, and `search` answers pages. It uses no web framework
and no database: `catalogue_index` feeds it. Reasons: docs/decisions/0009-search.md.
"""
