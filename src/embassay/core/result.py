"""The result of a run: rows, comparisons, verdicts, findings. Frozen dataclasses without NaN or infinity."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args
from urllib.parse import quote

from embassay.core.errors import SpecError, UnknownNameError, begun, one_line
from embassay.core.formatting import counted
from embassay.core.metric_key import MetricKey, matching

if TYPE_CHECKING:
    from altair import TopLevelMixin
    from polars import DataFrame

FEW_UNITS = 30
"""Under this many units a figure is marked "few units"."""
MIN_UNITS = 10
"""Under this many units a figure has no interval."""
ALPHA = 0.05
"""A difference is significant up to this p-value."""
ROUNDING = 1e-12
"""Values that differ by less are equal."""


@dataclass(frozen=True)
class FiniteRecord:
    """A record of numbers: what is undefined is None, never NaN, and an interval has two ends.

    A value may lie outside its interval: the percentiles of a bootstrap need not hold it.
    """

    def __post_init__(self) -> None:
        """Refuse NaN, infinity, and an interval whose ends are swapped or of which one is missing."""
        for name, value in vars(self).items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{name} must be finite or None: {self}")
        low, high = getattr(self, "low", None), getattr(self, "high", None)
        if (low is None) is not (high is None) or (low is not None and low > high):
            raise ValueError(f"low and high must be the ends of an interval, or both None: {self}")


@dataclass(frozen=True)
class Estimate(FiniteRecord):
    """A figure with its 95 % interval.

    Attributes
    ----------
    value
        None when nothing was defined; ``reason`` then says why.
    low, high
        None when there is no interval; ``reason`` then says why.
    items, units, undefined
        How many items and independent units it rests on, and how many items were left out.

    Examples
    --------
    >>> ea.Estimate(0.8, 0.7, 0.9, 120, 60, 0).units
    60
    """

    value: float | None
    low: float | None
    high: float | None
    items: int
    units: int
    undefined: int = 0
    reason: str | None = None

    def __post_init__(self) -> None:
        """Refuse a missing value without a reason as well."""
        super().__post_init__()
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")


@dataclass(frozen=True)
class OfMetric(FiniteRecord):
    """A record of one metric of a diagnostic on a corpus."""

    diagnostic: str
    corpus: str
    subset: str
    similarity_function: str
    condition: str
    metric: str

    @property
    def key(self) -> MetricKey:
        """Which metric it is of."""
        return MetricKey(
            self.metric, self.subset, self.similarity_function, self.condition, self.diagnostic, self.corpus
        )


@dataclass(frozen=True)
class Row(OfMetric):
    """One value with its metric, encoder, corpus and interval.

    Attributes
    ----------
    interval
        What ``low`` and ``high`` are: a 95 % ``confidence`` interval, the 95 % range over ``exams`` of 100 questions,
        or ``none``.

    Examples
    --------
    >>> result = ea.assay("bow", "handbook", "retrieval", baselines=False)
    >>> row = result.rows[0]
    >>> row.metric, row.subset, row.items
    ('Success@5', 'all', 120)
    """

    encoder: str
    value: float | None
    low: float | None
    high: float | None
    items: int
    units: int
    undefined: int
    reason: str | None
    signature: str
    interval: str = "confidence"


Family = Literal["step", "main", "lexical", "models", "all"]


@dataclass(frozen=True)
class Comparison(OfMetric):
    """Two encoders on the same items: ``difference`` is a − b, positive where a is higher. Each pair has one.

    Attributes
    ----------
    difference, low, high
        The difference of the two means with its 95 % interval, which contains 0 if and only if ``p_holm`` is above
        0.05. None where no item is defined for both, the interval where the items are too few.
    p, p_holm
        Two-sided p of exchanging items that share labels together, as it is and corrected for all tests of its family
        (step-down maximum); never 0. None where the items are too few to call one better or worse.
    pairs_in_family
        How many p-values the family has.
    family
        Why the pair is compared: ``step``, one is derived from the other; ``main``, the reference and the lexical
        baseline; ``lexical``, another model and the lexical baseline; ``models``, two models; ``all``, any other pair,
        only on request.
    step
        Of the family ``step``: what a adds to b.
    items, units
        The items that are defined for both, and their label sets.
    won, lost
        On how many items a has the higher and the lower value.
    smallest_difference
        Of a headline: the smallest true difference of this pair that would be detected in four cases of five; None
        where unknown.
    target, items_needed
        Of a headline: a difference that is clearly smaller, and about how many items it takes to detect that; None
        where the smallest is small already, or the number is out of reach.

    Examples
    --------
    >>> result = ea.assay(["bow", "hashing"], "opposites", "negated_antonyms", baselines=False)
    >>> one = result.comparisons[0]
    >>> one.a, one.b, one.metric, one.items
    ('bow', 'hashing', 'accuracy', 280)
    """

    a: str
    b: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    pairs_in_family: int = 0
    items: int = 0
    units: int = 0
    family: Family = "all"
    step: str = ""
    won: int = 0
    lost: int = 0
    smallest_difference: float | None = None
    target: float | None = None
    items_needed: int | None = None

    @property
    def is_significant(self) -> bool:
        """Whether one of the two is significantly better."""
        return self.p_holm is not None and self.p_holm <= ALPHA

    def of(self, encoder: str) -> Comparison:
        """Return the same seen from one of the two encoders, which becomes ``a``."""
        if encoder == self.a:
            return self

        # 0 − 0 is a 0.0, which is printed without a sign.
        difference, low, high = (
            None if value is None else 0.0 - value for value in (self.difference, self.high, self.low)
        )
        return replace(
            self, a=self.b, b=self.a, difference=difference, low=low, high=high, won=self.lost, lost=self.won
        )


def between(comparisons: Iterable[Comparison], encoder: str, other: str) -> Comparison | None:
    """Return how one encoder differs from another; None where they are not compared."""
    return next((one.of(encoder) for one in comparisons if {one.a, one.b} == {encoder, other}), None)


def worse_systems(comparisons: Iterable[Comparison]) -> dict[str, set[str]]:
    """Return by system those that it is shown to be worse than."""
    better = defaultdict[str, set[str]](set)
    for one in comparisons:
        if one.is_significant and one.difference:
            winner, loser = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
            better[loser].add(winner)
    return better


def best_set(values: Mapping[str, float], comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    """Return the systems that may be the best, by the verdicts on pairs; highest value first.

    It is no procedure of its own: a system is *out* if some verdict shows it to be worse than another one. The set
    holds those that are not out, and whose value is at least that of every system that is. So it never contradicts a
    printed verdict, and what joins a run moves it only by its own verdicts.

    Parameters
    ----------
    values
        The value of each system; higher is better.
    comparisons
        All of them: verdicts on other systems are ignored.
    """
    better = worse_systems(comparisons)
    out = {name for name in values if better.get(name, set()) & values.keys()}
    highest_out = max((values[name] for name in out), default=-math.inf)
    may_be_best = [name for name in values if name not in out and values[name] >= highest_out - ROUNDING]
    return tuple(sorted(may_be_best, key=lambda name: -values[name]))


def rank_intervals(names: Iterable[str], comparisons: Iterable[Comparison]) -> dict[str, tuple[int, int]]:
    """Return the first and the last rank of each of some systems that the verdicts on pairs leave possible.

    The first is 1 + the number of verdicts against it, the last the number of systems less the verdicts for it.
    """
    systems, better = set(names), worse_systems(comparisons)
    intervals = {}
    for name in systems:
        worse = [other for other in systems if name in better.get(other, ())]
        intervals[name] = (1 + len(systems & better.get(name, set())), len(systems) - len(worse))
    return intervals


@dataclass(frozen=True)
class Series:
    """Numbers for a figure.

    Attributes
    ----------
    kind
        How to draw ``data``: ``table``, ``curve``, ``histogram`` or ``matrix``.
    data
        What JSON can hold; numbers are finite or None. Of each kind:

        * ``table``: ``columns``, ``formats`` (of the columns), ``rows`` (lists of cells, one for each), ``source``;
        * ``curve``: ``x`` and ``y`` (names of the axes), ``at`` (places on x), ``lines``, each with ``encoder``,
          ``line`` (its name) and ``y`` (as many numbers as ``at``);
        * ``histogram``: ``x``, ``edges`` (one more than bars), ``panels``, each with ``encoder``, ``line`` and
          ``shares`` (of each bar, in [0, 1]);
        * ``matrix``: ``names``, ``numerator`` and ``denominator`` (square lists of whole numbers), ``diagonal`` (what
          the diagonal counts), ``note``.

    Examples
    --------
    >>> ea.Series("mine", "weather", "sizes", "table", {"columns": ["n"], "formats": ["count"], "rows": [[3]]}).kind
    'table'
    """

    diagnostic: str
    corpus: str
    name: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Example(FiniteRecord):
    """One item of a corpus, or what one encoder made of it.

    An item that is shown has a record of kind ``item`` without an encoder, which holds its texts, and one of kind
    ``outcome`` for each encoder.

    Attributes
    ----------
    encoder
        Empty for the item itself.
    texts
        By name; passages by their reference, the id of the document and the number of the passage: ``id#0``.
    values
        Numbers by name, for example the cosine with each candidate; undefined ones are missing.
    subset
        The part of the corpus that the item belongs to; empty for none.
    labels
        What the encoder chose and what was right, by name: an option, a group or the reference of a passage.
    correct
        Whether the encoder is right; None where that is undefined or depends on the order of ties.
    margin
        How much nearer what is right is than what is wrong, as the page of the diagnostic says: larger is better. None
        where it is undefined.

    Examples
    --------
    >>> result = ea.assay("bow", "handbook", "retrieval", examples=3, baselines=False)
    >>> sorted({example.kind for example in result.examples})
    ['item', 'outcome']
    """

    diagnostic: str
    corpus: str
    encoder: str
    item: str
    kind: str
    texts: Mapping[str, str]
    values: Mapping[str, float]
    subset: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    correct: bool | None = None
    margin: float | None = None


@dataclass(frozen=True)
class Verdict(OfMetric):
    """The verdict of one diagnostic on one corpus; :meth:`Result.differences` has the pairs that it follows from.

    Attributes
    ----------
    metric
        The headline that encoders are ranked by; empty where they are not ranked.
    items, units
        Those of the corpus, undefined ones included.
    candidates
        The requested encoders, highest value first, without baselines that were added automatically, and without those
        that have no value at all.
    baseline
        The lexical baseline; empty where there is none.
    reference
        The encoder that the others are compared with first; empty where there is none.
    best_set
        The base systems that may be the best, highest value first: no verdict shows them to be worse than another one,
        and their value is at least that of every system that is shown to be worse.
    left_out
        Candidates with a value that are not ranked: undefined for more than 5 % of the items, or constant on the rest.
    undefined_as_wrong
        By candidate its value when every undefined item counts as wrong; empty where nothing is right or wrong.
    reason
        Why there is no verdict; None where there is one, and where encoders are not ranked at all.
    effective_items
        How many independent items the items of the headline count as; None where that is not known.
    chance
        What blind choice would reach, where that is known.

    Examples
    --------
    >>> result = ea.assay(["bow", "hashing"], "opposites", "negated_antonyms", baselines=False)
    >>> verdict = result.verdict("negated_antonyms")
    >>> verdict.metric, verdict.candidates
    ('accuracy', ('bow', 'hashing'))
    """

    items: int
    units: int
    candidates: tuple[str, ...] = ()
    baseline: str = ""
    reference: str = ""
    best_set: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    undefined_as_wrong: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    effective_items: float | None = None
    chance: float | None = None

    @property
    def best(self) -> str | None:
        """The first of the best set; None where there is none."""
        return next(iter(self.best_set), None)

    @property
    def is_of_right(self) -> bool:
        """Whether items are right or wrong, so that a higher value is better, and the first is the best."""
        return bool(self.undefined_as_wrong)


def rows_of(key: MetricKey, rows: Iterable[Row]) -> dict[str, Row]:
    """Return by encoder the row of a metric: the first that its key covers."""
    chosen: dict[str, Row] = {}
    for row in rows:
        # Most rows are of other metrics, and a key takes a moment to make.
        if row.metric == key.metric and key.covers(row.key):
            chosen.setdefault(row.encoder, row)
    return chosen


Severity = Literal["high", "medium", "low"]
SEVERITIES = get_args(Severity)


@dataclass(frozen=True)
class Finding(FiniteRecord):
    """One statement that a run supports, in a sentence, with the figure behind it.

    Attributes
    ----------
    severity
        ``high``: a weakness that was shown, or what decides between encoders; ``medium``: what limits the result, or
        what is not shown either way; ``low``: anything else.
    sentence
        What was found, with its figures. It can be read alone: it names the encoder.
    title
        The same in a few words, without the encoder. Findings with one title on one corpus are shown together.
    diagnostic, corpus, encoder
        What the finding is about; empty where it is about several, or about the whole run.
    consequence
        What this means in use, in one sentence: in search, in RAG, for finding duplicates. May be empty.
    action
        What to do next, in one sentence; empty where there is nothing to do.
    metric, subset, condition
        The figure behind the sentence, as in ``Row``; empty where there is none.
    value, low, high
        The figure with its 95 % interval; None where there is none.
    p
        Where it rests on a test, corrected for its family.
    format
        How the figure is written; see ``layout.Format``.
    link
        The section of the report that has the evidence: ``#retrieval-mine``.

    Examples
    --------
    >>> ea.Finding("low", "bow truncates no text.", "Truncation", encoder="bow").severity
    'low'
    """

    severity: Severity
    sentence: str
    title: str
    diagnostic: str = ""
    corpus: str = ""
    encoder: str = ""
    consequence: str = ""
    action: str = ""
    metric: str = ""
    subset: str = ""
    condition: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    format: str = "percent"
    link: str = ""


Standing = Literal["shown", "not shown", "cannot be said", "counted"]
ANSWER_KINDS = {
    "use": "Use",
    "highest": "Highest",
    "instead": "Or",
    "undecided": "Undecided",
    "rejected": "Not",
    "headline": "",
    "step": "",
    "screened": "",
    "own": "",
    "misses": "Misses",
    "data": "Data",
    "about": "About",
}
"""By kind of answer, in the order of reading, the question that stands before it; empty where each has its own.

``use``, ``highest``, ``instead``, ``undecided`` and ``rejected`` decide; ``headline`` says whether an encoder is better
than chance; ``step`` and ``screened`` are about set-ups; ``own`` is what else the diagnostic says.
"""


@dataclass(frozen=True)
class Answer(Finding):
    """A finding that answers what everyone asks of a diagnostic: what to use, what not, and what limits that.

    Attributes
    ----------
    kind
        One of ``ANSWER_KINDS``: its place among the answers.
    question
        In a word or two, to stand before the sentence: ``Use``, ``Not``.
    standing
        Whether the procedure behind it shows it, does not show it, or cannot say; or whether it is only counted.

    Examples
    --------
    >>> result = ea.assay("bow", "handbook", "retrieval", baselines=False)
    >>> answer = result.answers[0]
    >>> answer.kind, answer.question, answer.encoder
    ('own', 'Cut-off', 'bow')
    """

    kind: str = "own"
    question: str = ""
    standing: Standing = "counted"


def anchor(diagnostic: str, corpus: str) -> str:
    """Return the id of a diagnostic's section on a corpus in the report; the same in every report."""
    return quote(f"{diagnostic}-{corpus}", safe="")


@dataclass(frozen=True)
class Failure:
    """A part of the run that failed; the others finished.

    Attributes
    ----------
    encoder
        Empty where a diagnostic failed on the scores of all encoders.
    diagnostic, corpus
        Empty where the encoder itself failed.
    reason
        One line.
    """

    encoder: str
    diagnostic: str
    corpus: str
    reason: str

    @property
    def sentence(self) -> str:
        """Who failed, on what, and why."""
        where = f"{self.diagnostic} on {self.corpus}" if self.diagnostic else ""
        return f"{', '.join(filter(None, (self.encoder, where)))}: {self.reason}"


CHANGES = ("int8", "binary", "dtype", "dim", "prompt", "passages", "server", "export")
"""What a candidate may have that is another than that of the candidate which it is derived from.

The quantisation of vectors, the precision of weights, the number of dimensions, a prompt, how documents are cut, the
service, or the runtime of an exported model.
"""
SCREENED = ("index", "int8", "binary", "dtype", "dim", "server", "export")
"""Steps after which the same documents should be found."""


@dataclass(frozen=True)
class EncoderFacts:
    """What is known of an encoder without running it, and stands in a result too.

    Attributes
    ----------
    spec
        The canonical spec, scheme first, without secrets.
    prompts
        The prompt of each role that has one.
    missing_prompts
        Which prompts the model's files name, where none of them is used; empty where they name none.
    similarity
        How it compares a query with a document.
    price
        Price per million tokens, where the user has said it.
    is_chance
        True for random vectors: such an encoder represents chance and is not a candidate.
    """

    spec: str
    revision: str = ""
    parameters: int | None = None
    max_tokens: int | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    missing_prompts: str = ""
    similarity: Literal["cosine", "dot"] = "cosine"
    price: float | None = None
    is_chance: bool = False


@dataclass(frozen=True, kw_only=True)
class EncoderRecord(EncoderFacts):
    """An encoder in a result.

    Attributes
    ----------
    fingerprint
        Of the encoder before it was fitted; the fitted one's is in the signatures.
    dim
        The number of dimensions; None where it depends on the corpus.
    truncated_in
        How many of the distinct passages of the documents are longer than ``max_tokens``, by corpus, where there are
        some; of a corpus without such documents, how many of its distinct texts.
    unknown_words
        The share of the tokens of the corpora's texts that it has no vector for; None where it knows no words.
    without_words
        How many texts have no token that it knows.
    setting
        The options that vary in the run, with their values: ``dim=64,passages=100``. They are the end of the name.
    vectors
        How many document vectors there are, by corpus, where there are documents.
    vector_bytes
        The size of one stored vector; None where the number of dimensions depends on the corpus.
    texts_in
        Of how many, by corpus, where some are longer.
    unread_in
        The share of the tokens of all passages that are after ``max_tokens`` of theirs, by corpus, where some are.
    parts
        The encoders of the run that it is built on or derived from, if it is.
    step
        What it adds to them, ``fusion``, ``reranker``, ``index`` or a word of another package, or what it changes, one
        of ``CHANGES``; empty where it adds and changes nothing.
    """

    name: str
    fingerprint: str
    dim: int | None
    baseline: bool
    unknown_words: float | None = None
    without_words: int | None = None
    truncated_in: Mapping[str, int] = field(default_factory=dict)
    setting: str = ""
    vectors: Mapping[str, int] = field(default_factory=dict)
    vector_bytes: int | None = None
    texts_in: Mapping[str, int] = field(default_factory=dict)
    unread_in: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    step: str = ""

    def index_bytes(self, corpus: str) -> int | None:
        """Return the bytes of all document vectors of a corpus, of one vector where there are no documents.

        None where they are not known.
        """
        if self.vector_bytes is None:
            return None
        return self.vectors.get(corpus, 1) * self.vector_bytes


ScreeningOutcome = Literal["same", "differs", "near", "few"]


@dataclass(frozen=True)
class Screening(FiniteRecord):
    """How much of what the exact search of its original finds a set-up lists, judged without labels.

    Attributes
    ----------
    corpus, encoder, base
        The labels of the corpus, of the set-up, and of its original.
    step
        What it changes: one of ``SCREENED``.
    overlap, low, high
        The share of the ten nearest documents of the original that are among its own ten, a mean over questions, with
        its 95 % interval; None under ``FEW_UNITS`` questions.
    questions
        How many there are, answered or not; equal texts count once.
    outcome
        ``same``: at least 95 % are listed; ``differs``: less; ``near``: neither is shown; ``few``: under ``FEW_UNITS``
        questions.
    more_questions
        How many more of them would decide, where it is near.
    settings
        What an index was set to, as far as that is known: ``lists=122, probes=1``.
    """

    corpus: str
    encoder: str
    base: str
    step: str
    overlap: float
    low: float | None
    high: float | None
    questions: int
    outcome: ScreeningOutcome
    more_questions: int | None = None
    settings: str = ""


@dataclass(frozen=True)
class Audit:
    """Counts of a corpus: items, independent units, duplicate rows, distinct texts.

    ``documents`` and ``passages`` are counted for retrieval; otherwise they are 0.
    """

    items: int
    units: int
    duplicates: int
    distinct_texts: int
    documents: int = 0
    passages: int = 0


@dataclass(frozen=True, kw_only=True)
class CorpusRecord(Audit):
    """A corpus in a result.

    Attributes
    ----------
    effective_units
        How many units would spread the items as evenly if each item were in one unit and all were of equal size.
    right_documents
        How many documents are right for some question.
    most_right
        The document that is right for most questions, with their number; empty where no document is right for several.
    document_noun
        What its documents are called in sentences: ``page``, ``paragraph``.
    mismatch
        How questions and documents differ in script, language or words, where that hinders all that matches words.
    loader
        What read it; empty for a corpus that was made in Python.
    settings
        The options that findings give advice on, where the user has set them: ``passages`` and ``about``.
    """

    name: str
    shape: str
    fingerprint: str
    effective_units: float
    licence: str
    source: str
    builtin: bool
    loader: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    right_documents: int = 0
    most_right: Mapping[str, int] = field(default_factory=dict)
    document_noun: str = "document"
    mismatch: str = ""


NamedRecord = TypeVar("NamedRecord", EncoderRecord, CorpusRecord)


def record_of(records: Iterable[NamedRecord], name: str) -> NamedRecord:
    """Return the record of the encoder or corpus with a name."""
    return next(record for record in records if record.name == name)


class ItemFrames(Protocol):
    """Makes frames of single items."""

    def frame(self, diagnostic: str) -> DataFrame:
        """Return one row for each item and encoder; see :meth:`Result.scores`."""

    def save(self, folder: str | Path, *, overwrite: bool) -> Path:
        """Write the run of these items; see :meth:`Result.save`."""


@dataclass(frozen=True, repr=False)
class Result:
    """Everything that a run found, in flat rows; the same for the same inputs, byte for byte.

    A notebook shows it as its scorecard and findings.

    Attributes
    ----------
    screenings
        How much of what the exact search of its original finds each index and each cheaper copy of a model lists.
    failed
        The encoders and diagnostics that failed; ``failures`` in ``result.json``.
    answers
        To what everyone asks of each diagnostic on each corpus: what to use, instead and not, then the others, those
        about the best encoder first.
    findings
        What no answer says, the most important one first.
    items
        What :meth:`scores` is made from; no part of ``result.json``. None for a result without its run.

    Examples
    --------
    >>> result = ea.assay(["bow", "tfidf"], "handbook", "retrieval", baselines=False)
    >>> result.rank("retrieval")["encoder"].to_list()
    ['tfidf', 'bow']
    """

    seed: int
    resamples: int
    encoders: tuple[EncoderRecord, ...] = ()
    corpora: tuple[CorpusRecord, ...] = ()
    rows: tuple[Row, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    series: tuple[Series, ...] = ()
    examples: tuple[Example, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    screenings: tuple[Screening, ...] = ()
    failed: tuple[Failure, ...] = ()
    answers: tuple[Answer, ...] = ()
    findings: tuple[Finding, ...] = ()
    schema: int = 6
    items: ItemFrames | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return counts in one line."""
        encoders, rows = counted(len(self.encoders), "encoder"), counted(len(self.rows), "row")
        line = f"<Result: {encoders} on {', '.join(corpus.name for corpus in self.corpora)}; {rows}>"
        return begun(one_line(line))

    @property
    def statements(self) -> tuple[Finding, ...]:
        """The answers and the findings together, the most important one first."""
        return tuple(sorted((*self.answers, *self.findings), key=lambda one: SEVERITIES.index(one.severity)))

    def with_statements(self, statements: Iterable[Finding]) -> Result:
        """Return the result with other answers and findings."""
        every = tuple(statements)
        return replace(
            self,
            answers=tuple(one for one in every if isinstance(one, Answer)),
            findings=tuple(one for one in every if not isinstance(one, Answer)),
        )

    def _repr_html_(self) -> str:
        """Return scorecard and findings for a notebook."""
        html: str = _renderers[-1]().html(self)
        return html

    @property
    def _with_items(self) -> ItemFrames:
        if self.items is None:
            raise SpecError("this result has no item scores; read the run's folder with ea.read(RUN)")
        return self.items

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the run into a folder, as ``embassay run -o`` does, and return its path.

        Parameters
        ----------
        overwrite
            Replace another run in the folder.

        Raises
        ------
        OutputError
            If the folder cannot be written to, or holds something else.
        SpecError
            If the result was not made by :func:`embassay.assay` in this process.
        """
        return self._with_items.save(folder, overwrite=overwrite)

    def scores(self, diagnostic: str) -> DataFrame:
        """Return one row for each item and encoder, as a polars frame.

        Columns: ``diagnostic``, ``corpus``, ``encoder``, ``item`` (the id in the file), ``unit`` (of independence),
        ``subset``, ``correct`` (null where undecided), ``margin`` (how clearly it is right, larger is better); then
        ``text_…``, ``label_…`` (what was right and what the encoder chose) and ``value_…`` (for example cosines), with
        the names that the diagnostic gives them. There are no texts from a run with ``--no-texts``.

        Raises
        ------
        UnknownNameError
            If the run has no such diagnostic, or it shows no single items.
        SourceError
            If a corpus of a run on disk cannot be read again.
        SpecError
            If the result was read without its run's folder.
        """
        return self._with_items.frame(diagnostic)

    def failures(self, encoder: str, diagnostic: str, *, against: str = "") -> DataFrame:
        """Return the rows of :meth:`scores` that an encoder is wrong about, the clearest failures first.

        Parameters
        ----------
        encoder
            Its label.
        against
            The label of another encoder: the rows on which the first is worse than that one, instead. What is
            undecided, such as a tie of the first document, lies between right and wrong.

        Raises
        ------
        UnknownNameError
            If there is no such encoder, or the diagnostic shows no single items.
        """
        import polars

        labels = [record.name for record in self.encoders]
        for label in filter(None, (encoder, against)):
            if label not in labels:
                raise UnknownNameError("encoder", label, labels)
        # 1 is right, 0 wrong and 0.5 undecided.
        grade = polars.col("correct").cast(float).fill_null(0.5)
        # What the other encoder has for the item. Without another one the limit is 0.5: only what is wrong is below.
        limit = grade.filter(polars.col("encoder") == against).first().over("corpus", "item").fill_null(0.5)
        is_failure = (polars.col("encoder") == encoder) & (grade < limit)
        return self.scores(diagnostic).filter(is_failure).sort("margin", nulls_last=True)

    def rank(self, diagnostic: str = "", corpus: str = "") -> DataFrame:
        """Return the candidates of a diagnostic, the highest value first, as a polars frame.

        Columns: ``encoder``, ``value``, ``low``, ``high`` (95 % interval), ``rank_low``, ``rank_high`` (all ranks hold
        together with 95 % confidence) and ``may_be_best``; these are null without a ranking.

        Parameters
        ----------
        diagnostic, corpus
            See :meth:`verdict`.

        Raises
        ------
        SpecError
            See :meth:`verdict`; also if the diagnostic does not rank encoders.
        """
        import polars

        verdict = self.verdict(diagnostic, corpus)
        if not verdict.metric:
            raise SpecError(f"{verdict.diagnostic} does not rank encoders")
        # Each base system is compared with each other one, in these families.
        pairs = [one for one in self.differences(verdict) if one.family in ("main", "lexical", "models")]
        base = {name for one in pairs for name in (one.a, one.b)} - set(verdict.left_out)
        ranks = {} if verdict.reason else rank_intervals(base.union(verdict.best_set), pairs)
        rows = self.headline(verdict)
        ranked = []
        for name in verdict.candidates:
            row, rank = rows[name], ranks.get(name, (None, None))
            may_be_best = name in verdict.best_set if verdict.best_set else None
            ranked.append((name, row.value, row.low, row.high, *rank, may_be_best))
        schema = {
            "encoder": str,
            "value": float,
            "low": float,
            "high": float,
            "rank_low": int,
            "rank_high": int,
            "may_be_best": bool,
        }
        return polars.DataFrame(ranked, schema=schema, orient="row")

    def plot(self, diagnostic: str = "", corpus: str = "") -> TopLevelMixin:
        """Return the first chart of a diagnostic in the report, as an Altair chart.

        Parameters
        ----------
        diagnostic, corpus
            See :meth:`verdict`.

        Raises
        ------
        SpecError
            See :meth:`verdict`; also if there is nothing to draw.
        """
        chart: TopLevelMixin = _renderers[-1]().chart(self, self.verdict(diagnostic, corpus))
        return chart

    def verdict(self, diagnostic: str = "", corpus: str = "") -> Verdict:
        """Return the verdict of a diagnostic.

        Parameters
        ----------
        diagnostic
            May be omitted where only one ran.
        corpus
            May be omitted where the diagnostic ran on one corpus only.

        Raises
        ------
        SpecError
            If there is no such diagnostic or corpus, or there are several and none is named.
        """
        chosen = [one for one in self.verdicts if diagnostic in ("", one.diagnostic) and corpus in ("", one.corpus)]
        if len(chosen) != 1:
            every = ", ".join(f"{one.diagnostic} on {one.corpus}" for one in chosen or self.verdicts)
            raise SpecError(f"name one diagnostic and one corpus: {every or 'there is none'}")
        return chosen[0]

    def headline(self, verdict: Verdict) -> dict[str, Row]:
        """Return by encoder the row of the metric that a verdict ranks by."""
        return rows_of(verdict.key, self.rows)

    def differences(self, verdict: Verdict) -> tuple[Comparison, ...]:
        """Return what pairs of encoders differ by on the metric that a verdict ranks by, each pair once."""
        return tuple(one for one in self.comparisons if one.metric == verdict.metric and verdict.key.covers(one.key))

    def figure(self, metric: str, encoder: str) -> Row:
        """Return the row of a metric and an encoder.

        Parameters
        ----------
        metric
            Its name, as for ``embassay check --floor``: ``Success@5``; where several diagnostics, corpora or conditions
            have it, more of ``retrieval/docs/Success@5[all]{whiten}``.
        encoder
            Its label; empty for a property of the corpus.

        Raises
        ------
        UnknownNameError
            If there is no such encoder, or it has no such metric or several.
        """
        row_of = {row.key: row for row in self.rows if row.encoder == encoder}
        if not row_of:
            raise UnknownNameError("encoder", encoder, {row.encoder for row in self.rows})
        headlines = {key for key in row_of for verdict in self.verdicts if verdict.key.covers(key)}
        matches = matching(metric, row_of, headlines)
        if len(matches) != 1:
            raise UnknownNameError("metric", metric, map(str, matches or {key.short for key in row_of}))
        return row_of[matches[0]]

    def table(self, diagnostic: str = "") -> DataFrame:
        """Return the rows as a polars frame, all or one diagnostic's.

        Raises
        ------
        UnknownNameError
            If there is no row of a diagnostic with this name.
        """
        import polars

        rows = [row for row in self.rows if diagnostic in ("", row.diagnostic)]
        if diagnostic and not rows:
            raise UnknownNameError("diagnostic", diagnostic, {row.diagnostic for row in self.rows})
        return polars.DataFrame(rows)


_renderers: list[Callable[[], ModuleType]] = []


def register_renderer(load: Callable[[], ModuleType]) -> None:
    """Let results be drawn by ``html`` and ``chart`` of the module that a function returns when one is drawn."""
    _renderers.append(load)
