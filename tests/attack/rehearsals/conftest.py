"""A client that rehearses."""

from tests.helpers.negotiation_client import negotiation_client as negotiation_client
from tests.helpers.negotiation_client import new_negotiation_client as new_negotiation_client
