"""The whole negotiation through the application, on SQLite and on PostgreSQL: one behaviour.

`conftest` opens the application on each engine in turn and gives a claimed agent with every scope a desk. What the
doors answer in detail is the business of `tests/api`; here each statement of these slices runs on both engines,
and so do the races.
"""
