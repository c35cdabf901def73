"""Run by the generator's own interpreter: a generated client registers an agent, opens a negotiation and changes it.

Arguments: the folder that holds the package `generated`, and the server's base URL. Prints one JSON object.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from generated import AuthenticatedClient, Client
from generated.api.agents import register_agent
from generated.api.negotiations import edit_negotiation, get_negotiation, open_negotiation
from generated.models import (
    EditNegotiation,
    IssueBody,
    IssueBodyType,
    NegotiationBody,
    NegotiationBodyRole,
    RangeBody,
    RegisterAgent,
)


def main() -> None:
    """Fails with an exception when an answer is not of the described type."""
    base = sys.argv[2]
    registered = register_agent.sync(
        client=Client(base, raise_on_unexpected_status=True),
        body=RegisterAgent.from_dict({"agent_name": "generated", "identity_type": "anonymous"}),
    )
    client = AuthenticatedClient(base, registered.access_token, raise_on_unexpected_status=True)
    body = NegotiationBody(
        title="Laptops",
        role=NegotiationBodyRole.BUYER,
        issues=[IssueBody(name="price", type_=IssueBodyType.MONEY, range_=RangeBody(100, 200))],
        max_rounds=5,
    )
    opened = open_negotiation.sync(client=client, body=body)
    changed = edit_negotiation.sync(opened.id, client=client, body=EditNegotiation(title="Servers", max_rounds=None))
    read = get_negotiation.sync(opened.id, client=client)
    assert read == changed
    print(json.dumps({"opened": opened.to_dict(), "read": read.to_dict()}))


main()
