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
        size = re.fullmatch(r"([\d.]+)([MB])", self.parameters)
        return round(float(size[1]) * MANY[size[2]]) if size else 0

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
        raise UnknownNameError("set of encoders", name, names(), "Write a set as -e @NAME.")
    return _sets()[name]


def named_in(spec: str | Spec) -> EncoderSet | None:
    """Return the set that a spec such as ``@heros`` names; None where it names a single encoder.

    Raises
    ------
    UnknownNameError
        If there is no set of that name.
    SpecError
        If a label or options were given with it.
    """
    if isinstance(spec, str):
        head = spec.partition(",")[0].rpartition("=")[2].strip()
        if not head.startswith(SIGN):
            return None  # errors in the spec of an encoder are raised where the encoder is made
        spec = parse(spec, "encoder")
    if not spec.head.startswith(SIGN):
        return None
    encoder_set = named(spec.head.removeprefix(SIGN))
    if spec.label or spec.options:
        raise SpecError(f"set of encoders {spec.head!r}: cannot have a label or options; its encoders have their own")
    return encoder_set


@cache
def _sets() -> dict[str, EncoderSet]:
    text = files("embassay.data").joinpath("encoder_sets.toml").read_text(encoding="utf-8")
    sets = {}
    for name, entry in tomllib.loads(text).items():
        members = tuple(Member(**member) for member in entry["encoders"])
        sets[name] = EncoderSet(name, entry["title"], members)
    return sets
