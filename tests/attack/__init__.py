"""The attacks of identity.md §6 through the doors themselves, each beside the twin that is let in."""
