"""What is taken out of what was said, and how long the rest is kept."""
