"""How a service speaks HTTP.

An `Operation` is plain data; a `Service` is a list of them. `endpoint` turns one into an ASGI application by
the same steps every time: guard, input, limit, run, render; `routing` finds it; `middleware` wraps the whole.
`sockets` and `streams` are for answers that go on. Nothing here knows a slice.
"""
