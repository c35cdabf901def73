"""Where objects meet: from settings to a `House`, wing by wing.

`ground` is what everything stands on (store, keys, credentials, limits); `budgets` lists every rate budget; `access`,
`assistant` and `directory` each make one wing of it: the operations and pages they offer, and what is to be let go of
at the end. `owned` lists what belongs to a principal, so that claiming moves all of it and erasing leaves none.
`house` puts the wings together;
`app` above turns the house into an ASGI application. Nothing below imports from here.
"""
