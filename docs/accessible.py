"""Pages of the site for those who read with a keyboard or by ear."""

from pathlib import Path

__all__ = ["complete"]

_COMPLETED = {
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Contents">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
}
"""What the theme leaves out: levels of headings, names, and a way to scroll without a mouse."""


def complete(app, exception):
    """Complete every page once all are written."""
    if exception is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            for short, whole in _COMPLETED.items():
                text = text.replace(short, whole)
            page.write_text(text, encoding="utf-8")
