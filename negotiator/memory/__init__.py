"""Memories, wins and benchmarks of one owner, an agent or a user.

`memories_routes` serves `/api/memories` over the tables in `tables`; `search` finds memories by meaning and by words;
`embedding` turns sentences into vectors; `wins_routes` and `benchmarks_routes` serve closed deals and figures over
them. Every statement names the owner, so no one reads another owner's rows. The slice `negotiations` above cites
memories in plans and advice; claiming an agent moves its memories to the user.
"""
