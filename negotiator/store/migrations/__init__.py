"""Schema revisions, run by `negotiator migrate` and before `negotiator serve`; a test holds them to the tables."""
