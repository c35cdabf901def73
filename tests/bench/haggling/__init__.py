"""Negotiations with scripted people: `cases` hold twenty of them, `measure` prints how each adviser does."""
