"""The configuration of Sphinx for the site: ``python docs/build.py site``."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import fuseloom  # noqa: E402 -- found by the line above

project = "Fuseloom"
author = "the Fuseloom authors"
copyright = "the Fuseloom authors, BSD-3-Clause"
release = version = fuseloom.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "reference", "around", "accessible"]
exclude_patterns = ["_site", "examples"]
nitpicky = True  # a name in a docstring that leads nowhere is a warning, and warnings are errors
highlight_language = "none"
suppress_warnings = ["myst.header"]  # headings of notebooks may skip a level
toc_object_entries_show_parents = "hide"
trim_footnote_reference_space = True

myst_enable_extensions = ["deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_use_type_comments = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False  # members are documented where they stand
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "Fuseloom"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "Fuseloom"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": False,
}
html_sidebars = {"index": []}
