"""A user with a browser, and clients that ask her."""

from tests.flow import ada, public_app, web_app

__all__ = ["ada", "public_app", "web_app"]
