"""Server-rendered pages for users: script only from files of ours, no outside request, a strict
Content-Security-Policy.

`browser_sessions` finds the session of a browser by its cookies, `page_router` makes routes with the common checks, and
`page_renderer` renders templates. `deferred_pages` imports most pages at the first request for one of them.
`sign_in_pages`, `provider_sign_in` and `password_check` sign users in; `account_page`, `agents_page`, `memories_page`,
`approval_page` and `authorization_page` are the pages for signed-in users.
"""
