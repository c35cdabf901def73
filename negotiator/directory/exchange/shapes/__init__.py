"""Other shapes of a tool, as pure functions: `server` is the MCP registry's server.json in all its ages, `facts` a line
of the public lists' facts, `content` the entries this project wrote. Each gives an `Incoming`; `server` also renders.
"""
