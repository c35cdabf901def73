"""What one side wants: issues, value functions, package utility.

Owns the `Issue` value and the arithmetic of additive utility over it; neighbours are `leverage`
(two utilities at once) and `strategy` (the next move). No paths, no tables, no web, no database.
"""
