"""The chapters of the demo, one function each: it takes the journey, asks, and checks the answers.

`arrival` is how an agent gets in by itself, `people` how it gets to work for somebody, `talk` a whole negotiation,
`live` a call that is listened to, `house` what else is in the house, `control` how clients are served and everything
is ended and accounted for.
"""
