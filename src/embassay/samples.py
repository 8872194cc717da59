"""The sample shapes, and which samples are independent of each other.

A shape is a frozen dataclass. What every shape has is the :class:`Sample` protocol: an id that stays the
same between runs, a unit of independence, its texts with their roles, and its fields for people to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

Role = Literal["text", "query", "document"]
"""How a text is used: a model may put another prompt before each."""
Text = tuple[Role, str]


class Sample(Protocol):
    """What all sample shapes have in common."""

    @property
    def id(self) -> str:
        """A name that is unique in the corpus and the same in every run."""
        ...

    @property
    def unit(self) -> str:
        """The key of the unit of independence that the sample itself belongs to."""
        ...

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the texts that have to be encoded, each with its role."""
        ...

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for people."""
        ...


@dataclass(frozen=True)
class Choice:
    """An input and three candidates, one of which means the same (shape ``choice``).

    Attributes
    ----------
    antonym
        The input with only one word replaced by its opposite: means the contrary.
    polarity
        The input with only the negation put in or taken out: means the contrary.
    paraphrase
        Both changes at once: means the same.
    part_of_speech, pair
        What the replaced word is, and the two words, alphabetically, joined by an en dash.
    negation
        The negation pattern (``not``, ``never`` …), empty where it is not known.
    """

    id: str
    input: str
    antonym: str
    polarity: str
    paraphrase: str
    part_of_speech: str
    pair: str
    negation: str = ""

    @property
    def unit(self) -> str:
        """The entry itself; entries that share a sentence are merged by :func:`independent_units`."""
        return self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return input, antonym, polarity and paraphrase, all as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the four sentences by name."""
        return {
            "input": self.input,
            "antonym": self.antonym,
            "polarity": self.polarity,
            "paraphrase": self.paraphrase,
        }


@dataclass(frozen=True)
class MinimalPairs:
    """An original and its one-word edits (shape ``minimal_pairs``).

    Attributes
    ----------
    edits
        (name, text) of each edit that there is; names are those of :data:`ALL_EDITS`.
    group
        The key of the unit that it belongs to; its own id where empty.
    """

    id: str
    original: str
    edits: tuple[tuple[str, str], ...]
    group: str = ""

    @property
    def unit(self) -> str:
        """Its group, or itself."""
        return self.group or self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the original and its edits, all as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the original and the edits by name."""
        return {"original": self.original, **dict(self.edits)}


EDITS = ("synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym")
"""One word replaced by a synonym, an antonym, its misspelling, another word that fits; the main verb negated, the
chosen word negated (or a negation of it removed). Those of HEROS."""
EXTRA_EDITS = ("random_word", "number", "entity", "role_swap")
"""Another word of the corpus where there is no masked language model; and, not in HEROS: one numeral changed, one name
replaced by another of its kind, subject and object exchanged."""
ALL_EDITS = (*EDITS, *EXTRA_EDITS)


@dataclass(frozen=True)
class Composition:
    """Two sentences and what a set operation makes of them (shape ``composition``).

    Attributes
    ----------
    operator
        ``overlap`` (what both say), ``difference`` (what a says and b does not) or ``union`` (what either says).
    group
        The key of the unit, a document for example; its own id where empty.
    mirrored
        True for the difference b − a of a sample whose a − b is there too; a and b are exchanged in it.
    ratings
        What people gave it, 0 to 4, one number for each annotator.
    """

    id: str
    operator: Operator
    a: str
    b: str
    target: str
    group: str = ""
    mirrored: bool = False
    ratings: tuple[float, ...] = ()

    @property
    def unit(self) -> str:
        """Its group, or itself."""
        return self.group or self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return a, b and the target, all as plain texts."""
        return tuple(("text", text) for text in (self.a, self.b, self.target))

    def fields(self) -> Mapping[str, str]:
        """Return the three sentences by name."""
        return {"a": self.a, "b": self.b, self.operator: self.target}


Operator = Literal["overlap", "difference", "union"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True)
class Pair:
    """Two sentences and how similar people find them (shape ``pairs``).

    Attributes
    ----------
    score
        The human score, larger is more similar; None where there is none.
    subset
        A part of the corpus that it belongs to, a genre for example; empty for none.
    """

    id: str
    first: str
    second: str
    score: float | None
    subset: str = ""

    @property
    def unit(self) -> str:
        """The pair itself; pairs that share a sentence are merged by :func:`independent_units`."""
        return self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return both sentences as plain texts."""
        return ("text", self.first), ("text", self.second)

    def fields(self) -> Mapping[str, str]:
        """Return both sentences by name, and the score where there is one."""
        score = {} if self.score is None else {"score": f"{self.score:g}"}
        return {"first": self.first, "second": self.second, **score}


@dataclass(frozen=True)
class Question:
    """A question and the documents that answer it (shape ``retrieval``).

    Attributes
    ----------
    right
        Ids of the documents that answer it; none for a question that the documents do not answer.
    gains
        How good each of them is, 1 or more; all 1 where empty.
    units
        The keys of the units that it belongs to: an article, or its right documents; its own id where empty.
    """

    id: str
    question: str
    right: tuple[str, ...]
    gains: tuple[int, ...] = ()
    units: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The first of its units, or itself."""
        return self.units[0] if self.units else self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the question, as a query; documents are texts of the corpus."""
        return (("query", self.question),)

    def fields(self) -> Mapping[str, str]:
        """Return the question, and the ids of the right documents."""
        return {"question": self.question, "right": ", ".join(self.right) or "(none: not answered by the documents)"}


@dataclass(frozen=True)
class Document:
    """A document that can be found: it is as near to a question as its nearest passage.

    Attributes
    ----------
    passages
        Its text, whole or cut into parts, one at least.
    """

    id: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """A text of one of two corpora that are set side by side (shape ``two``).

    Attributes
    ----------
    side
        Which of the two: ``domain`` or ``general``.
    group
        The key of the unit, its document for example; its own id where empty.
    """

    id: str
    side: Side
    role: Role
    text: str
    group: str = ""

    @property
    def unit(self) -> str:
        """Its group, or itself."""
        return self.group or self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return its text in its role."""
        return ((self.role, self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the text by its side."""
        return {self.side: self.text}


Side = Literal["domain", "general"]


@dataclass(frozen=True)
class Grouped:
    """A sentence of a group that means one thing (shape ``groups``).

    Attributes
    ----------
    group
        The key of its group, which is also its unit of independence.
    """

    id: str
    text: str
    group: str

    @property
    def unit(self) -> str:
        """Its group; groups that share a sentence are merged by :func:`independent_units`."""
        return self.group

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the sentence as a plain text."""
        return (("text", self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the sentence and the name of its group."""
        return {"sentence": self.text, "group": self.group}


def independent_units(samples: Sequence[Sample]) -> NDArray[np.int64]:
    """Number the units of independence, merging those that share a text.

    Two samples depend on each other when they have a unit key in common or share a text, in whatever role;
    units are the connected components of that relation. Documents that nobody asks for join nothing.

    Returns
    -------
    (n,) integers from 0, in the order in which the units are first seen.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes: dict[tuple[str, str], int] = {}
    edges = [
        (row, nodes.setdefault(key, len(nodes)))
        for row, sample in enumerate(samples)
        for key in [*(("unit", key) for key in _keys(sample)), *(("text", text) for _, text in sample.texts())]
    ]
    if not edges:
        return np.zeros(0, dtype=np.int64)
    row, col = np.array(edges).T
    size = len(samples) + len(nodes)
    graph = coo_array((np.ones(len(row), dtype=np.int8), (row, col + len(samples))), shape=(size, size))
    component = connected_components(graph, directed=False)[1][: len(samples)]
    _, first, code = np.unique(component, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code].astype(np.int64)


def closure(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the group of each sentence that stands in a pair: the smallest number among those that it is joined to.

    Groups are the connected components of the pairs, their symmetric and transitive closure (White et al. 2015,
    section 4.1). A pair that stands twice, or joins a sentence with itself, adds nothing.

    Parameters
    ----------
    pairs
        Numbers of sentences that mean the same, from 0 and below 2**63.

    Returns
    -------
    The number of the group by the number of the sentence, ascending.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not pairs:
        return {}
    numbers, places = np.unique(np.array(pairs, dtype=np.int64), return_inverse=True)
    first, second = places.reshape(-1, 2).T
    shape = (len(numbers), len(numbers))
    graph = coo_array((np.ones(len(first), dtype=np.int32), (first, second)), shape=shape)
    component = connected_components(graph, directed=False)[1]
    # The numbers ascend, so the first of a component is its smallest.
    smallest = np.unique(component, return_index=True)[1]
    return dict(zip(numbers.tolist(), numbers[smallest[component]].tolist(), strict=True))


def _keys(sample: Sample) -> tuple[str, ...]:
    """Return the keys of the units that a sample belongs to: one, or several that it joins."""
    return (isinstance(sample, Question) and sample.units) or (sample.unit,)
