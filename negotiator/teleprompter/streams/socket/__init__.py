"""The live socket of a session: who is let in before the upgrade, and what is said on it afterwards.

`door` admits (a bearer token, a ticket, or a ticket in the first message); `visit` is one open socket, whose parts run
side by side: `talk` does what messages ask for, the log is followed, what waits is sent, the clock is watched. `seat`
is what these share, `floor` what all sockets of the process share. Neighbours: `streams.protocol` (the messages),
`streams.sound` (what arrives as audio), `listening` (one way in for what is said).
"""
