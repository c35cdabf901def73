"""Units of registration and of the claim only run statements."""

from tests.helpers.unit_watch import units_only_run_statements

__all__ = ["units_only_run_statements"]
