"""Real neighbours: four workers behind uvicorn, PostgreSQL, Redis, clients that others wrote in two languages.

`NEGOTIATOR_TEST_ROUNDS` (read here only, default 5) says how often a race is run; above 5 it is also how often the
service is killed, otherwise twice. `NEGOTIATOR_TEST_ROUNDS=100` before a release. The JavaScript clients are
installed into `node/node_modules` on first use; without npm their test fails and says so.
"""
