"""What feedback teaches."""
