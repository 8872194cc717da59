"""Interpreting answers: whether and when to try again, and which parts of them are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeGuard

from embassay.core.errors import begun

RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""HTTP statuses after which a request is repeated."""
OF_THE_SERVICE = frozenset({429, 503})
"""Those of them that are not caused by the content of the request."""
LONGEST_PAUSE = 60.0
LONGEST_REFUSAL = 1 << 16
"""Maximum number of bytes that are read of an answer without a result."""
MAX_SHOWN = 200
"""Maximum number of characters of an answer that a message quotes."""
MOST_TOKENS = 10**12
"""Larger numbers are not plausible as numbers of tokens."""
QUOTA_USED_UP = b"insufficient_quota"
"""Part of OpenAI's answer with status 429 if the account is empty; waiting does not help then."""
PROBLEMS = {
    400: "the request was refused",
    401: "{key} was not accepted",
    403: "{key} does not allow this",
    404: "no such model, or nothing at {path}; {check}",
    413: "the request is too large",
    429: "too many requests, or the account has no credit left",
}


def problem(status: int, key: str, path: str, check: str) -> str:
    """Return the meaning of an HTTP status; ``key`` is the name of the key, empty if no key was sent."""
    if status in (401, 403) and not key:
        return "a key is required, but none was sent (set key_env= to the environment variable that holds it)"
    general = "it failed" if status >= 500 else "the request was refused"
    return PROBLEMS.get(status, general).format(key=key, path=path, check=check)


def error_within(answer: object) -> int | None:
    """Return the status of an error that was sent as a success, as some services do if their provider failed.

    0 if the error has no status; None if the answer is no error.
    """
    if not isinstance(answer, dict) or answer.get("choices") or answer.get("data") or not answer.get("error"):
        return None
    error = answer["error"]
    code = error.get("code") if isinstance(error, dict) else answer.get("code")
    return code if type(code) is int and 400 <= code < 600 else 0


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds of the header ``Retry-After`` (seconds or a date), at most 60; None if there is none."""
    value = headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdecimal():
        seconds = float(value)
    else:
        try:
            seconds = (parsedate_to_datetime(value) - (now or datetime.now(UTC))).total_seconds()
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    return min(max(0.0, seconds), LONGEST_PAUSE)


def excerpt(body: bytes, hide: Callable[[str], str]) -> str:
    """Return the beginning of an answer (of an error in JSON, its message) on one line, without secrets."""
    body = body[:LONGEST_REFUSAL]
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        text = _message(json.loads(body)) or text
    return one_line(text, hide)


def one_line(text: str, hide: Callable[[str], str]) -> str:
    """Return the beginning of a text on one line, without secrets."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return begun(hide(" ".join(printable.split())), MAX_SHOWN)


def used_tokens(answer: object) -> int | None:
    """Return the number of tokens that an answer reports; None if it reports none."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return None
    total = usage.get("total_tokens", usage.get("prompt_tokens"))
    return total if is_count(total) else None


def is_count(value: object) -> TypeGuard[int]:
    """Return whether a value is a plausible number of tokens: an integer from 0 to a trillion."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _message(answer: object) -> str:
    """Return the message of an error in JSON; empty if there is none."""
    if not isinstance(answer, dict):
        return ""
    for name in ("error", "message", "detail"):
        inner = answer.get(name)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, dict):
            return _message(inner)
    return ""
