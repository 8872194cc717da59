"""Removing user, password and query from addresses before they are shown or stored."""

from __future__ import annotations

import re
from urllib.parse import unquote

USER = re.compile(r"(?<=://)([^\s/?#]*)@")


def without_secrets(text: str) -> str:
    """Return an address without user, password and query; another text is returned as it is."""
    if "://" not in text:
        return text
    return USER.sub("", text).partition("?")[0]


def hidden(message: str, address: str) -> str:
    """Return a library's message about an address, without the address's user, password and query."""
    message = message.replace(address, without_secrets(address))
    if "://" not in address:
        return message
    user = "".join(USER.findall(address))
    password = user.partition(":")[2]
    query = address.partition("?")[2]
    for secret in (user, password, query):
        for form in (secret, unquote(secret)):
            if form:
                message = message.replace(form, "…")
    return message
