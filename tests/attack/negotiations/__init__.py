"""Attacks of an agent on the limits of the user for whom it acts."""
