"""QR codes as SVG that a page holds itself: nothing is loaded, and no style attribute is needed."""

from markupsafe import Markup


def qr_code(text: str) -> Markup:
    """An SVG of the text, dark on light in both colour schemes, because many cameras read no other."""
    import segno  # imported here: few pages show one

    drawn = segno.make(str(text), error="m", micro=False)
    svg = drawn.svg_inline(
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
        svgclass="qr-code",
        lineclass=None,
        title="QR code of the text beside it",
    )
    return Markup(svg)  # noqa: S704  made of numbers only
