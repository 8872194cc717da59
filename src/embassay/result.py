"""What comes out: estimates, flat rows, comparisons, verdicts. Frozen dataclasses, finite by construction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FEW_UNITS = 30
"""Under this many units a figure is marked "few units"."""
MIN_UNITS = 10
"""Under this many units a figure has no interval."""


def _refuse_undefined(figures: Any) -> None:
    """Raise ValueError where a dataclass holds NaN or infinity: what is undefined is None, with a reason."""
    bad = [name for name, v in vars(figures).items() if isinstance(v, float) and not math.isfinite(v)]
    if bad:
        raise ValueError(f"{', '.join(bad)} must be finite: {figures}")


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval.

    Attributes
    ----------
    value
        None when nothing was defined; ``reason`` then says why.
    low, high
        None when there is no interval; ``reason`` then says why.
    items, units, undefined
        How many items and independent units it rests on, and how many items were left out.
    """

    value: float | None
    low: float | None
    high: float | None
    items: int
    units: int
    undefined: int = 0
    reason: str | None = None

    def __post_init__(self) -> None:
        """Refuse NaN and infinity, and a missing value without a reason."""
        _refuse_undefined(self)
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")


@dataclass(frozen=True)
class Row:
    """One figure: which quantity, of whom, on what, how much, how sure."""

    diagnostic: str
    corpus: str
    encoder: str
    subset: str
    measure: str
    condition: str
    quantity: str
    value: float | None
    low: float | None
    high: float | None
    items: int
    units: int
    undefined: int
    reason: str | None
    signature: str


@dataclass(frozen=True)
class Comparison:
    """Two encoders on the same items: ``difference`` is a − b, positive where a is higher."""

    diagnostic: str
    corpus: str
    subset: str
    measure: str
    condition: str
    quantity: str
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    pairs_in_family: int
    items: int
    units: int

    def __post_init__(self) -> None:
        """Refuse NaN and infinity."""
        _refuse_undefined(self)


@dataclass(frozen=True)
class Series:
    """Numbers for a figure. ``kind`` says how to draw ``data``: points, table, histogram, curve, matrix."""

    diagnostic: str
    corpus: str
    name: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """One item with its texts, and what one encoder made of it."""

    diagnostic: str
    corpus: str
    encoder: str
    item: str
    kind: str
    texts: Mapping[str, str]
    values: Mapping[str, float]


@dataclass(frozen=True)
class Verdict:
    """What may be said after one diagnostic on one corpus.

    Attributes
    ----------
    quantity, subset, measure, condition
        The headline figure that encoders are ranked by; an empty quantity where they are not ranked.
    items, units
        Those of the corpus, undefined ones included.
    candidates
        The encoders that were asked for, highest value first; baselines that joined by themselves are none.
    undefined
        Those asked for that have no value at all.
    best, value, low, high
        The first candidate and its figure.
    not_separable
        The best, and the candidates whose difference from it is not significant.
    above
        Baselines that are significantly higher than the best candidate.
    chance
        What blind choice would reach, where that is known.
    smallest_difference
        The gap between two encoders that this corpus would show in four cases of five (power 80 %).
    smallest_units
        The number of units that this gap rests on.
    leader
        What being first is called: ``Best``, or ``Highest`` where higher is not always better.
    notes
        Findings in plain words, one sentence each.
    """

    diagnostic: str
    corpus: str
    quantity: str
    items: int
    units: int
    subset: str = "all"
    measure: str = ""
    condition: str = ""
    candidates: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    best: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    not_separable: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    chance: float | None = None
    smallest_difference: float | None = None
    smallest_units: int | None = None
    leader: str = "Best"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse NaN and infinity."""
        _refuse_undefined(self)


@dataclass(frozen=True)
class EncoderRecord:
    """An encoder as a result names it.

    Attributes
    ----------
    fingerprint
        Of the encoder before it was fitted; the fitted one's is in the signatures.
    truncated
        How many of the distinct texts are longer than ``max_tokens``; None where that is not known.
    similarity
        What it compares a query with a document by: ``cosine`` or ``dot``.
    price
        What a million tokens cost, where the user has said it.
    unknown_words
        The share of the tokens of the corpora's texts that it has no vector for; None where it knows no words.
    without_words
        How many texts have no token that it knows.
    """

    name: str
    spec: str
    fingerprint: str
    revision: str
    dim: int | None
    parameters: int | None
    prompts: Mapping[str, str]
    baseline: bool
    max_tokens: int | None = None
    truncated: int | None = None
    similarity: str = "cosine"
    price: float | None = None
    unknown_words: float | None = None
    without_words: int | None = None


@dataclass(frozen=True)
class CorpusRecord:
    """A corpus as a result names it.

    Attributes
    ----------
    effective_units
        How many units of equal size would spread the items as evenly: (Σ n_u)²/Σ n_u².
    documents, passages
        What can be found, where the items are questions; else 0.
    """

    name: str
    shape: str
    fingerprint: str
    items: int
    units: int
    effective_units: float
    duplicates: int
    distinct_texts: int
    licence: str
    source: str
    builtin: bool
    documents: int = 0
    passages: int = 0


@dataclass(frozen=True)
class Result:
    """Everything that a run found, in flat rows; the same for the same inputs, byte for byte."""

    seed: int
    resamples: int
    encoders: tuple[EncoderRecord, ...] = ()
    corpora: tuple[CorpusRecord, ...] = ()
    rows: tuple[Row, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    series: tuple[Series, ...] = ()
    examples: tuple[Example, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    schema: int = 1

    def table(self, diagnostic: str | None = None) -> Any:
        """Return the rows as a polars frame, all or one diagnostic's."""
        import polars

        rows = [vars(row) for row in self.rows if diagnostic in (None, row.diagnostic)]
        return polars.DataFrame(rows, schema=_FRAME, orient="row") if rows else polars.DataFrame(schema=_FRAME)


_FRAME = {name: {"str": str, "int": int}.get(kind.split(" ")[0], float) for name, kind in Row.__annotations__.items()}
