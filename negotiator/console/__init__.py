"""Server-rendered pages for users: scripts only from files of ours, no outside request, a strict
Content-Security-Policy.

The shell: `browser_sessions` finds the session of a browser by its cookies, `page_router` makes routes with the common
checks and imports most pages at the first request for one of them, `page_calls` runs operations for a page, and
`page_renderer` renders templates. The pages lie in a folder for each place.

A page gives the API's answers to its template as they are. What it says lies in the template, or in a template of words
that it imports; Python puts into words only what it needs itself, such as the names of values in charts.
"""
