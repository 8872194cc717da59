"""Addresses in what is shown and kept: without user, password and query."""

from __future__ import annotations

import re
from urllib.parse import unquote

USER = re.compile(r"(?<=://)([^\s/?#]*)@")


def without_secrets(text: str) -> str:
    """Return an address without user, password and what follows a question mark; any other text as it is."""
    return re.sub(r"\?.*", "", USER.sub("", text)) if "://" in text else text


def hidden(message: str, address: str) -> str:
    """Return what a library says of an address, without what :func:`without_secrets` takes from it."""
    user = "".join(USER.findall(address))
    secrets = [user, user.partition(":")[2], address.partition("?")[2]] if "://" in address else []
    message = message.replace(address, without_secrets(address))
    for secret in filter(None, [*secrets, *map(unquote, secrets)]):
        message = message.replace(secret, "…")
    return message
