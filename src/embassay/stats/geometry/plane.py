"""The plane that two vectors a and b span, and the projection of a third vector t on it.

Bansal et al. (2025), criteria C2, C5 and C6: u₁ = a/‖a‖, u₂ is the part of b orthogonal to u₁, scaled to length 1, and
p = (t·u₁)u₁ + (t·u₂)u₂ is the projection of t. All angles are in radians.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.stats.geometry.closeness import Floats, dense_blocks, paired_dot

PARALLEL = 1e-6
"""Two vectors whose angle is closer than this to 0 or π (radians) span no plane."""
ROUNDING = 1e-14
"""A component smaller than this share of its vector's length is rounding error."""
VANISHED = 1e-6
"""A projection shorter than this share of its vector has no direction."""


@dataclass(frozen=True)
class Plane:
    """The projections of n vectors t on the planes of a and b; (n,) each, NaN where there is no plane or projection.

    Attributes
    ----------
    angle
        θ(a, b) in (0, π).
    from_a, from_b
        θ(a, p) and θ(b, p) in [0, π].
    position
        τ = φ(p)/θ(a, b), φ the signed angle in the plane from a towards b: 0 at a, 1 at b, in (0, 1) between them,
        negative on the other side of a. Not in the paper, whose two angles do not say on which side of a p is.
    share
        ‖p‖/‖t‖ in [0, 1]. Not in the paper: where it is near 0, t is nearly orthogonal to the plane, and the direction
        of its projection means little.
    norm_ratio
        ‖a‖/‖b‖, above 0; NaN where either vector is zero.
    """

    angle: Floats
    from_a: Floats
    from_b: Floats
    position: Floats
    share: Floats
    norm_ratio: Floats


def project(a: Any, b: Any, t: Any) -> Plane:
    """Project the rows of t on the planes of the rows of a and b.

    Parameters
    ----------
    a, b, t
        (n, d) dense or CSR, d at least 2.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if issparse(a):
            return _project_sparse(a, b, t)
        planes = [_project_block(*blocks) for _, blocks in dense_blocks(a, b, t)]
    columns = {}
    for field in fields(Plane):
        columns[field.name] = np.concatenate([np.empty(0), *(getattr(plane, field.name) for plane in planes)])
    return Plane(**columns)


def project_by_products(
    angle: Floats, along_a: Floats, along_b: Floats, norm_a: Floats, norm_b: Floats, norm_t: Floats
) -> Plane:
    """Project t on the planes of a and b, given θ(a, b), the products t·a and t·b and the three norms, (n,) each.

    The result equals that of :func:`project` up to the rounding of float64. Much faster for many t on the same planes.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x = along_a / norm_a
        # b/‖b‖ = cos θ·u₁ + sin θ·u₂, so t·u₂ = (t·b/‖b‖ − cos θ·t·u₁)/sin θ.
        rest = along_b / norm_b - np.cos(angle) * x
        # Otherwise the sign of a rounding error would decide on which side of a's line t lies.
        rest = np.where(np.abs(rest) <= ROUNDING * norm_t, 0.0, rest)
        y = rest / np.sin(angle)
        return _plane(angle, x, y, norm_a, norm_b, norm_t)


def _project_block(a: Floats, b: Floats, t: Floats) -> Plane:
    """Project dense rows with the unit vectors u₁ and u₂ of each plane."""
    norm_a = _norm(a)
    norm_b = _norm(b)
    u1 = a / norm_a[:, None]
    b1 = b / norm_b[:, None]
    # Kahan's formula for the angle of unit vectors; arccos loses digits where the cosine is nearly 1.
    angle = 2 * np.arctan2(_norm(u1 - b1), _norm(u1 + b1))
    rest = b1 - _dot(b1, u1)[:, None] * u1
    # Orthogonalise twice: rounding leaves a part along u₁ that may be as long as a short rest.
    rest = rest - _dot(rest, u1)[:, None] * u1
    u2 = rest / _norm(rest)[:, None]
    return _plane(angle, _dot(t, u1), _dot(t, u2), norm_a, norm_b, _norm(t))


def _project_sparse(a: Any, b: Any, t: Any) -> Plane:
    """Project sparse rows from their dot products alone, because u₂ would not be sparse."""
    norm_a = np.sqrt(paired_dot(a, a))
    norm_b = np.sqrt(paired_dot(b, b))
    norm_t = np.sqrt(paired_dot(t, t))
    cosine = np.clip(paired_dot(a, b) / (norm_a * norm_b), -1.0, 1.0)
    # For unit vectors ‖u − v‖ = √(2(1 − cos)) and ‖u + v‖ = √(2(1 + cos)).
    angle = 2 * np.arctan2(np.sqrt(1 - cosine), np.sqrt(1 + cosine))
    return project_by_products(angle, paired_dot(t, a), paired_dot(t, b), norm_a, norm_b, norm_t)


def _plane(angle: Floats, x: Floats, y: Floats, norm_a: Floats, norm_b: Floats, norm_t: Floats) -> Plane:
    """Return the projection with the coordinates x = t·u₁ and y = t·u₂, given θ(a, b) and the norms; (n,) each."""
    # Rounding may leave a projection that is longer than its vector.
    share = np.minimum(np.hypot(x, y) / norm_t, 1.0)
    signed_angle = np.arctan2(y, x)

    # The angle between two directions is at most π.
    difference = np.abs(signed_angle - angle)
    from_b = np.minimum(difference, 2 * np.pi - difference)

    ratio = norm_a / norm_b
    has_ratio = np.isfinite(ratio) & (ratio > 0)
    spans_plane = (angle > PARALLEL) & (angle < np.pi - PARALLEL)
    defined = spans_plane & (share > VANISHED)
    return Plane(
        angle=np.where(defined, angle, np.nan),
        from_a=np.where(defined, np.abs(signed_angle), np.nan),
        from_b=np.where(defined, from_b, np.nan),
        position=np.where(defined, signed_angle / angle, np.nan),
        share=np.where(defined, share, np.nan),
        norm_ratio=np.where(has_ratio, ratio, np.nan),
    )


def _dot(u: Floats, v: Floats) -> Floats:
    return np.asarray((u * v).sum(axis=1))


def _norm(v: Floats) -> Floats:
    return np.asarray(np.sqrt((v * v).sum(axis=1)))
