"""When somebody speaks: frames of 32 ms get a probability of voice, and a state machine cuts utterances from it.

`detector` is the seam and picks `silero` (a small network, right in noise too) or `energy` (without the wheel: lesser).
`endpointer` is the state machine; it does no arithmetic on audio.
"""
