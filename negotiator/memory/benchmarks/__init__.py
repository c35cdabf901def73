"""How deals like this one usually end: percentiles over one's own wins, and over others' where nobody can be seen.

`statistics` is the arithmetic, `floor` decides what of others may be told, `routes` is `GET /api/benchmarks`. Reads the
table `wins`.
"""
