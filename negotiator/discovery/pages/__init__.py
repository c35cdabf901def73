"""Pages that people read: the home page and the manual, server-rendered, with one stylesheet and no inline anything.

`frame` renders a template inside the site's frame and knows the headers such pages carry; `home` and `manual` say what
is on theirs. The home page has a markdown form for programs. Pages of the tools directory and of the console use the
same frame from above.
"""
