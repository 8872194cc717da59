"""What an object of another library says of itself: its model's name, and its settings without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from embassay.encoders.addresses import without_secrets

SECRET = re.compile(r"key|secret|passw|token$|tokens?_provider|auth|credential|header|cookie|cert", re.IGNORECASE)
"""Names of settings that may hold what must not be kept, nor hashed."""
SAFE_NAME = re.compile(r"[\w.@+-]+(/[\w.@+-]+){0,3}")
NAMED_BY = ("model_name", "model", "model_id", "deployment")
"""Where objects keep the name of their model."""
NAMELESS = ("unknown", "no_model_name/available")
"""What LlamaIndex and mteb call a model whose name they do not know."""
LEARNT = ("max_seq_length", "truncate_dim", "default_prompt_name", "prompts", "similarity_fn_name")
"""Settings that sentence-transformers keeps behind properties."""
PASSING = ("training",)
"""What changes with use and changes no vector: torch's modules are put out of training when they encode."""
DEPTH = 4
"""Levels of lists and mappings that are looked into."""
_NOTHING = object()


def own_name(thing: object) -> str:
    """Return the name of an object's model where it tells one that is a name, else of its class."""
    given = [getattr(thing, name, None) for name in NAMED_BY]
    given.append(getattr(getattr(thing, "model_card_data", None), "base_model", None))
    given.insert(0, getattr(getattr(thing, "mteb_model_meta", None), "name", None))
    found = (name for name in given if isinstance(name, str) and SAFE_NAME.fullmatch(name) and name not in NAMELESS)
    return next(found, type(thing).__name__)


def settings(thing: object) -> dict[str, Any]:
    """Return an object's settings that are plain values: texts, numbers, and lists and mappings of these.

    Left out are those whose name may stand for a secret, private ones, and in addresses the user, the password and
    what follows a question mark.
    """
    held = getattr(thing, "__dict__", {})
    own = {name: value for name, value in held.items() if not name.startswith("_") and name not in PASSING}
    own |= {name: getattr(thing, name, None) for name in LEARNT}
    found = _plain(own, DEPTH)
    return found if isinstance(found, dict) else {}


def _plain(value: object, depth: int) -> Any:
    """Return a value without what is not plain or may be secret; ``_NOTHING`` where nothing is left."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return repr(value)  # also where it is not finite
    if isinstance(value, str):
        return without_secrets(value)
    if depth and isinstance(value, Mapping):
        kept = {str(k): _plain(v, depth - 1) for k, v in value.items() if not SECRET.search(str(k))}
        return {k: v for k, v in kept.items() if v is not _NOTHING}
    if depth and isinstance(value, (list, tuple)):
        return [v for v in (_plain(part, depth - 1) for part in value) if v is not _NOTHING]
    return _NOTHING
