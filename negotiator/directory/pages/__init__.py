"""The directory's pages for people: `/tools`, `/tools/{slug}`, `/about/data`, and the sitemap of every tool.

Server-rendered inside the public frame (`discovery.pages`); a tool's page has a markdown form for programs. Whatever
a record says is third parties' text: escaped, never markup, its links vouched for by nobody. Neighbours: `listing`
answers the same questions over the API, `content` names the sources.
"""
