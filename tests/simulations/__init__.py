"""Simulations with a known truth: how often intervals hold it, and whatever else the statistics promise.

A simulation is a function that yields rows; :func:`simulation` gives it a name and a title. Every module of this
folder may hold some. ``tools/simulate_statistics.py`` runs them and writes the table of ``docs/simulations.md``.

The designs are drawn in :mod:`simulations.designs`, by code that shares nothing with the statistics under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import sqrt
from pkgutil import iter_modules
from typing import TypeVar

import numpy as np


@dataclass(frozen=True)
class Row:
    """One simulated figure.

    Attributes
    ----------
    design
        What was drawn, in words.
    figure
        What was counted, such as "coverage".
    wanted
        The lowest and the highest value that is as it should be; of a rate, in [0, 1].
    seen
        The simulated figure.
    error
        The standard error of the simulation itself.
    accepted
        The lowest and the highest figure that a test accepts, but for three standard errors of the simulation. It is
        wider than ``wanted`` only for designs that are known to lie outside, which the page names.
    number
        Whether the figure is a number and not a rate.
    """

    design: str
    figure: str
    wanted: tuple[float, float]
    seen: float
    error: float
    accepted: tuple[float, float]
    number: bool = False

    @property
    def refused(self) -> bool:
        """Whether the figure is outside what is accepted, beyond three standard errors of the simulation."""
        least, most = self.accepted
        return self.seen + 3 * self.error < least or self.seen - 3 * self.error > most


@dataclass(frozen=True)
class Simulation:
    """A named simulation; ``rows`` runs it, and takes ``repeats`` where it may be run less often."""

    name: str
    title: str
    rows: Callable[..., Iterator[Row]]


SIMULATIONS: dict[str, Simulation] = {}
Rows = TypeVar("Rows", bound=Callable[..., Iterator[Row]])


def simulation(name: str, title: str) -> Callable[[Rows], Rows]:
    """Register a function that yields rows under a name; ``title`` heads what is printed."""

    def register(rows: Rows) -> Rows:
        SIMULATIONS[name] = Simulation(name, title, rows)
        return rows

    return register


def every_simulation() -> dict[str, Simulation]:
    """Return all simulations of this folder by name, in alphabetical order."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(SIMULATIONS.items()))


def rate(hits: int, repeats: int) -> tuple[float, float]:
    """Return a simulated rate with its standard error, which is never 0."""
    seen = hits / repeats
    # Agresti & Coull's centre: 2,000 of 2,000 is not known without error.
    centre = (hits + 2) / (repeats + 4)
    return seen, sqrt(centre * (1 - centre) / repeats)


def mean_of(values: Sequence[float]) -> tuple[float, float]:
    """Return a simulated mean with its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) / sqrt(len(values))
