"""What an answer means: whether to try again and when, and what of it a person is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeGuard

RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
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
QUOTA_USED_UP = b"insufficient_quota"
"""What OpenAI's 429 says where the account is empty: waiting does not help."""
PROBLEMS = {
    400: "the request was refused",
    401: "{key} was not accepted",
    403: "{key} does not allow this",
    404: "no such model, or nothing at {path}; check the model's name and base_url",
    413: "the request is too large",
    429: "too many requests, or the account has no credit left",
}


def problem(status: int, key: str, path: str) -> str:
    """Return what a status means; ``key`` is what the key is called, empty where none was sent."""
    if status in (401, 403) and not key:
        return "a key is required, but none was sent (set key_env= to the environment variable that holds it)"
    general = "it failed" if status >= 500 else "the request was refused"
    return PROBLEMS.get(status, general).format(key=key, path=path)


def has_error(answer: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether an error was sent as if it were an answer, as some services do where their provider failed."""
    if not isinstance(answer, dict):
        return False
    has_result = answer.get("choices") or answer.get("data")
    return bool(answer.get("error")) and not has_result


def status_within(answer: Mapping[str, object]) -> int | None:
    """Return the HTTP status that such an error carries as its code; None if it carries none."""
    error = answer["error"]
    code = error.get("code") if isinstance(error, dict) else answer.get("code")
    if type(code) is int and 400 <= code < 600:
        return code
    return None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds, at most 60, of the header ``Retry-After`` (seconds or a date); None if there is none."""
    value = headers.get("retry-after", "")
    if re.fullmatch(r"\s*\d{1,12}(\.\d{1,9})?\s*", value, re.ASCII):
        seconds = float(value)
    else:
        try:
            date = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    return min(max(0.0, seconds), LONGEST_PAUSE)


def excerpt(body: bytes, hide: Callable[[str], str]) -> str:
    """Return the beginning of an answer on one line, of an error in JSON its message, without secrets."""
    body = body[:LONGEST_REFUSAL]
    text = body.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):
        text = _message(json.loads(body)) or text
    return one_line(text, hide)


def one_line(text: str, hide: Callable[[str], str]) -> str:
    """Return the beginning of a text on one line, without secrets."""
    printable = "".join(character if character.isprintable() else " " for character in hide(text))
    line = " ".join(printable.split())
    # Once more: where several spaces have become one, a secret with a space in it can be whole again.
    line = hide(line)
    if len(line) > SHOWN:
        return line[:SHOWN] + "…"
    return line


def used_tokens(answer: object) -> int | None:
    """Return the tokens that an answer says it took; None if it does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return None
    total = usage.get("total_tokens", usage.get("prompt_tokens"))
    return total if is_count(total) else None


def is_count(value: object) -> TypeGuard[int]:
    """Return whether a value may be a number of tokens: more than a trillion is none."""
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
