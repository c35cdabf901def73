"""The simulated other side: what it wants, what it answers and what it says. It never sees the limits of the user."""
