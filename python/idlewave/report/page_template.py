"""The templates of HTML pages: what they print of data is made printable and escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from idlewave.escaping import printable


def page_template(name: str) -> Template:
    """The template of that name in `templates/`. A variable that it names and is not given is an error."""
    environment = Environment(
        loader=PackageLoader("idlewave.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _shown(value: object) -> object:
    """Make texts from data printable; markup of the page itself stays."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
