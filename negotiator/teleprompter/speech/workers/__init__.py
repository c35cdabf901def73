"""Processes that hear: engines hold the interpreter's lock for milliseconds at a time, so none runs in the server.

`frames` is what crosses the pipes; `child` is the process, started afresh (never forked) and gone at the end of its
input; `worker` is the parent's side of one; `pool` starts, shares out and restarts them; `hearing` is a recognition
in one; `local` is the recogniser made of all that. Audio crosses a pipe, never a file.
"""
