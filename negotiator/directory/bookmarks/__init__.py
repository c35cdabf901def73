"""Saved tool collections: `/api/v1/bookmarks`, the same at `/api/v1/collections`, and `/api/v1/shared/{token}`.

Owns the tables `collections` and `collection_items`. Every statement carries the owner; only a share token, or the
visibility `public`, opens a collection to others, for reading. Neighbour: `catalogue`, for the state of a tool.
"""
