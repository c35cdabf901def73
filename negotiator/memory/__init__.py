"""What was learned stays: memories, the vectors they are found by, wins and benchmarks.

`memories` keeps them under `/api/memories` (tables `memories`, `memory_versions`, `memory_owners`), `recall` finds
them, `embedding` turns sentences into vectors. All of it belongs to one principal; no statement leaves the owner out.
`references` checks ids that bodies name.
Neighbours: `negotiations` above cites memories in plans and suggestions; claiming an agent hands its memories over.
"""
