"""The plane of two vectors, and where a third one falls on it.

Bansal et al. (2025), criteria C2, C5 and C6: u₁ = a/‖a‖, u₂ = the normalised rest of b,
p = (t·u₁)u₁ + (t·u₂)u₂ is the projection of t on the plane of a and b. All angles are in radians.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.geometry.closeness import Floats, dense_blocks, paired_dot

PARALLEL = 1e-6
"""Nearer than this to 0 or π (radians), two vectors span no plane."""
ROUNDING = 1e-14
"""A share of a vector's length that is rounding."""
VANISHED = 1e-6
"""A projection shorter than this share of its vector has no direction."""


@dataclass(frozen=True)
class Plane:
    """Where t falls on the plane of a and b; each (n,), NaN where there is no plane or no projection.

    Attributes
    ----------
    angle
        θ(a, b) in (0, π).
    from_a, from_b
        θ(a, p) and θ(b, p) in [0, π].
    position
        τ = φ(p)/θ(a, b), φ the signed angle in the plane from a towards b: 0 is a, 1 is b, between them is
        between; negative is beyond a. (Not in the paper: one number instead of two, which tells the side.)
    share
        ‖p‖/‖t‖ in [0, 1]: the projection of a vector that is nearly orthogonal to the plane means little.
        (Not in the paper.)
    norm_ratio
        ‖a‖/‖b‖; NaN only for zero vectors.
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
    if issparse(a):
        with np.errstate(invalid="ignore", divide="ignore"):
            return Plane(*_placed(*_from_products(a, b, t)))
    names = [f.name for f in fields(Plane)]
    found = {name: np.empty(a.shape[0]) for name in names}
    for rows, blocks in dense_blocks(a, b, t):
        with np.errstate(invalid="ignore", divide="ignore"):
            for name, values in zip(names, _placed(*_from_vectors(*blocks)), strict=True):
                found[name][rows] = values
    return Plane(**found)


def project_by_products(
    angle: Floats, along_a: Floats, along_b: Floats, norm_a: Floats, norm_b: Floats, norm_t: Floats
) -> Plane:
    """Project t on the planes of a and b, given θ(a, b), the products t·a and t·b and the three norms, (n,) each.

    As :func:`project` up to the rounding of float64, and much faster for many t on the same planes.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x = along_a / norm_a
        above = along_b / norm_b - np.cos(angle) * x
        # What is rounding would otherwise decide on which side a vector opposite to a lies.
        above = np.where(np.abs(above) <= ROUNDING * norm_t, 0.0, above)
        y = above / np.sin(angle)
        return Plane(*_placed(angle, x, y, norm_a, norm_b, norm_t))


def _from_vectors(a: Floats, b: Floats, t: Floats) -> tuple[Floats, ...]:
    """Return θ(a, b), t·u₁, t·u₂ and the norms of a, b and t."""
    norm_a, norm_b, norm_t = (_norm(v) for v in (a, b, t))
    u1 = a / norm_a[:, None]
    b1 = b / norm_b[:, None]
    # Kahan's angle: exact also where the cosine is nearly 1.
    angle = 2 * np.arctan2(_norm(u1 - b1), _norm(u1 + b1))
    rest = b1 - (b1 * u1).sum(axis=1)[:, None] * u1
    rest = rest - (rest * u1).sum(axis=1)[:, None] * u1
    u2 = rest / _norm(rest)[:, None]
    return angle, (t * u1).sum(axis=1), (t * u2).sum(axis=1), norm_a, norm_b, norm_t


def _from_products(a: Any, b: Any, t: Any) -> tuple[Floats, ...]:
    """Return the same from the dot products alone, which are what is cheap where vectors are sparse."""
    norm_a, norm_b, norm_t = (np.sqrt(paired_dot(v, v)) for v in (a, b, t))
    cosine = np.clip(paired_dot(a, b) / (norm_a * norm_b), -1.0, 1.0)
    angle = 2 * np.arctan2(np.sqrt(1 - cosine), np.sqrt(1 + cosine))
    x, along_b = paired_dot(t, a) / norm_a, paired_dot(t, b) / norm_b
    return angle, x, (along_b - cosine * x) / np.sin(angle), norm_a, norm_b, norm_t


def _placed(angle: Floats, x: Floats, y: Floats, norm_a: Floats, norm_b: Floats, norm_t: Floats) -> tuple[Floats, ...]:
    """Return the fields of :class:`Plane`."""
    share = np.minimum(np.hypot(x, y) / norm_t, 1.0)
    turned = np.arctan2(y, x)
    from_b = np.abs(turned - angle)
    from_b = np.minimum(from_b, 2 * np.pi - from_b)
    defined = (angle > PARALLEL) & (angle < np.pi - PARALLEL) & (share > VANISHED)
    planar = (np.where(defined, v, np.nan) for v in (angle, np.abs(turned), from_b, turned / angle, share))
    ratio = norm_a / norm_b
    return *planar, np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan)


def _norm(v: Floats) -> Floats:
    return np.asarray(np.sqrt((v * v).sum(axis=1)))
