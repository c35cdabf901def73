"""A user with limits, their browser and their agent."""

from tests.helpers.limited_negotiation import ada as ada
from tests.helpers.limited_negotiation import agent as agent
from tests.helpers.limited_negotiation import browser as browser
from tests.helpers.limited_negotiation import opened as opened
