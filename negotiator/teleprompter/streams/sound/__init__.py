"""Sound that arrives on a socket: paced, put on the audio clock of its channel, heard, taken into the session.

`voices` are the channels of one socket, `hearing` takes what the recogniser says into the session, `clocks` remember
how far each channel came, `pace` holds who sends faster than people speak. No sound is ever written anywhere.
Neighbours: `speech` (who hears), `listening` (what was said).
"""
