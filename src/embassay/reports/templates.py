"""Fills in the templates beside this file: the page, the notebook and the model card."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from embassay.core.formatting import readable

if TYPE_CHECKING:
    from jinja2 import Template


def resource(name: str) -> str:
    """Return the text of a file beside this one."""
    return files("embassay.reports").joinpath(name).read_text(encoding="utf-8")


def filled(name: str, **values: Any) -> str:
    """Return a template with values in it; in HTML every text is escaped, and control characters are visible."""
    return _template(name).render(**values)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    is_html = name.endswith(".html")
    environment = Environment(
        autoescape=is_html,  # noqa: S701 - another format escapes its texts itself
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=not is_html,
        lstrip_blocks=True,
        finalize=_readable if is_html else None,
    )
    return environment.from_string(resource(name))


def _readable(value: object) -> object:
    """Make control characters and those that change the direction of writing visible in texts from data."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return readable(value)
    return value
