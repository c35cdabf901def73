"""The catalogue over HTTP: lists and searches, single tools, many at once, categories, the feed of changes.

`following` keeps the search index up with the feed, `answers` renders bytes with tags and cache rules, `schemas` is
what crosses the wire, `routes` the operations. Reads `catalogue` and `search`; owns no table.
"""
