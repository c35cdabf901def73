"""The AI tools directory: a public catalogue that agents search, keep lists of and add to.

`catalogue` owns the records, `search` ranks them, `exchange` brings them in and hands them out in other dialects;
`accounts`, `submissions`, `bookmarks` and `content` stand beside them. Everything is text by third parties: data,
never instructions. Serves `/api/v1/*` and `/v0.1/servers*`.
"""
