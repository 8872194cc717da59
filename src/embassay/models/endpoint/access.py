"""The client of a service from its options: address, environment variable of the key, budget."""

from __future__ import annotations

import math
import os
import re
from typing import Any

from embassay.core.errors import SpecError
from embassay.models.endpoint.client import Endpoint

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


def open_endpoint(place: str, base_url: str, key_env: str, **options: Any) -> Endpoint:
    """Return the client of a service. The key is read from the environment; nothing is sent.

    Parameters
    ----------
    place
        The encoder or command that has these options, for messages, for example ``"encoder 'api:m'"``.
    base_url
        The address. Default: ``$OPENAI_BASE_URL``, otherwise OpenAI's.
    key_env
        The name of the environment variable with the key; empty to send no key.
    options
        The other parameters of :class:`Endpoint`.

    Raises
    ------
    SpecError
        If the address is not valid, or the key is missing or would be sent unencrypted.
    """
    address = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
    key = os.environ.get(key_env, "").strip() if key_env else ""
    try:
        endpoint = Endpoint(address, key, key_name=key_env or "the key", **options)
    except SpecError as error:
        raise SpecError(f"{place}: {error}") from None
    if key_env and not key:
        _refuse_missing_key(place, key_env, endpoint)
    return endpoint


def check_whole(place: str, **values: int | None) -> None:
    """Raise SpecError for a number below 1; None is allowed."""
    for name, value in values.items():
        if value is not None and value < 1:
            raise SpecError(f"{place}, option {name!r}: must be 1 or more, is {value}")


def check_amounts(place: str, **values: float | None) -> None:
    """Raise SpecError for an amount that is not positive and finite. None is allowed, and 0 for a price."""
    for name, value in values.items():
        if value is None or (name == "price" and value == 0):
            continue
        if not (math.isfinite(value) and value > 0):
            raise SpecError(f"{place}, option {name!r}: must be more than 0, is {value}")


def refuse_key(place: str, variable: str) -> None:
    """Raise SpecError if the name of a variable is itself a key, which the message does not quote."""
    is_name = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", variable)
    # Names of variables consist of words; keys have long parts with digits.
    looks_like_a_key = any(len(part) >= 16 and re.search(r"\d", part) for part in variable.split("_"))
    if not is_name or looks_like_a_key:
        raise SpecError(
            f"{place}, option 'key_env': give the name of an environment variable ({OPENAI_KEY}), not a key"
        )


def _refuse_missing_key(place: str, variable: str, endpoint: Endpoint) -> None:
    """Raise SpecError if the variable of the key is not set."""
    refuse_key(place, variable)
    # A server on this machine rarely needs a key, and a user in the address is sent instead of a key.
    is_optional = (variable == OPENAI_KEY and endpoint.address.loopback) or endpoint.address.user
    if not is_optional:
        raise SpecError(
            f"{place}: the environment variable {variable} is not set; name another with key_env=, or leave "
            "key_env= empty to send no key"
        )
