"""Crude attempts to speak to a model through a memory (OWASP's agentic top ten calls them memory poisoning).

What is caught here is kept out of sight, not thrown away. It is a filter, not a proof: whatever is recalled is handed
on as data with its source and its trust. Business prose is full of "always" and "never": an order counts only where it
is given to the reader, and only for things a reader of memories could do.
"""

import re
from collections.abc import Iterable
from typing import Final

from negotiator.memory.guard.texts import drawn

_RULES: Final = (
    r"(?:instructions?|rules?|prompts?|limits?|guidelines?|polic(?:y|ies)|constraints?|guardrails?|orders|directives?"
    r"|safety|memories|walk ?away|floor)"
)
_PATTERNS: Final = {
    "addresses_a_model": re.compile(
        rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{{0,40}}"
        rf"\b(?:previous|prior|above|earlier|preceding|all|any|every|your|system|safety)\b.{{0,30}}\b{_RULES}\b"
        r"|\byou are (?:now|no longer) (?:an? |the )?(?:\w+ )?(?:ai|assistant|agent|model|bot|dan|admin|bound|allowed"
        r"|required|restricted|in)\b"
        r"|\b(?:as|dear|hey|attention|note (?:to|for)|hello|hi),? (?:an? |the |this |any |all )?(?:ai|assistant|llm"
        r"|language model|ai (?:agent|model|assistant)s?)\b"
        r"|\b(?:system|developer|hidden) (?:prompt|message|override|instruction)s?\b|\bjailbreak"
        r"|\bnew instructions?\s*:|\b(?:reveal|print|repeat|output|leak|exfiltrate)\b.{0,30}\b(?:prompt|api key|token"
        r"|credentials?|secrets?|memories|reservation|walk ?away)\b"
        r"|\b(?:when|if|once|after|whenever) (?:you|the (?:ai|assistant|agent|model))"
        r" (?:read|recall|retrieve|see|load)s? this\b"
        r"|\bfrom now on,? (?:you|always|never)\b|\b(?:do not|don't|never|without) (?:tell|inform|warn|notify|mention"
        r"|telling|informing|warning|notifying)\w*\b.{0,25}\b(?:user|owner|human|operator|principal)\b",
        re.DOTALL,
    ),
    "gives_orders": re.compile(
        r"(?:^|[.!?:;]\s*|\b(?:you|assistant|agent) (?:must|should|shall|will|have to|are to|need to)\s+|\bplease\s+"
        r"|\bassistant,?\s+)"
        r"(?:always |automatically |immediately |silently |now )+(?:approve|accept|agree|authori[sz]e|pay|transfer"
        r"|wire|send|disclose|confirm)\b.{0,30}\b(?:any|every|all|whatever|requests?|prices?|payments?|transfers?|money"
        r"|funds|everything)\b"
        r"|\b(?:call|invoke|execute|run)\s+(?:the\s+)?[`'\"]?(?:[a-z]+_[a-z_]+|tool\b|function\b)",
        re.DOTALL | re.MULTILINE,
    ),
    "imitates_markup": re.compile(
        r"^[^\S\n]*(?:system|assistant)\s*:|<\|[a-z_]+\|>|\[/?(?:inst|sys|system)\]|<<sys>>"
        r"|</?(?:system|assistant|tool|function|memory|memories|context|instructions?|data)\b[^>]{0,40}>"
        r"|[\"'](?:tool_calls?|function_call|role)[\"']\s*:|^[^\S\n]*```(?:tool|function|system)|^#{1,3}\s*(?:system|instructions?)\b",
        re.MULTILINE,
    ),
    "encoded": re.compile(r"(?:[a-z0-9+/]{4}){20,}={0,2}|(?:[0-9a-f]{2}){40,}"),
}
_SECRET: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
    r"|\b(?:sk|pk|rk|ghp|gho|ghs|xox[abp]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}"
    r"|\b(?i:password|passphrase|secret key|api key)\s*(?:is|[:=])\s*\S{6,}",
)
_COMMAND: Final = re.compile(
    r"https?://|\b(?:curl|wget|rm|sudo|powershell|eval|exec)\s+\S|\bjavascript:", re.IGNORECASE
)
_CARD: Final = re.compile(r"(?<!\d)(?:4|5[1-5]|2[2-7]|3[47]|6)(?:[ -]?\d){11,18}(?!\d)")


def suspicion(texts: Iterable[str], kind: str) -> str | None:
    """Why the texts of a memory are better kept out of sight, as one word; None when nothing is wrong with them."""
    for text in texts:
        seen = drawn(text)
        for reason, pattern in _PATTERNS.items():
            if pattern.search(seen):
                return reason
        if _SECRET.search(text):
            return "secret"
        if kind == "tactic" and _COMMAND.search(text):
            return "command"
        if any(_is_card(found[0]) for found in _CARD.finditer(text)):
            return "card"
    return None


def _is_card(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1)."""
    figures = [int(mark) for mark in digits if mark.isdigit()]
    doubled = [2 * figure - 9 * (figure > 4) for figure in figures[-2::-2]]
    return (sum(figures[-1::-2]) + sum(doubled)) % 10 == 0
