"""Twenty cases that readers who know only their own side negotiate by files, and what each side got."""
