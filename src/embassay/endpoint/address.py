"""Where a service is: an address whose user, password and query are used and never shown."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

from embassay.endpoint.secrets import PART
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
        secrets = [self.user, self.password]
        for name, value in parse_qsl(self.query, keep_blank_values=True):
            if len(value or name) >= PART:
                secrets.append(value or name)
        return tuple(secrets)

    def url(self, path: str) -> str:
        """Return the address of a path under this one, with the query."""
        url = f"{self.shown}{path}"
        return f"{url}?{self.query}" if self.query else url


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
        raise SpecError(f"base_url must start with https:// or http://; {WRITE}")
    host = f"[{name}]" if ":" in name else name
    if port:
        host += f":{port}"
    return Address(
        scheme=parts.scheme,
        host=host,
        path=parts.path.rstrip("/"),
        loopback=is_loopback(name),
        query=parts.query,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


def is_loopback(name: str) -> bool:
    """Return whether a host's name or number is this machine itself."""
    # By name or number only: to look a name up would send it to a name server.
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def redirect_target(location: str, address: str) -> Address | None:
    """Return the address that a redirect leads to; None if it is no address."""
    if not location:
        return None
    try:
        return read_address(urldefrag(urljoin(address, location)).url)
    except (SpecError, ValueError):
        return None


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
