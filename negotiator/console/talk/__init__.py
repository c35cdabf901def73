"""A negotiation's page, the page that prepares one, and the list of them."""
