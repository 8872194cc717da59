"""What an answer means: whether to try again and when, and what of it a person is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeGuard

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
"""The statuses after which a request is sent once more."""
OF_THE_SERVICE = frozenset({429, 503})
"""Those of them that have nothing to do with what was sent."""
LONGEST_PAUSE = 60.0
LONGEST_REFUSAL = 1 << 16
"""Bytes of an answer without a result that are read."""
SHOWN = 200
"""Characters of an answer that a message repeats."""
MOST_TOKENS = 10**12
"""A larger number is no number of tokens."""
SPENT = "insufficient_quota"
"""What OpenAI's 429 says where the account is empty: waiting does not help."""
PROBLEMS = {
    400: "the request was refused",
    401: "{key} was not accepted",
    403: "{key} does not allow this",
    404: "there is no such model, or nothing at {path}: look at the model's name and at base_url",
    413: "the request is too large",
    429: "too many requests, or nothing left on the account",
}
_MEANT = {
    429: re.compile(r"rate.?limit|too.?many.?requests", re.I),
    503: re.compile(r"overload|unavailable", re.I),
    500: re.compile(r"server.?error", re.I),
}
"""What the code or the type of an error says that is sent with status 200, by the status that it should have had."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_RESETS = ("requests", "tokens")
_RESULTS = ("choices", "data")
"""What an answer that is one has: a chat's, and one with embeddings."""


def problem(status: int, key: str, path: str) -> str:
    """Say what a status means; ``key`` is what the key is called, empty where none was sent."""
    if status in (401, 403) and not key:
        return "it wants a key, and none was sent (key_env= names the variable that holds it)"
    known = PROBLEMS.get(status, "it failed" if status >= 500 else "the request was refused")
    return known.format(key=key, path=path)


def error_within(answer: Any) -> int | None:
    """Return the status of an error that was sent as if it were an answer: 0 where it says none; None for an answer."""
    if not isinstance(answer, dict) or not answer.get("error") or any(map(answer.get, _RESULTS)):
        return None
    error = answer["error"] if isinstance(answer["error"], dict) else answer
    code = error.get("code")
    if type(code) is int and 400 <= code < 600:
        return code
    said = " ".join(name for name in (code, error.get("type")) if isinstance(name, str))
    return next((status for status, meant in _MEANT.items() if meant.search(said)), 0)


def is_empty(answer: Mapping[str, Any]) -> bool:
    """Say whether an answer has the place of a result and none in it, as where a provider behind the service failed."""
    return any(name in answer for name in _RESULTS)


def pause_asked(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds, at most 60, that a service asks to wait; None where it asks for nothing.

    Read are ``Retry-After`` (seconds or a date), ``retry-after-ms``, and of the rate limits that are used up
    (``x-ratelimit-remaining-tokens: 0``) when they are reset.
    """
    asked = [_milliseconds(headers.get("retry-after-ms", "")), _after(headers.get("retry-after", ""), now)]
    asked += [
        _duration(headers.get(f"x-ratelimit-reset-{name}", ""))
        for name in _RESETS
        if headers.get(f"x-ratelimit-remaining-{name}", "").strip() == "0"
    ]
    found = [seconds for seconds in asked if seconds is not None]
    return min(max(0.0, *found), LONGEST_PAUSE) if found else None


def excerpt(body: bytes, hide: Callable[[str], str]) -> str:
    """Return the beginning of an answer on one line, of an error in JSON its message, without secrets."""
    body = body[:LONGEST_REFUSAL]
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        text = _message(json.loads(body)) or text
    return one_line(text, hide)


def one_line(text: str, hide: Callable[[str], str]) -> str:
    """Return the beginning of a text on one line, without secrets."""
    line = " ".join("".join(c if c.isprintable() else " " for c in hide(text)).split())
    # Once more: where several spaces have become one, a secret with a space in it can be whole again.
    line = hide(line)
    return line[:SHOWN] + ("…" if len(line) > SHOWN else "")


def used_tokens(answer: Any) -> int | None:
    """Return the tokens that an answer says it took; None where it does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    total = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return total if is_count(total) else None


def is_count(value: Any) -> TypeGuard[int]:
    """Say whether a value may be a number of tokens: more than a trillion is none."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def _message(answer: Any) -> str:
    for name in ("error", "message", "detail"):
        inner = answer.get(name) if isinstance(answer, dict) else None
        if isinstance(inner, str):
            return inner
        if isinstance(inner, dict):
            return _message(inner)
    return ""


def _after(value: str, now: datetime | None) -> float | None:
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return (date - (now or datetime.now(UTC))).total_seconds()


def _milliseconds(value: str) -> float | None:
    number = _number(value)
    return None if number is None else number / 1000


def _duration(value: str) -> float | None:
    """Read ``1m30s``, ``250ms`` or seconds."""
    # Part by part: one pattern for the whole value takes forever on a long number.
    value, seconds, end = value.strip(), 0.0, 0
    for part in re.finditer(r"(\d+(?:\.\d+)?)(ms|s|m|h)?", value, re.ASCII):
        if part.start() != end:
            return None
        seconds, end = seconds + float(part[1]) * _UNITS[part[2] or ""], part.end()
    return seconds if value and end == len(value) else None


def _number(value: str) -> float | None:
    return float(value) if re.fullmatch(r"\s*\d{1,12}(\.\d{1,9})?\s*", value, re.ASCII) else None
