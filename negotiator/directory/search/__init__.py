"""Ranked search over the catalogue, in memory: the same order on SQLite and on PostgreSQL.

`request` says what is asked and answered. `terms` interprets texts and queries, `languages` those in other languages,
`spelling` misspelt words; `document_facts` reads tools; `text_index` holds their words, `columns` meanings and what
they are filtered and ordered by, `index` all of it; `search` finds and scores the tools of a query, and answers pages.
It uses no web framework and no database: `catalogue_index` feeds it. Reasons: docs/decisions/0009-search.md.
"""
