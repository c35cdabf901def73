"""Pages for people. For now the one behind an approval link; the console grows here.

Server-rendered, no script, no outside request, a strict Content-Security-Policy. Path: `/approve/{secret}`.
"""
