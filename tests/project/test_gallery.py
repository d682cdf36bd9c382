"""docs/gallery.md shows what is generated now."""

from benchmarks.gallery import SHOWN, page
from benchmarks.page import DOCS


def test_the_page_is_as_it_is_generated() -> None:
    """`python -m benchmarks.gallery` writes it anew."""
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert text == page()
    assert text.count("```python") == 3 * len(SHOWN)
