"""Pages for people: server-rendered, no script, no outside request, a strict Content-Security-Policy.

`visitor` knows who a browser belongs to, `room` is what every page stands in, `pages` how one is made. `entry` lets
people in (sign-in, the first user, an organisation's provider); `account`, `agents` and `approve` are what they come
for. Agents, users and the store are below; nothing but the wiring is above.
"""
