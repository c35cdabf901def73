"""The one store and its one door.

`Store.read(unit)` and `Store.write(unit)` run a *unit*: a plain function of one transaction. Returning keeps
what it wrote, raising undoes it. The same unit runs on SQLite (one writer, units of the same moment share
one durable commit) and on PostgreSQL (serializable, retried). SQLModel tables are the one description of the
schema; `Statement` and `Query` compile statements from them once. `moves` holds the atomic moves: spend once,
bump a budget. Owns the tables `spent` and `budgets`; knows no slice.
"""
