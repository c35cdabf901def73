"""Reports that something is wrong with a tool, and the quarantine that proven reporters together can call for.

`weighing` says what a report weighs, `kept` the rows and the moves of a moderator. Path:
`POST /api/v1/tools/{id}/reports`. Table: `tool_reports`. Neighbours: `catalogue`, whose tools they are about, and
`accounts`, which knows who is proven.
"""
