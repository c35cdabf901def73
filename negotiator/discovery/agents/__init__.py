"""Documents for programs: crawlers, scanners, language models, agents in a browser.

`robots` and `sitemap` say what may be read and what there is, `llms` maps it for models, `skills` teaches whole jobs in
commands that work, `resources` lists what agents can use in the two forms that catalogues of them read, `webmcp` offers
the public operations to an agent in the visitor's browser. Each is a pure function of the `Site`; what does not run
here is not named. Neighbours: `pages` for people, `metadata` and `catalogue` beside this folder.
"""
