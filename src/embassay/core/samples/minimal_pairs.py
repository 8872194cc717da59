"""An original and its one-word edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from annotated_types import MinLen

from embassay.core.samples.base import Sample, Words

Edit = Literal["synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym"]
"""One word replaced by a synonym, an antonym, its misspelling, another word that fits; the main verb negated, the
chosen word negated (or a negation of it removed). Those of HEROS."""
ExtraEdit = Literal["random_word", "number", "entity", "role_swap"]
"""Another word of the corpus, used without a masked language model. Not in HEROS: one numeral changed, one name
replaced by another of the same kind, subject and object swapped."""
EDITS: tuple[Edit, ...] = get_args(Edit)
ALL_EDITS: tuple[Edit | ExtraEdit, ...] = (*EDITS, *get_args(ExtraEdit))


@dataclass(frozen=True)
class MinimalPairs(Sample):
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

    original: Words
    edits: Annotated[tuple[tuple[Edit | ExtraEdit, Words], ...], MinLen(1)]
    group: str = ""

    def fields(self) -> Mapping[str, str]:
        """Return the original and the edits by name."""
        return {"original": self.original, **dict(self.edits)}

    def contradiction(self) -> str:
        """Return that an edit appears twice."""
        return "an edit appears twice" if len(dict(self.edits)) < len(self.edits) else ""
