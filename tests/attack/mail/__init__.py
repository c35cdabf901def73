"""Mail: servers that lie, and names that would point somewhere."""
