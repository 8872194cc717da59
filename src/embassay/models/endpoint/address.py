"""The address of a service. Its user, password and query are sent but never shown."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

from embassay.core.errors import SpecError

SHORTEST_SECRET = 8
"""Values of a query with fewer characters are settings, such as a version; others may be a key."""
WRITE = "write an address such as https://api.openai.com/v1"


@dataclass(frozen=True)
class Address:
    """An ``http://`` or ``https://`` address.

    Attributes
    ----------
    scheme, host, path
        The parts that may be shown; ``host`` includes the port, if there is one.
    loopback
        Whether the host is this machine, so that nothing is sent over a network.
    query, user, password
        The parts that are sent but never shown.
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
        """The parts that must not be in a message: user, password, and values of the query long enough to be a key."""
        values = [value or name for name, value in parse_qsl(self.query, keep_blank_values=True)]
        # A service that repeats the path repeats its values percent-encoded, as they were sent.
        for parameter in self.query.split("&"):
            name, _, value = parameter.partition("=")
            values.append(value or name)
        return (self.user, self.password, *(value for value in values if len(value) >= SHORTEST_SECRET))

    def url(self, path: str, query: str = "") -> str:
        """Return the address of a path under this one, with the query, and with further parameters."""
        query = "&".join(part for part in (self.query, query) if part)
        url = f"{self.shown}{path}"
        return f"{url}?{query}" if query else url


def read_address(text: str) -> Address:
    """Read the address of a service.

    Raises
    ------
    SpecError
        If it is not an address. The message does not quote it, because it may contain a password.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise SpecError(f"base_url is not an address; {WRITE}") from None
    name = parts.hostname
    is_plain = text.isascii() and text.isprintable() and " " not in text
    if parts.scheme not in ("http", "https") or not name or parts.fragment or not is_plain:
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
    """Return whether a host's name or number is this machine."""
    # Other names are not looked up, because that would send them to a name server.
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def redirect_target(location: str, address: str) -> str:
    """Return the address that a redirect leads to, without anything secret."""
    try:
        return read_address(urldefrag(urljoin(address, location)).url).shown
    except (SpecError, ValueError):
        return "another address"
