"""The catalogue: one row per tool, its record a ready JSON document beside the columns that are queried.

`tools` has the unit functions that every other part reads and writes through, `changes` the feed by whose sequence
numbers `search` and `exchange` follow. Owns `tools`, `tool_slugs`, `tool_keys` and the append-only `tool_changes`.
"""
