"""What has to be looked at again without anybody asking: documents that proved something, agents that went away.

`rechecks` asks the world, `idle` only the database. Both are chores of the process, run beside the sweep.
"""
