"""The stage: a user with a browser, clients that ask her."""

from tests.helpers.code_flow import ada, public_app, web_app

__all__ = ["ada", "public_app", "web_app"]
