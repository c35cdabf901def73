"""The packages of a plan: which can be spoken of (`ground`), in which order (`schedule`), how they read (`showing`)."""
