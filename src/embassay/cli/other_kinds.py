"""Commands for test-set kinds without a hand-written one; their options come from the signature of the builder."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field, make_dataclass
from typing import Annotated, Any, get_type_hints

from cyclopts import App

from embassay.cli.build import From, given_options, run_build
from embassay.cli.parameters import Flag, Flat, Out
from embassay.core.plugins import BUILDERS
from embassay.testsets.build import PARAMETERS_OF_ALL
from embassay.testsets.options import BuildOptions


def add_command(build: App, kind: str) -> None:
    """Add ``embassay build KIND``, if there is such a builder and no such command yet."""
    # The name of a plug-in is that of its Python file.
    is_builder = kind.replace("-", "_") in BUILDERS.names()
    # An App iterates over the names of its commands.
    has_command = kind in list(build)
    if is_builder and not has_command:
        build.command(command_of(kind), name=kind)


def command_of(kind: str) -> Callable[..., int]:
    """Return a function with the options of every kind and those of this builder, for cyclopts to read."""
    # Only this builder is imported: the others may need extras that are not installed.
    builder = BUILDERS.module(kind.replace("-", "_")).build
    types = get_type_hints(builder)
    fields = []
    for name, parameter in inspect.signature(builder).parameters.items():
        # Options of every kind are already fields of BuildOptions.
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in PARAMETERS_OF_ALL:
            fields.append((name, types[name], field(default=parameter.default)))
    options_type: Any = make_dataclass("KindOptions", fields, bases=(BuildOptions,), frozen=True, kw_only=True)
    options_type.__module__ = __name__  # cyclopts takes classes of the module "types" for single values.
    options_type.__doc__ = builder.__doc__

    defaults = options_type()

    # The annotations are set by hand: as strings, the type that was just made could not be found.
    def command(*, source, out, options=defaults, overwrite=False):  # type: ignore[no-untyped-def]
        return run_build(kind, source, out, overwrite, given_options(options))

    command.__annotations__ = {
        "source": From,
        "out": Out,
        "options": Annotated[options_type, Flat],
        "overwrite": Flag,
        "return": int,
    }
    command.__doc__ = (builder.__doc__ or "").strip().partition("\n")[0]
    return command
