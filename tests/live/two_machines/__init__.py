"""Two servers with networks, data folders and clocks of their own on one PostgreSQL and one Redis, behind nginx."""
