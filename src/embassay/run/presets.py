"""Named sets of encoders: those that a paper compared, so that one line repeats its comparison: ``-e @heros``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embassay.core.errors import SpecError, UnknownNameError
from embassay.run.specs import Spec, as_spec, parse

SIGN = "@"
"""The first character of the name of a set, where the spec of an encoder is expected."""


@dataclass(frozen=True)
class Member:
    """An encoder that a paper compared.

    Attributes
    ----------
    called
        Its name in the paper's tables, which becomes its label.
    spec
        Its spec for ``-e``; empty where it cannot be loaded.
    note
        What it needs, or why there is no spec.
    group
        The class of models to which the paper assigns it, or what it was trained on, where the published figures do not
        say that.
    """

    called: str
    spec: str = ""
    note: str = ""
    group: str = ""

    def to_spec(self) -> Spec:
        """Return its spec, with its name in the paper as the label.

        Raises
        ------
        SpecError
            If there is no spec.
        """
        if not self.spec:
            raise SpecError(self.note)
        parsed = parse(self.spec, "encoder")
        group = {"group": self.group} if self.group else {}
        return Spec(parsed.head, self.called, {**parsed.options, **group})


@dataclass(frozen=True)
class EncoderSet:
    """The encoders of one paper, in the order of its tables."""

    name: str
    title: str
    members: tuple[Member, ...]


def named_in(spec: str | Spec) -> EncoderSet | None:
    """Return the set that a spec such as ``@heros`` names; None where it names a single encoder.

    Raises
    ------
    UnknownNameError
        If there is no set of that name.
    SpecError
        If a label or options were given with it.
    """
    spec = as_spec(spec, "encoder")
    name = spec.head.removeprefix(SIGN)
    if name == spec.head:
        return None
    if spec.label or spec.options:
        raise SpecError(f"set of encoders {spec.head!r}: cannot have a label or options; its encoders have their own")
    if name not in sets():
        raise UnknownNameError("set of encoders", name, sets(), "Write a set as -e @NAME.")
    return sets()[name]


@cache
def sets() -> dict[str, EncoderSet]:
    """Return all sets by name, sorted."""
    text = files("embassay.core.data").joinpath("encoder_sets.toml").read_text(encoding="utf-8")
    return {
        name: EncoderSet(name, table["title"], tuple(Member(**member) for member in table["encoders"]))
        for name, table in sorted(tomllib.loads(text).items())
    }
