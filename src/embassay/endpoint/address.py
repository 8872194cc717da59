"""Where a service is: an address whose user, password and query are used and never shown."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urldefrag, urljoin, urlsplit

from embassay.endpoint.hiding import PART
from embassay.errors import SpecError

WRITE = "write an address such as https://api.openai.com/v1"


@dataclass(frozen=True)
class Address:
    """An ``http://`` or ``https://`` address.

    Attributes
    ----------
    scheme, host, path
        What may be shown; ``host`` with the port, where one is given.
    loopback
        True for this machine itself: nothing that is sent there travels.
    query, user, password
        Sent, never shown.
    """

    scheme: str
    host: str
    path: str
    loopback: bool
    query: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Host and path."""
        return f"{self.host}{self.path}"

    @property
    def shown(self) -> str:
        """The address without anything secret."""
        return f"{self.scheme}://{self.place}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be in no message: user, password, and the query's values that are long enough to be a key."""
        pairs = parse_qsl(self.query, keep_blank_values=True)
        values = [value or name for name, value in pairs]
        return (self.user, self.password, *(value for value in values if len(value) >= PART))

    def url(self, path: str) -> str:
        """Return the address of a path under this one, with the query."""
        return f"{self.shown}{path}" + (f"?{self.query}" if self.query else "")


def read_address(text: str) -> Address:
    """Read the address of a service.

    Raises
    ------
    SpecError
        If it is none; the message repeats nothing of it, because there may be a password in it.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise SpecError(f"base_url is not an address; {WRITE}") from None
    name = parts.hostname
    if parts.scheme not in ("http", "https") or not name or parts.fragment or not _is_plain(text):
        raise SpecError(f"base_url is not an address that begins with https:// or http://; {WRITE}")
    host = f"[{name}]" if ":" in name else name
    return Address(
        parts.scheme,
        host + (f":{port}" if port else ""),
        parts.path.rstrip("/"),
        is_loopback(name),
        parts.query,
        *_user(parts),
    )


def is_loopback(name: str) -> bool:
    """Say whether a host's name or number is this machine itself."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def leads_to(location: str, asked: str) -> Address | None:
    """Return where a redirect of the address that was asked leads; None where that cannot be told."""
    try:
        return read_address(urldefrag(urljoin(asked, location)).url) if location else None
    except (SpecError, ValueError):
        return None


def _user(parts: SplitResult) -> tuple[str, str]:
    return unquote(parts.username or ""), unquote(parts.password or "")


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
