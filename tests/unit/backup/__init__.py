"""Backups: the encrypted stream, what is in it, the copy of the database."""
