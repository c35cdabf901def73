"""The signing keys of this service."""
