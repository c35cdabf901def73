"""Attacks on the pages for people: other sites' forms, guessed passwords, planted sessions, poisoned names."""
