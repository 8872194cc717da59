"""Removing user, password and query from addresses before they are shown or stored."""

from __future__ import annotations

import re

USER = re.compile(r"(?<=://)([^\s/?#]*)@")


def without_secrets(text: str) -> str:
    """Return an address without user, password and query; another text is returned as it is."""
    if "://" not in text:
        return text
    return USER.sub("", text).partition("?")[0]
