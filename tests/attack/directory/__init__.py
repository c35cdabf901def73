"""The directory under attack."""
