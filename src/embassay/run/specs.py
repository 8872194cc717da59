"""The syntax of sources and specs: ``[NAME=]HEAD[,option=value…]``.

The options of a plug-in are the keyword-only parameters of its ``create`` or ``load``. Their annotations define how a
value is read.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from embassay.core.errors import SpecError, UnknownNameError, quoted


@dataclass(frozen=True)
class Spec:
    """A parsed spec: the label if one was given, the head, and the options as they were written."""

    head: str
    label: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


def parse(text: str, what: str) -> Spec:
    """Parse ``[NAME=]HEAD[,option=value…]``.

    Parameters
    ----------
    what
        What it is a spec of, for messages: ``"encoder"``, ``"corpus"``, ``"diagnostic"``.

    Raises
    ------
    SpecError
        If a part is empty, an option has no ``=``, or an option occurs twice.
    """
    # A comma inside [ ] separates the values of one option.
    head, *parts = re.split(r",(?![^\[\]]*\])", text)
    label: str | None = None
    name, equals, rest = head.partition("=")
    # An equals sign in a path belongs to the path.
    if equals and "/" not in name and not name.startswith(("~", ".")):
        label, head = name.strip(), rest
    head = head.strip()
    if label == "" or not head:
        raise SpecError(f"{what}: the name is empty; write [NAME=]SPEC, see 'embassay list'")
    options: dict[str, str] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        option = option.strip()
        if not equals or not option:
            # Values are not repeated: an address may hold a password.
            problem = "expected option=value after its name or after another option"
            raise SpecError(f"{what} {head!r}: {problem} (for values with commas, use a config file)")
        if option in options:
            raise SpecError(f"{what} {head!r}: duplicate option {option!r}")
        options[option] = value
    return Spec(head, label, options)


def as_spec(source: str | Path | Spec, what: str) -> Spec:
    """Return a spec, parsed if it is a text; see :func:`parse`. A path has no label and no options."""
    if isinstance(source, Spec):
        return source
    if isinstance(source, Path):
        return Spec(str(source))
    if isinstance(source, str):
        return parse(source, what)
    raise SpecError(f"{what}: must be a text, is {quoted(source)}")


def list_options(spec: Spec) -> dict[str, list[object]]:
    """Return the options of a spec that are lists: from a config file, or written ``dim=[64,128]``."""
    lists: dict[str, list[object]] = {}
    for name, value in spec.options.items():
        if isinstance(value, list):
            lists[name] = value
        elif isinstance(value, str) and value[:1] + value[-1:] == "[]":
            # "[64, 128]" -> ["64", "128"]; "[]" -> []
            lists[name] = [part.strip() for part in value[1:-1].split(",") if part.strip()]
    return lists


def alternatives(spec: Spec) -> dict[str, dict[str, object]]:
    """Return the options of an encoder, by setting, for each combination of the values of options that are lists.

    ``st:m,dim=[64,128]`` has the settings ``dim=64`` and ``dim=128``. Without lists there is one, with an empty name.
    """
    lists = list_options(spec)
    for name, listed in lists.items():
        if not listed:
            raise SpecError(f"encoder {spec.head!r}: the list of option {name!r} is empty")
    options = {}
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        setting = ",".join(f"{name}={value}" for name, value in chosen.items())
        options[setting] = {**spec.options, **chosen}
    return options


def bind(function: Callable[..., object], options: Mapping[str, object], what: str, hint: str = "") -> dict[str, Any]:
    """Return the options of a spec as keyword arguments of a function, converted to the annotated types.

    Options that the spec does not have are left to the function's defaults.

    Parameters
    ----------
    function
        Its keyword-only parameters are the options that exist.
    what
        What has the options, for messages: ``"diagnostic 'retrieval'"``.
    hint
        What the user may have meant by an option that does not exist.

    Raises
    ------
    UnknownNameError
        If there is no such option.
    SpecError
        If a value does not fit.
    """
    kinds = get_type_hints(function, include_extras=True)
    names = known_options(function)
    bound = {}
    for name, value in options.items():
        if name not in names:
            raise UnknownNameError(f"option of {what}:", name, names, hint)
        kind = kinds[name]
        if get_origin(kind) is Literal or isinstance(value, Path):
            value = str(value)
        # Spaces may be meant in a text, such as a prompt.
        if isinstance(value, str) and str not in (kind, *get_args(kind)):
            value = value.strip()
        # A config file has numbers and truth values; on the command line everything is a text.
        bound[name] = fitting(value, kind, f"{what}, option {name!r}", strict=not isinstance(value, str))
    return bound


def known_options(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of a function's options: its keyword-only parameters."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def fitting(value: object, kind: Any, place: str, *, strict: bool = True) -> object:
    """Return a value as a type, which may have limits.

    Raises
    ------
    SpecError
        If it does not fit.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(value, strict=strict)
    except ValidationError as error:
        reasons = " or ".join(problem["msg"].partition(", unable")[0] for problem in error.errors(include_url=False))
        raise SpecError(f"{place}: {reasons.replace('Input should', 'must')}, is {quoted(value)}") from None


@dataclass(frozen=True)
class Checked:
    """Options that are checked when they are made.

    Raises
    ------
    SpecError
        If one is of another kind than its annotation or out of its range; the message names it.
    """

    def __post_init__(self) -> None:
        """Check each option that is not the default; so commands can hold the defaults without loading pydantic."""
        kinds = get_type_hints(type(self), include_extras=True)
        for option in fields(self):
            if (value := getattr(self, option.name)) is not option.default:
                fitting(value, kinds[option.name], f"option {option.name!r}")
