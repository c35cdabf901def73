"""Numbers as people write and say them."""
