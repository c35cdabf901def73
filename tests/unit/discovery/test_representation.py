"""What a request prefers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.discovery.documents import media_ranges, preferred_media_type

OFFERED = ("text/html", "text/markdown")
HTML, MARKDOWN = OFFERED


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", HTML),
        ("*/*", HTML),
        ("text/*", HTML),
        ("application/json", HTML),
        ("text/markdown", MARKDOWN),
        ("TEXT/Markdown ; q=1.000", MARKDOWN),
        ("text/markdown;charset=utf-8", MARKDOWN),
        ("text/markdown;q=0", HTML),
        ("text/markdown;q=0.0, */*", HTML),
        ("text/html;q=0, */*", MARKDOWN),
        ("text/html;q=0.8, text/markdown;q=0.9", MARKDOWN),
        ("text/html;q=0.9, text/markdown;q=0.8", HTML),
        ("text/markdown;q=0.5, */*;q=0.6", HTML),
        ("text/markdown, text/html, */*", MARKDOWN),
        ("text/html, text/markdown, */*", HTML),
        ("text/markdown, */*", MARKDOWN),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", HTML),
        ("text/markdown;q=2, text/html;q=0.1", HTML),
        ('text/plain;x="a, text/markdown", text/html', HTML),
        (", ,;, text/markdown", MARKDOWN),
    ],
)
def test_the_header_decides_and_html_is_for_who_does_not_care(accept: str, chosen: str) -> None:
    assert preferred_media_type(accept, OFFERED) == chosen


@given(st.text(max_size=80))
def test_any_text_gets_one_of_what_is_offered(accept: str) -> None:
    assert preferred_media_type(accept, OFFERED) in OFFERED
    assert all(0 <= weight <= 1 for _, weight in media_ranges(accept))


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_heavier_one_wins(html: int, markdown: int) -> None:
    accept = f"text/html;q={html / 1000:.3f}, text/markdown;q={markdown / 1000:.3f}"
    assert preferred_media_type(accept, OFFERED) == (MARKDOWN if markdown > html else HTML)
