"""Backups: everything that cannot be rebuilt, in one encrypted file that restores into SQLite or PostgreSQL.

`archive` is the file, `database_copy` copies a database to an SQLite file and back, `making` writes a backup,
`restoring` checks one and puts it in place. The reasons are in docs/decisions/0021-backups.md.
"""
