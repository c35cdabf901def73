"""Chooses the advisor from the settings."""

from negotiator.advice.advisor import Advisor, EngineWording


def build_advisor(url: str, *, key: str, model: str) -> Advisor:
    """The advisor for these settings; without a URL the one that changes nothing."""
    if not url:
        return EngineWording()
    from negotiator.advice.openai_advisor import OpenAiAdvisor  # it loads the HTTP client

    return OpenAiAdvisor(url, key=key, model=model)
