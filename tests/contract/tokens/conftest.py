"""A user with a browser, and clients that ask them for consent."""

from tests.helpers.client_site import site
from tests.helpers.code_flow import ada, public_app, web_app
from tests.helpers.unit_watch import units_only_run_statements

__all__ = ["ada", "public_app", "site", "units_only_run_statements", "web_app"]
