"""The pure parts of the streams."""
