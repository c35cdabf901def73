"""What a tool's record is: its shape, what text and addresses may be, its category, its evidence, its coordinates.

Pure: no web and no database. `tool` holds the models, `taxonomy` the categories, `keys` the exact coordinates by which
two records are the same tool, `evidence` which of two sayings holds. `catalogue` keeps records.
"""
