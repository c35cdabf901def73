"""Clients that no operator added: they register themselves (RFC 7591), or their id is the URL of a document about them.

`metadata` reads what they say of themselves, without a database; `documents` fetches and keeps Client ID Metadata
Documents; `known` finds a client of any kind; `routes` is `/oauth/register`. Rows go to `clients`.
"""
