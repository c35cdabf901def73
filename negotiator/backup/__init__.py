"""Backups: everything that cannot be rebuilt, in one encrypted file or object that restores into SQLite or PostgreSQL.

`encrypted_stream` encrypts and authenticates, `archive` is what the file holds, `database_copy` copies a database to an
SQLite file and back, `making` writes a backup, `restoring` checks one and puts it in place. `object_store` uploads and
downloads. The reasons are in docs/decisions/0021-backups.md and 0029-object-storage.md.
"""
