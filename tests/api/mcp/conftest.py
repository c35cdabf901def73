"""A line to the MCP endpoint, message by message, and the official client over the same application."""

from collections.abc import Generator

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from tests.helpers.mcp_client import full_mcp_client as full_mcp_client
from tests.helpers.mcp_client import mcp_client as mcp_client


@pytest.fixture(scope="session", autouse=True)
def quickly_checked() -> Generator[None]:
    """The client and the tests have every schema checked at every revision; this checker takes no tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft202012Validator, "check_schema", jsonschema_rs.meta.validate)
        yield
