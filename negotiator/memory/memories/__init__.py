"""Memories: what is kept (`rows`), what happens to them (`keeping`), what may be written and how far it is believed
(`guard`), and `/api/memories`. Tables: `memories`, `memory_versions`, `memory_owners`."""
