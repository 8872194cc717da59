"""The shapes of samples: a choice, a set operation, groups, minimal pairs, rated pairs, and two corpora side by side.

Questions on documents are in ``retrieval``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from annotated_types import Interval, MinLen, Predicate

from embassay.core.samples.base import Role, Sample, Text, Words

PartOfSpeech = Annotated[str, Predicate(str.isalpha), Predicate(str.islower)]
"""One word in lower case."""


@dataclass(frozen=True)
class Choice(Sample):
    """An input and three candidates, one of which means the same (shape ``choice``).

    Attributes
    ----------
    antonym
        The input with one word replaced by its opposite: means the opposite.
    polarity
        The input with a negation added or removed: means the opposite.
    paraphrase
        Both changes at once: means the same.
    part_of_speech, pair
        The part of speech of the replaced word; the two words in alphabetical order, joined by an en dash.
    negation
        The negation pattern (``not``, ``never`` …), empty if unknown.

    Examples
    --------
    >>> ea.load("opposites").samples[0].antonym
    'In the eyes of the law, the accountant is innocent.'
    """

    input: Words
    antonym: Words
    polarity: Words
    paraphrase: Words
    part_of_speech: PartOfSpeech
    pair: Words
    negation: str = ""

    def fields(self) -> Mapping[str, str]:
        """Return the four sentences by name."""
        return {
            "input": self.input,
            "antonym": self.antonym,
            "polarity": self.polarity,
            "paraphrase": self.paraphrase,
        }


Operator = Literal["overlap", "difference", "union"]
LIKERT = (0.0, 4.0)
"""The lowest and the highest rating."""
Rating = Annotated[float, Interval(ge=LIKERT[0], le=LIKERT[1])]
OPERATORS = get_args(Operator)


@dataclass(frozen=True)
class Composition(Sample):
    """Two sentences and the result of a set operation on them (shape ``composition``).

    Attributes
    ----------
    operator
        ``overlap`` (what both say), ``difference`` (what a says and b does not) or ``union`` (what either says).
    group
        The key of the unit, for example a document; if empty, the sample's id.
    mirrored
        True for the difference b − a if the corpus also has a − b; in this sample a and b are swapped.
    ratings
        Human ratings from 0 to 4, one for each annotator.

    Examples
    --------
    >>> ea.Composition("1", "overlap", "It rained, so we left.", "We left early.", "We left.").operator
    'overlap'
    """

    operator: Operator
    a: Words
    b: Words
    target: Words
    group: str = ""
    mirrored: bool = False
    ratings: tuple[Rating, ...] = ()

    def fields(self) -> Mapping[str, str]:
        """Return the three sentences by name."""
        return {"a": self.a, "b": self.b, self.operator: self.target}

    def contradiction(self) -> str:
        """Return that it is mirrored and no difference."""
        # A mirrored difference is b − a, beside a − b from the same two sentences.
        return "mirrored can be true only for a difference" if self.mirrored and self.operator != "difference" else ""


@dataclass(frozen=True)
class Grouped(Sample):
    """A sentence of a group with the same meaning (shape ``groups``).

    Attributes
    ----------
    group
        The key of its group, which is also its unit of independence.

    Examples
    --------
    >>> ea.Grouped("1", "It rained.", "weather").group
    'weather'
    """

    text: Words
    group: Words

    def texts(self) -> tuple[Text, ...]:
        """Return the sentence as a plain text."""
        return (("text", self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the sentence and the name of its group."""
        return {"sentence": self.text, "group": self.group}


def closure(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the group of each sentence of a pair, named after the smallest of its sentences.

    Groups are the connected components of the pairs, their symmetric and transitive closure (White et al. 2015,
    section 4.1). Repeated pairs, and pairs of a sentence with itself, are ignored.

    Parameters
    ----------
    pairs
        Numbers of sentences with the same meaning, at least 0.

    Returns
    -------
    The number of the group by the number of the sentence, ascending.
    """
    from scipy.cluster.hierarchy import DisjointSet

    sets = DisjointSet(number for pair in pairs for number in pair)
    for first, second in pairs:
        sets.merge(first, second)
    smallest = dict[int, int]()
    # In ascending order, so the first sentence of a group is its smallest.
    return {number: smallest.setdefault(sets[number], number) for number in sorted(sets)}


Edit = Literal["synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym"]
"""One word replaced by a synonym, an antonym, its misspelling, another word that fits; the main verb negated, the
chosen word negated (or a negation of it removed). Those of HEROS."""
ExtraEdit = Literal["random_word", "number", "entity", "role_swap"]
"""Another word of the corpus, used without a masked language model. Not in HEROS: one numeral changed, one name
replaced by another of the same kind, subject and object swapped."""
EDITS = get_args(Edit)
ALL_EDITS = (*EDITS, *get_args(ExtraEdit))


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


@dataclass(frozen=True)
class Pair(Sample):
    """Two sentences and their similarity as rated by people (shape ``pairs``).

    Attributes
    ----------
    score
        The human score; larger is more similar. None if there is none.
    subset
        The part of the corpus that it belongs to, for example a genre; empty for none.

    Examples
    --------
    >>> ea.Pair("1", "It rained.", "There was rain.", 0.9).score
    0.9
    """

    first: Words
    second: Words
    score: float | None
    subset: str = ""

    def texts(self) -> tuple[Text, ...]:
        """Return both sentences as plain texts."""
        return ("text", self.first), ("text", self.second)

    def fields(self) -> Mapping[str, str]:
        """Return both sentences by name, and the score if there is one."""
        score = {} if self.score is None else {"score": f"{self.score:g}"}
        return {"first": self.first, "second": self.second, **score}


Side = Literal["domain", "general"]


@dataclass(frozen=True)
class TwoText(Sample):
    """A text of one of two corpora that are compared (shape ``two``).

    Attributes
    ----------
    side
        Which corpus: ``domain`` or ``general``.
    group
        The key of the unit, for example its document; if empty, the sample's id.
    """

    side: Side
    role: Role
    text: Words
    group: str = ""

    def texts(self) -> tuple[Text, ...]:
        """Return its text in its role."""
        return ((self.role, self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the text by its side."""
        return {self.side: self.text}
