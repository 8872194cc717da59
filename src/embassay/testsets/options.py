"""The options of ``embassay build``, declared once for the command line, for Python and for the data card.

Options of a single kind of test set are in the signature of its builder.
"""

# No annotations as strings here: cyclopts evaluates inherited ones in the module of the subclass.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from embassay.models.limits import Count, CountOrZero
from embassay.run.specs import Checked

Language = Literal["en", "any"]
ENGLISH, ANY = "en", "any"
Grammar = Literal["harper", "off"]
Auxiliary = Literal["keep", "drop"]
"""Whether ``does not know`` becomes ``does know``, as in HEROS and SemAntoNeg, or ``knows``."""


@dataclass(frozen=True, kw_only=True)
class BuildOptions(Checked):
    """All options that do not depend on the kind, as :func:`embassay.build` takes them.

    Attributes
    ----------
    count
        How many to build; all by default.
    seed
        Seed for all random numbers.
    licence
        What you may do with the sentences, for the data card.
    column
        The column of sentences, if it is not recognised by name.
    language
        en: sentences that are not English are refused; any: sentences of any language are used.
    """

    count: Count | None = None
    seed: CountOrZero = 0
    licence: str = ""
    column: str = ""
    language: Language = "en"


@dataclass(frozen=True)
class Order:
    """What is to be built, and from what.

    Attributes
    ----------
    kind
        The builder: ``minimal_pairs`` or ``minimal-pairs``.
    sources
        A file or a folder, or the sentences or documents themselves.
    options
        The options that do not depend on the kind.
    kind_options
        Those of the builder and of its reader, by name.
    aside
        Files in the folder of documents that are not documents: the output files.
    """

    kind: str
    sources: Path | Sequence[Any]
    options: BuildOptions = field(default_factory=BuildOptions)
    kind_options: Mapping[str, Any] = field(default_factory=dict)
    aside: Sequence[Path] = ()

    @property
    def source_name(self) -> str:
        """The name of the sources in messages and on the data card."""
        if isinstance(self.sources, Path):
            return str(self.sources)
        return "the given sources"
