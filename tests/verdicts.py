"""What candidates are compared with in a verdict that a test makes."""

from __future__ import annotations

from embassay.result import Difference, Opponent


def opponents(**roles):
    """Return opponents by role, each given as its name and, by candidate, the fields of its difference."""
    made = []
    for role, (name, gaps) in roles.items():
        differences = [Difference(candidate, **gap) for candidate, gap in gaps.items()]
        made.append(Opponent(role, name, tuple(differences)))
    return tuple(made)
