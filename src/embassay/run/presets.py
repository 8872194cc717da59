"""Named sets of encoders: what each paper compared, so that one line runs its comparison again: ``-e @heros``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from embassay.errors import SpecError, UnknownNameError
from embassay.run.specs import Spec, parse

SIGN = "@"
"""What the name of a set begins with, where an encoder's spec may stand."""
MANY = {"M": 10**6, "B": 10**9}


@dataclass(frozen=True)
class Member:
    """An encoder that a paper compared.

    Attributes
    ----------
    called
        What the paper's tables call it, which becomes its label.
    spec
        As ``-e`` takes it; empty where it cannot be had by one.
    parameters
        How many it has, as the paper or the model's card says: ``110M``; empty where that is not known.
    note
        What it needs, or why there is no spec.
    """

    called: str
    spec: str = ""
    parameters: str = ""
    note: str = ""

    @property
    def size(self) -> int:
        """Its number of parameters; 0 where that is not known."""
        found = re.fullmatch(r"([\d.]+)([MB])", self.parameters)
        return round(float(found[1]) * MANY[found[2]]) if found else 0

    def to_spec(self) -> Spec:
        """Return its spec, labelled as the paper calls it.

        Raises
        ------
        SpecError
            If it cannot be had by a spec.
        """
        if not self.spec:
            raise SpecError(self.note)
        parsed = parse(self.spec, "encoder")
        return Spec(parsed.head, self.called, parsed.options)


@dataclass(frozen=True)
class EncoderSet:
    """The encoders of one paper, in the order of its tables."""

    name: str
    title: str
    members: tuple[Member, ...]


def names() -> tuple[str, ...]:
    """Return the names of all sets, sorted."""
    return tuple(sorted(_sets()))


def named(name: str) -> EncoderSet:
    """Return a set by its name, without the sign.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in _sets():
        raise UnknownNameError("set of encoders", name, names(), "A set is given as -e @NAME.")
    return _sets()[name]


def asked(spec: object) -> EncoderSet | None:
    """Return the set that a spec names; None where it names an encoder, or is one.

    Raises
    ------
    UnknownNameError
        If there is no set of that name.
    SpecError
        If a label or options were given with it.
    """
    parsed = _parsed(spec)
    if parsed is None or not parsed.head.startswith(SIGN):
        return None
    found = named(parsed.head.removeprefix(SIGN))
    if parsed.label or parsed.options:
        raise SpecError(f"set of encoders {parsed.head!r}: takes no label and no options; its encoders have their own")
    return found


def _parsed(spec: object) -> Spec | None:
    if isinstance(spec, str):
        # What else is wrong with a spec is said where an encoder is made of it.
        return parse(spec, "encoder") if spec.partition(",")[0].rpartition("=")[2].strip().startswith(SIGN) else None
    return spec if isinstance(spec, Spec) else None


@cache
def _sets() -> dict[str, EncoderSet]:
    text = files("embassay.data").joinpath("encoder_sets.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)
    return {
        name: EncoderSet(name, entry["title"], tuple(Member(**member) for member in entry["encoders"]))
        for name, entry in found.items()
    }
