"""Numbers in speech."""
