"""`/memories`: what agents remember for a person and nobody has looked over yet: taken over when an agent was claimed,
imported, heard, or kept out of sight. The person keeps or drops each; `memory.memories.review` below does it.
"""
