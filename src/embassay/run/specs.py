"""The little language of sources and specs: ``[NAME=]HEAD[,option=value…]``.

The options of a plug-in are the keyword-only parameters of its ``create`` or ``load``; their annotations
say how a value is read. So the signature is the documentation, and nothing is listed twice.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from embassay.errors import SpecError, UnknownNameError, quoted

KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
FALSE, TRUE = {"false", "no", "0", "off"}, {"true", "yes", "1", "on"}


@dataclass(frozen=True)
class Spec:
    """A parsed spec: the label if one was given, the head, and the options as they were written."""

    head: str
    label: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def parse(text: str, what: str) -> Spec:
    """Parse ``[NAME=]HEAD[,option=value…]``.

    Parameters
    ----------
    what
        What it is a spec of, for messages: ``"encoder"``, ``"corpus"``, ``"diagnostic"``.

    Raises
    ------
    SpecError
        If a part is empty, an option has no ``=``, or one is given twice.
    """
    head, *parts = text.split(",")
    name, equals, rest = head.partition("=")
    if "/" in name or name.startswith(("~", ".")):
        name, equals, rest = "", "", head  # a path with an equals sign in it
    if equals and not name.strip():
        raise SpecError(f"{what}: nothing stands before the first '='; write NAME={rest}")
    label, head = (name.strip(), rest.strip()) if equals else (None, head.strip())
    if not head:
        raise SpecError(f"{what}: nothing is named; see 'embassay list'")
    options: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            # Values are not repeated: an address may hold a password.
            after = f"after {', '.join(options)}" if options else "after its name"
            raise SpecError(
                f"{what} {head!r}: what stands {after} is no option=value (values with commas go into a config file)"
            )
        if name.strip() in options:
            raise SpecError(f"{what} {head!r}: option {name.strip()!r} is given twice")
        options[name.strip()] = value
    return Spec(head, label, options)


def bind(function: Callable[..., Any], options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Convert a spec's options to the keyword-only parameters of a function.

    Raises
    ------
    UnknownNameError
        If there is no such option.
    SpecError
        If a value does not fit.
    """
    hints = get_type_hints(function)
    known = known_options(function)
    bound = {}
    for name, value in options.items():
        if name not in known:
            raise (
                UnknownNameError(f"option of {what}", name, known)
                if known
                else SpecError(f"{what} has no options, {name!r} was given")
            )
        bound[name] = _convert(value, hints[name], f"{what}, option {name!r}")
    return bound


def known_options(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's options: its keyword-only parameters."""
    return frozenset(p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY)


def _convert(value: Any, hint: Any, place: str) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(h for h in get_args(hint) if h is not type(None))
    if get_origin(hint) is Literal:
        if (value := str(value).strip()) not in get_args(hint):
            raise SpecError(f"{place}: {quoted(value)} is none of {', '.join(map(str, get_args(hint)))}")
        return value
    if hint is str or not isinstance(value, str):
        if type(value) is not hint and not (hint is float and type(value) is int):
            raise SpecError(f"{place}: {quoted(value)} is not {KINDS[hint]}")
        return value
    return _read(value.strip(), hint, place)


def _read(value: str, hint: Any, place: str) -> Any:
    if hint is bool:
        if value.lower() not in TRUE | FALSE:
            raise SpecError(f"{place}: {quoted(value)} is neither true nor false")
        return value.lower() in TRUE
    try:
        return hint(value)
    except ValueError:
        raise SpecError(f"{place}: {quoted(value)} is not {KINDS[hint]}") from None
