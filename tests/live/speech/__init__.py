"""Every engine through one suite: real processes, a synthetic voice (Debian's flite), stand-ins of the remote
protocols.

`standins` are packages named as the optional engines are, with just the interface that is used of them; they measure
loudness and hear no words. Workers find them by PYTHONPATH.
"""
