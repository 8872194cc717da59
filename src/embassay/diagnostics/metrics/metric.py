"""What a metric is: declared once by its diagnostic, in ``METRICS``.

From the declarations follow rows and signatures, comparisons, ranks and the verdict, the item values that the gate and
plans test, floors and margins, and what the documentation lists; see :mod:`embassay.diagnostics.metrics.summary`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from embassay.core.errors import PluginError, SpecError, UnknownNameError, quoted
from embassay.core.layout import Column, Format
from embassay.core.metric_key import MetricKey
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Estimate
from embassay.stats.correlate import Kind as Correlation
from embassay.stats.units import Bools, Floats

Direction = Literal["higher", "lower", "neither"]
"""Which values of a metric are better."""
Kind = Literal["share", "mean", "mean over folds", "correlation", "computed"]
"""How a figure comes from items: see :class:`Metric`."""
Compared = Literal["always", "on request", "never", "within one encoder"]
"""When pairs of encoders are compared on a metric: see :class:`Metric`."""
WITHIN_ENCODER: Compared = "within one encoder"
CHOICES = {
    "kind": get_args(Kind),
    "better": get_args(Direction),
    "compared": get_args(Compared),
    "correlation": ("", *get_args(Correlation)),
    "format": ("", *get_args(Format)),
}
"""The fields of a metric that have one of a few values."""
WITH_OPTIONS = ("name", "subset", "says")
"""The texts of a metric that may have options in braces."""
OPTION = re.compile(r"\{\w+\}")
"""The value of an option in the name of a metric."""


@dataclass(frozen=True)
class Metric:
    """One metric of a diagnostic, or several that differ in their subset only.

    Attributes
    ----------
    name, subset, condition
        As in the rows. ``*`` stands for any text; an option of the diagnostic may stand in braces: ``Success@{k}``.
    kind
        ``share``, a mean of yes and no or of shares of them; ``mean``, of other numbers; ``mean over folds``, of shares
        that are averaged fold by fold, by the value ``fold`` of the scores; ``correlation``; or ``computed``: a figure
        that is no mean over items, such as a threshold.
    better
        Which values are better; there is no default.
    meaning
        What the metric says, in one line for a list.
    of
        The (n,) item values of an encoder, from the diagnostic's own view of its scores: NaN is undefined, ``ABSENT``
        an item that the metric is not about. None where the corpus, or one encoder, has no such items. Of a computed
        metric an :class:`~embassay.core.result.Estimate`, or several by subset. Without it, the diagnostic makes the
        rows itself.
    subsets
        The name and the (n,) mask of each subset; where given, ``subset`` is the pattern of their names.
    correlation
        Which correlation it is: ``spearman`` or ``pearson``.
    against
        The (n,) values that a correlation is with.
    headline
        Whether encoders are ranked by it: higher values are better, and it has a margin.
    compared
        Whether pairs of encoders are compared on it: ``always`` (the headline is), ``on request``, by the option
        ``compare=all``, or ``never``, unless a check has a margin for it. ``within one encoder`` if the values of two
        encoders have no common scale, such as similarities and BM25 scores: nothing takes a difference of them.
    margin
        An encoder counts as worse from this loss on; None where the diagnostic declares none.
    hub
        Its type on a model card of the Hugging Face hub, where it is stated beside the headline: empty for that of its
        own name, None where it is not stated.
    chance
        What blind choice would reach, where that is known: a number, or computed from the view.
    low, high
        The ends of the range, where there are any: by default 0 and 1 of shares, −1 and 1 of correlations. The gate
        takes the worse end for an item without a value.
    format
        How it is written; by default in percent where it is a share.
    undefined_is_wrong
        Whether an undefined item counts as a wrong one in the verdict; not for a metric without right and wrong, whose
        first encoder is called the highest instead of the best.
    similarity_function
        What the figure is based on; by default that of the scores.
    reason
        Why a figure is undefined, from the view and the estimate; by default as the estimate says.
    heading, says, level
        How sentences and the scorecard speak of it: its heading, by default the name; what its value means, as a clause
        with the field ``{value}``, or ``{of_100}`` and ``{document}`` of questions on documents, by default the value
        before the heading; and what its chance is called where that is not the value of a guess, such as ``0``.
    explanation, term
        For the glossary of the page, two sentences at most, and how the page writes the metric: by default its name.
        Without an explanation it is no term.
    source
        Who defined it, where that is not the paper of the diagnostic.

    Raises
    ------
    SpecError
        If no figure can come of it, with the name of the metric, what is wrong and what is allowed.
    """

    name: str
    subset: str = "all"
    condition: str = ""
    _: KW_ONLY
    kind: Kind
    better: Direction
    meaning: str = ""
    of: Callable[[Any], Floats | Estimate | Mapping[str, Estimate] | None] | None = None
    subsets: Callable[[Any], Iterable[tuple[str, Bools]]] | None = None
    correlation: Correlation | Literal[""] = ""
    against: Callable[[Any], Floats] | None = None
    headline: bool = False
    compared: Compared = "never"
    margin: float | None = None
    hub: str | None = None
    chance: float | Callable[[Any], float] | None = None
    low: float | None = None
    high: float | None = None
    format: Format | Literal[""] = ""
    undefined_is_wrong: bool = True
    similarity_function: str = ""
    reason: Callable[[Any, Estimate], str | None] | None = None
    heading: str = ""
    says: str = ""
    level: str = "chance"
    explanation: str = ""
    term: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a declaration of which no figure, or a wrong one, would come."""
        for problem in self._problems():
            raise SpecError(f"metric {quoted(self.name)}: {problem}")

    def _problems(self) -> Iterator[str]:
        """Yield what is wrong, and what is allowed instead."""
        for field, choices in CHOICES.items():
            value = getattr(self, field)
            # Of the kind "correlation" it must be said which one it is.
            if value not in choices or (field == self.kind and not value):
                yield f"{field} must be one of {', '.join(filter(None, choices))}; it is {quoted(value)}"
        for field in ("correlation", "against"):
            if (self.kind == "correlation") != bool(getattr(self, field)):
                yield f"kind 'correlation' needs {field}=, and no other kind has it; the kind is {self.kind!r}"
        ends = [end for end in self.range if end is not None]
        if not all(map(math.isfinite, ends)) or ends != sorted(set(ends)):
            yield f"low must be below high, both finite; they are {ends}"
        is_compared = self.headline or self.compared in ("always", "on request")
        if is_compared and (self.of is None or self.kind == "computed"):
            yield "what is compared needs of=, the values of items, and another kind than 'computed'"
        is_scale = self.better == "higher" and self.compared != WITHIN_ENCODER
        if self.headline and not (is_scale and 0 < (self.margin or 0) < math.inf):
            yield "a headline must be a metric of which higher values are better, with a margin above 0, on one scale"

    @property
    def is_share(self) -> bool:
        """Whether its values are shares, or differences of shares: percent and points."""
        return self.style in ("percent", "points")

    @property
    def of_shares(self) -> bool:
        """Whether its items are yes and no, or shares of them."""
        return self.kind in ("share", "mean over folds")

    @property
    def is_bounded(self) -> bool:
        """Whether it is a mean of values in [0, 1]."""
        return self.of_shares or (self.kind == "mean" and self.range == (0, 1))

    @property
    def style(self) -> Format:
        """How it is written."""
        if self.format:
            return self.format
        return "percent" if self.of_shares else "number"

    @property
    def column(self) -> Column:
        """Its column in a table of encoders."""
        return Column(
            self.heading or self.name,
            self.name,
            self.subset,
            self.condition,
            self.similarity_function,
            self.style,
            says=self.says,
            level=self.level,
            margin=self.margin or 0.0,
        )

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The lowest and the highest possible value; None where there is no such end."""
        low, high = {"correlation": (-1.0, 1.0), "share": (0.0, 1.0), "mean over folds": (0.0, 1.0)}.get(
            self.kind, (None, None)
        )
        return low if self.low is None else self.low, high if self.high is None else self.high

    def describes(self, name: str, subset: str, condition: str = "") -> bool:
        """Return whether it is the declaration of a row's metric."""
        return all(
            fnmatchcase(text, pattern_of(declared))
            for text, declared in ((name, self.name), (subset, self.subset), (condition, self.condition))
        )


@dataclass(frozen=True)
class Meaning:
    """What a diagnostic is about, for code that chooses between encoders: its ``MEANING``.

    Attributes
    ----------
    title
        What the headline metric says about a model, in a few words; empty where there is no headline.
    items
        What one item is called, in the plural.
    task
        The type of task on the Hugging Face hub, for model cards.
    about
        What it tests, where a finding of the whole run speaks of it: ``search``, ``negation``.
    instead_of
        The diagnostic whose choice it makes where it judges most items; empty for none.
    """

    title: str = ""
    items: str = "items"
    task: str = "sentence-similarity"
    about: tuple[str, ...] = ()
    instead_of: str = ""


def pattern_of(declared: str) -> str:
    """Return the pattern of a declared name: an option in braces may have any value."""
    # A bracket is a bracket, not the beginning of a set of characters.
    return OPTION.sub("*", declared).replace("[", "[[]")


def meaning_of(diagnostic: str) -> Meaning:
    """Return the ``MEANING`` of a diagnostic; of one without a headline if there is none or it is not installed."""
    try:
        module = DIAGNOSTICS.module(diagnostic)
    except UnknownNameError:
        return Meaning()
    meaning: Meaning = getattr(module, "MEANING", Meaning())
    return meaning


def declared_metrics(diagnostic: str) -> tuple[Metric, ...]:
    """Return the ``METRICS`` of a diagnostic, in their order; none where it declares none."""
    metrics: tuple[Metric, ...] = getattr(DIAGNOSTICS.module(diagnostic), "METRICS", ())
    return metrics


def known_metrics(diagnostic: str) -> tuple[Metric, ...]:
    """Return the ``METRICS`` of a diagnostic; none where it is not installed or does not work."""
    try:
        return declared_metrics(diagnostic)
    except (UnknownNameError, PluginError):
        return ()


def headline_metric(diagnostic: str) -> Metric | None:
    """Return the metric that a diagnostic ranks encoders by; None where it ranks none."""
    return next((metric for metric in declared_metrics(diagnostic) if metric.headline), None)


def ranking_diagnostics() -> dict[str, str]:
    """Return, for each shape of corpus, the diagnostic of this package that ranks encoders on it."""
    diagnostics = {}
    for name in sorted(DIAGNOSTICS.own_names()):
        if headline_metric(name) is not None:
            diagnostics[DIAGNOSTICS.module(name).create().shape] = name
    return diagnostics


def declared(key: MetricKey) -> Metric:
    """Return the declaration of a row's metric, whose key names the diagnostic: the first that describes it.

    Raises
    ------
    SpecError
        If the diagnostic declares nothing for it.
    """
    for metric in declared_metrics(key.diagnostic):
        if metric.describes(key.metric, key.subset, key.condition):
            return metric
    raise SpecError(
        f"diagnostic {key.diagnostic!r} does not say whether higher or lower values of {key.within_diagnostic} are "
        "better: its METRICS lack it"
    )


def known_metric(key: MetricKey) -> Metric | None:
    """Return the declaration of a row's metric; None where its diagnostic is not installed, or declares none for it."""
    try:
        return declared(key)
    except (SpecError, UnknownNameError):
        return None


def with_options(metrics: Iterable[Metric], **options: Any) -> tuple[Metric, ...]:
    """Return the metrics with the values of a diagnostic's options in their names: ``Success@{k}`` as ``Success@5``.

    Of several that get the same name, such as ``Success@{k}`` and ``Success@1`` with k = 1, the first is taken.
    """
    named = dict[tuple[str, str, str, str], Metric]()
    for metric in metrics:
        texts = {name: getattr(metric, name) for name in WITH_OPTIONS}
        for option, value in options.items():
            texts = {name: text.replace(f"{{{option}}}", str(value)) for name, text in texts.items()}
        key = (texts["name"], texts["subset"], metric.condition, metric.similarity_function)
        named.setdefault(key, replace(metric, **texts))
    return tuple(named.values())
