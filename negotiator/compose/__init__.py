"""The composition root: builds every object of a process from its settings.

`services` builds the shared objects (store, keys, credentials, limits) and lists every rate budget. `identity`,
`assistant` and `directory` each build a `Component`: its operations, its pages and what it closes at the end.
`ownership` lists what belongs to a principal, for claiming and erasing, and imports every table for it.
`shared_secrets` keeps a machine whose secrets differ from starting. `application` puts all of it together, `app` makes
the ASGI application of it. Only the package's `backup` and `cli` import from here.
"""
