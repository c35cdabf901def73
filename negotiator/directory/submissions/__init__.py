"""What agents propose for the catalogue, and what becomes of it: submissions, their checks, their moderation.

`deciding` holds the moves, `kept` the rows, `naming` the names a draft is held against; owners' own entries pass
without a person when every check is clear. Paths: `POST /api/v1/tools`, `PATCH` and `DELETE /api/v1/tools/{id}`,
`/api/v1/submissions`. Tables: `submissions`, `submission_keys`. Neighbours: `checks`, `catalogue`, `accounts`.
"""
