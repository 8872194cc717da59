"""What mteb tells tasks and models apart by: names, a hash of what scores depend on, and the facts of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from embassay.types import Draws, content_hash

if TYPE_CHECKING:
    from mteb.models import ModelMeta

NOT_IN_NAMES = r"[^A-Za-z0-9_.+-]"
"""Characters that a name of mteb cannot have."""


def valid_name(text: str) -> str:
    """Return a text as a name of mteb."""
    return re.sub(NOT_IN_NAMES, "_", text)


def pin_of(
    name: str, version: str, options: Mapping[str, object], fingerprint: str, draws: Draws, embassay: str, *more: str
) -> str:
    """Return an eight-digit hexadecimal hash of everything, except the model, that figures depend on.

    Parameters
    ----------
    name, version, options
        Of the diagnostic.
    fingerprint
        Of the corpus.
    embassay
        The version of Embassay.
    more
        Further values to include in the hash.
    """
    parts = [name, version, dict(options), fingerprint, draws.seed, draws.resamples, embassay, *more]
    return content_hash(parts)[:8]


def model_meta(name: str, fingerprint: str, similarity: str, facts: Mapping[str, object] | None = None) -> ModelMeta:
    """Return what mteb keeps about a model.

    Parameters
    ----------
    facts
        Further fields of mteb's own.
    """
    from mteb.models import ModelMeta
    from mteb.models.model_meta import ScoringFunction

    function = ScoringFunction.DOT_PRODUCT if similarity == "dot" else ScoringFunction.COSINE
    fields = {"name": f"embassay/{valid_name(name)}", "revision": fingerprint, "similarity_fn_name": function}
    return ModelMeta.create_empty(overwrites={**fields, **(facts or {})})
