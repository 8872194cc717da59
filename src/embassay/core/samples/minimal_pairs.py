"""An original and its one-word edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.core.samples.base import Text


@dataclass(frozen=True)
class MinimalPairs:
    """An original and its one-word edits (shape ``minimal_pairs``).

    Attributes
    ----------
    edits
        (name, text) of each edit; the names are those of :data:`ALL_EDITS`.
    group
        The key of its unit; if empty, the sample's id.

    Examples
    --------
    >>> ea.load("edits").samples[0].edits[0]
    ('synonym', 'In March we stayed at a harbor hotel that was costly.')
    """

    id: str
    original: str
    edits: tuple[tuple[str, str], ...]
    group: str = ""

    @property
    def unit(self) -> str:
        """Its group, or its own id."""
        return self.group or self.id

    def texts(self) -> tuple[Text, ...]:
        """Return the original and its edits, all as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the original and the edits by name."""
        return {"original": self.original, **dict(self.edits)}


EDITS = ("synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym")
"""One word replaced by a synonym, an antonym, its misspelling, another word that fits; the main verb negated, the
chosen word negated (or a negation of it removed). Those of HEROS."""


EXTRA_EDITS = ("random_word", "number", "entity", "role_swap")
"""Another word of the corpus, used without a masked language model. Not in HEROS: one numeral changed, one name
replaced by another of the same kind, subject and object swapped."""


ALL_EDITS = (*EDITS, *EXTRA_EDITS)
