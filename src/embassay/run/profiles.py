"""Profiles: which diagnostics run where none is named with ``-d``. One table for all of them."""

from __future__ import annotations

from dataclasses import dataclass

from embassay.core.errors import UnknownNameError
from embassay.core.plugins import DIAGNOSTICS


@dataclass(frozen=True)
class Profile:
    """A named choice of diagnostics.

    Attributes
    ----------
    purpose
        Its purpose, in a few words.
    diagnostics
        Specs, as ``-d`` takes them. Those that fit no corpus of the run are left out.
    with_others
        Whether the diagnostics of other packages run too.
    """

    purpose: str
    diagnostics: tuple[str, ...]
    with_others: bool = False


DEFAULT = "default"
PROFILES = {
    # Each diagnostic answers one question about the encoder that matters for a choice.
    DEFAULT: Profile(
        "choosing an encoder",
        ("answers", "composition", "localization", "minimal_pairs", "negated_antonyms", "retrieval", "similarity"),
        with_others=True,
    ),
    # Whether the right document is found, and which changes of meaning the ranking does not notice.
    "search": Profile("search and RAG", ("retrieval", "answers", "negated_antonyms", "minimal_pairs", "similarity")),
    # Whether a cosine separates paraphrases from texts that only look alike.
    "dedup": Profile("finding duplicates", ("similarity", "localization", "minimal_pairs", "negated_antonyms")),
    # A classifier needs groups that a linear boundary separates, in as many dimensions as the texts use.
    "classification": Profile("classifying and clustering", ("localization", "similarity", "isotropy")),
    # All that is computed of one corpus; the run takes several times as long.
    "research": Profile(
        "every figure that the papers have of one corpus",
        (
            "answers",
            "composition",
            "isotropy",
            "localization",
            "minimal_pairs",
            "negated_antonyms",
            "retrieval,transforms=all,paper=true",
            "similarity",
        ),
        with_others=True,
    ),
}


def diagnostics_of(profile: str) -> list[str]:
    """Return the specs of a profile's diagnostics, in alphabetical order of their names.

    Raises
    ------
    UnknownNameError
        If there is no such profile.
    """
    if profile not in PROFILES:
        raise UnknownNameError("profile", profile, PROFILES)
    chosen = PROFILES[profile]
    return sorted((*chosen.diagnostics, *(DIAGNOSTICS.other_names() if chosen.with_others else ())))
