"""The directory's search: judged queries, and that the judgements speak of tools that are there."""
