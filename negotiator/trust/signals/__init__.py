"""Security events (Shared Signals): what a trusted issuer reports of its people, believed or refused.

`kinds` says what each event asks of us, `subjects` reads whom it is about, `receiver` believes the signed text (RFC
8417) by the same strict readers as assertions. What an event then does to rows is `agents.signals`.
"""
