"""The directory of AI tools: what is in it, who may write to it, what is kept of it.

`catalogue` holds the tools, `accounts` the agents that registered themselves, `submissions` what they propose and
report, `bookmarks` the collections they keep. Neighbours: `edge` speaks HTTP for it, `audit` keeps its trail.
"""
