"""Settings of the documentation site: `sphinx-build -W docs build/site`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import accessible  # noqa: E402 - beside this file
import reference_pages  # noqa: E402 - beside this file

project = "croupier"
author = "the croupier authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = "croupier"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
exclude_patterns = ["_static"]
pygments_style = "default"
smartquotes_action = "qe"  # no dashes: --full is an option

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = True

reference_pages.write(HERE / "reference" / "generated")


def _as_restructured_text(_app, _what, _name, _object, _options, lines):
    """Rewrite docstrings for Sphinx: indented blocks are formulas, labels begin paragraphs."""
    written, formula = [], False
    for place, line in enumerate(lines):
        after_blank = place > 1 and not lines[place - 1].strip()
        body = place > 1 and lines[place - 2] and not lines[place - 2].startswith("    ")
        if line.startswith("    ") and after_blank and body:
            written += ["::", ""]
            formula = True
        elif line and not line.startswith("    "):
            formula = False
        if line.startswith(("Direction: ", "Reference: ", "Holds ")):
            written.append("")
        continued = line.startswith("    ") and lines[place - 1].startswith(("Reference: ", "    "))
        reference = continued and _label_above(lines, place) == "Reference"
        text = line.lstrip() if reference else line
        written.append(text if formula or ">>>" in text else text.replace("|", "\\|"))
    lines[:] = written


def _label_above(lines, place):
    """The label of the paragraph that a line belongs to."""
    while place and lines[place].startswith("    "):
        place -= 1
    return lines[place].partition(":")[0]


def _links_into_the_site(_app, _name, source):
    """Rewrite links to documents beside the site, which has them as pages."""
    for outside, page in _PAGES.items():
        for up in ("../../", "../"):
            source[0] = source[0].replace(f"({up}{outside}.md)", f"(/{page}.md)")


_PAGES = {
    "CHANGELOG": "reference/changes",
    "GLOSSARY": "reference/glossary",
    "LIMITATIONS": "reference/limitations",
    "README": "index",
    "clients/typescript/README": "reference/typescript",
}


def setup(app):
    """Connect the hooks before napoleon, which reads the sections."""
    app.connect("autodoc-process-docstring", _as_restructured_text, priority=400)
    app.connect("source-read", _links_into_the_site)
    app.connect("build-finished", accessible.complete)
