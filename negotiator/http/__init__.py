"""HTTP: how the operations of the slices are served.

An `Operation` (`operation`) is plain data. `endpoint` finds the operation of a request and answers it through
`pipeline`: `guard`, `limits`, `input`, then the operation itself. `idempotency` and `cursors` serve repeated calls
and lists. `middleware` adds the headers of every response, compresses pages and begins traces. `server_protocol` and
`connections` bound what a client may do to the server below ASGI. No module here imports a slice.
"""
