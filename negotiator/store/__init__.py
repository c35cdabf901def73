"""The database.

`Store.read(unit)` and `Store.write(unit)` (`store`) run a *unit*: a plain function of one transaction. What it wrote is
committed when it returns and undone when it raises. The same unit runs on SQLite (`sqlite`: one writer) and on
PostgreSQL (`postgres`: serializable, retried); on both, units of the same moment share one durable commit. SQLModel
tables describe the schema; `statement` compiles statements from them once; `migrate` brings a database to the newest
schema. `atomic_updates` has the changes that many callers make at once: use a value once, charge a rate budget, take a
lease. `audit` is the trail of identity events. Owns the tables `spent`, `budgets`, `leases` and `audit_events`.
"""
