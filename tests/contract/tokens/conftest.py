"""A user with a browser, and clients that ask them for consent."""

from tests.helpers.code_flow import ada, public_app, web_app

__all__ = ["ada", "public_app", "web_app"]
