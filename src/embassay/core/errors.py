"""The exceptions that Embassay raises.

    EmbassayError
    ├── InputError            the caller can correct it: exit code 2
    │   ├── SourceError       a file, with line and field
    │   ├── SpecError         an encoder, corpus or diagnostic spec, or one of its options
    │   ├── UnknownNameError  an unknown name, with the nearest known one
    │   ├── MissingExtraError a missing optional dependency, with the pip command that installs it
    │   ├── PluginError       a plug-in of another package that cannot be used
    │   ├── ModelNotFoundError a model that is neither on this machine nor reachable
    │   └── OutputError       a folder or file that cannot be written, or must not be overwritten
    └── EncoderError          one encoder failed; the others continue: exit code 3
        └── EndpointError     an HTTP service refused, failed, or sent an unusable answer

Each message is one line: what is wrong, where, and what to do. :func:`one_line` ensures this, whatever text a
file, a service or another package contributes. :func:`say` prints such lines.
"""

from __future__ import annotations

import copyreg
import difflib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LONGEST = 2_000
"""Characters of a message, at most."""
_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")
"""What stands before the host in an address: ``https://name:password@host``."""
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Controls, marks of the direction of writing, line breaks, and halves of surrogate pairs."""


def visible(text: str, keep: str = "") -> str:
    """Write control characters and those that change the direction of writing as escapes: a label may hold any.

    Parameters
    ----------
    keep
        Characters that stay as they are.
    """

    def shown(match: re.Match[str]) -> str:
        return match[0] if match[0] in keep else match[0].encode("unicode_escape").decode()

    return _HIDDEN.sub(shown, text)


def one_line(text: str) -> str:
    """Return a text as one line of at most ``LONGEST`` visible characters.

    Names and passwords in addresses are left out. Line breaks become spaces. Control characters and those that change
    the direction of writing become escapes such as ``\\x1b`` and ``\\u202e``.
    """
    # The text is shortened first, so that a huge one is not searched, and again because escapes are longer.
    line = _BREAK.sub(" ", text.strip()[:LONGEST])
    return begun(_CREDENTIALS.sub("…@", visible(line)), LONGEST - 1)


def say(*lines: str) -> None:
    """Print each message to standard error as one line."""
    for line in lines:
        print(one_line(line), file=sys.stderr)  # noqa: T201


QUOTED = 120
"""Characters of a wrong value that a message quotes."""
LONGEST_LIST = 200
"""Characters of a list of names in a message, at most."""
MAX_SHOWN = 400
"""Characters of a text that are shown, unless a place has room for others."""


class EmbassayError(Exception):
    """The root of the tree.

    Examples
    --------
    >>> try:
    ...     ea.encoder("nosuch:model")
    ... except ea.EmbassayError as error:
    ...     print(type(error).__name__)
    UnknownNameError
    """

    def __str__(self) -> str:
        """Return the message, on one line."""
        return one_line(super().__str__())

    def __reduce__(self) -> tuple[Any, ...]:
        """Let other processes send the error: it is restored without its constructor, which makes the message."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class InputError(EmbassayError):
    """An input cannot be used.

    Examples
    --------
    >>> try:
    ...     ea.load("nosuch")
    ... except ea.InputError as error:
    ...     print(type(error).__name__)
    SourceError
    """


class SourceError(InputError):
    """A file cannot be read in the expected format.

    The message names the file and, where there is one, the line (from 1) and the field.
    """

    def __init__(self, problem: str, path: Path | str, line: int | None = None, field: str | None = None):
        place = str(path)
        if line is not None:
            place += f", line {line}"
        if field is not None:
            place += f", field {field!r}"
        super().__init__(f"{place}: {problem}")


class SpecError(InputError):
    """A spec such as ``bow,tokens=words`` cannot be parsed, or one of its options is wrong."""


class UnknownNameError(InputError):
    """A name is unknown; the message suggests the nearest known name and lists the known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = ""):
        known = sorted(known)
        similar = nearest(name, known)
        guess = f"; did you mean {similar!r}?" if similar else "."
        super().__init__(f"unknown {kind} {name!r}{guess} Known: {listed(known)}. {hint}".strip())


class MissingExtraError(InputError):
    """An optional dependency is not installed; the message has the exact pip command."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs the extra {extra!r}: pip install 'embassay[{extra}]'")


class PluginError(InputError):
    """A plug-in of another package cannot be used; the message names it, its package and what went wrong."""


class ModelNotFoundError(InputError):
    """A model is neither on this machine nor reachable."""


class OutputError(InputError):
    """A file or folder cannot be written, or must not be overwritten."""


class EncoderError(EmbassayError):
    """An encoder failed while encoding; its message names it.

    Examples
    --------
    >>> issubclass(ea.EncoderError, ea.EmbassayError)
    True
    """


class EndpointError(EncoderError):
    """A service refused, failed, or sent an unusable answer.

    The message has the host, the status and the beginning of the answer; never a key.

    Attributes
    ----------
    status
        The HTTP status; None if there was no answer.
    said
        The beginning of the answer, if it helps.
    kind
        ``refused``: another attempt would not help. ``busy``: the service cannot be reached, or asks to wait.
        ``failed``: it failed, perhaps because of what was sent. ``lost``: so did the connection after the request was
        sent, and an answer may have been generated and charged.
    pause
        The pause that the service requests, in seconds; None if it requests none.
    """

    def __init__(
        self,
        host: str,
        problem: str,
        status: int | None = None,
        said: str = "",
        kind: str = "refused",
        pause: float | None = None,
    ):
        self.problem, self.status, self.said, self.kind, self.pause = problem, status, said, kind, pause
        message = f"{host} answered {status}: {problem}" if status else f"{host}: {problem}"
        if said:
            message += f"; it says: {said}"
        super().__init__(message)


def reason_of(error: BaseException) -> str:
    """Return the type and the message of an unexpected exception, on one line."""
    return one_line(f"{type(error).__name__}: {str(error).strip()}".removesuffix(": "))


def first_line_of(source: BaseException | str) -> str:
    """Return the first line of a text or of an exception's message; an empty text if there is none."""
    return str(source).strip().partition("\n")[0].strip()


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to ``name``; None if none is similar."""
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)


def begun(text: str, longest: int = MAX_SHOWN) -> str:
    """Return how a text begins, for display: at most so many characters."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def listed(names: Iterable[object]) -> str:
    """Return names as a list for a message, on one line, truncated if it is long."""
    text = " ".join(", ".join(map(str, names)).split())
    return begun(text, LONGEST_LIST) or "nothing"


def quoted(value: object) -> str:
    """Return how the ``repr`` of a value begins, for a message."""
    return begun(repr(value), QUOTED)
