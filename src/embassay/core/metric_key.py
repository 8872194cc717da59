"""What a metric is called: one spelling, which options, messages and files share.

    [diagnostic/][corpus/]metric[subset]{condition}

``retrieval/docs/Success@5``, ``accuracy[part_of_speech:noun]``, ``Success@5{whiten}``. The subset ``all`` and an empty
condition are left out. Where a metric has several similarity functions, the braces name one before the condition:
``share[c1:TT]{l2,excess:eps0}``.

A user may leave out what is not needed to know which metric is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from embassay.core.errors import SpecError
from embassay.core.grouping import grouped
from embassay.core.plugins import DIAGNOSTICS

_SPELLING = re.compile(
    r"(?:(?P<place>.*?)/)?"  # the diagnostic and the corpus; the label of a corpus may hold anything
    r"(?P<metric>[^/\[\]{}]+)"
    r"(?:\[(?P<subset>.*)\])?"
    r"(?:\{(?:(?P<similarity_function>[^{},]*),)?(?P<condition>[^{}]*)\})?"
)


@dataclass(frozen=True)
class MetricKey:
    """Which metric a figure is of.

    Attributes
    ----------
    similarity_function, diagnostic, corpus
        Empty for any.
    """

    metric: str
    subset: str = "all"
    similarity_function: str = ""
    condition: str = ""
    diagnostic: str = ""
    corpus: str = ""

    @classmethod
    def parse(cls, name: str) -> MetricKey:
        """Return the key with a name. A single place in front is a diagnostic, or else a corpus.

        A text that is not spelled like this is a metric of that name.
        """
        match = _SPELLING.fullmatch(name)
        if match is None:
            return cls(name)
        place, metric, subset, similarity_function, condition = match.groups("")
        diagnostic, slash, corpus = place.partition("/")
        if not slash and diagnostic not in DIAGNOSTICS.names():
            diagnostic, corpus = "", place
        return cls(metric, subset or "all", similarity_function, condition, diagnostic, corpus)

    def __str__(self) -> str:
        """Return the name, which :meth:`parse` reads."""
        place = "".join(f"{part}/" for part in (self.diagnostic, self.corpus) if part)
        subset = "" if self.subset == "all" else f"[{self.subset}]"
        condition = self.condition
        if self.similarity_function or "," in condition:
            condition = f"{self.similarity_function},{condition}"
        if condition:
            condition = f"{{{condition}}}"
        return f"{place}{self.metric}{subset}{condition}"

    @property
    def within_diagnostic(self) -> MetricKey:
        """The key without diagnostic and corpus."""
        return replace(self, diagnostic="", corpus="")

    def covers(self, other: MetricKey) -> bool:
        """Return whether a figure is of this metric: what is empty for any may be another one there."""
        filled = replace(
            self,
            similarity_function=self.similarity_function or other.similarity_function,
            diagnostic=self.diagnostic or other.diagnostic,
            corpus=self.corpus or other.corpus,
        )
        return filled == other

    def may_mean(self, other: MetricKey) -> bool:
        """Return whether a user who writes this key may mean another one: an empty condition stands for any, too."""
        return replace(self, condition=self.condition or other.condition).covers(other)

    @property
    def short(self) -> MetricKey:
        """The key of metric and subset alone."""
        return MetricKey(self.metric, self.subset)


def matching(name: str, keys: Iterable[MetricKey], headlines: Collection[MetricKey] = ()) -> list[MetricKey]:
    """Return the keys that a name means, in all diagnostics and corpora; an empty list for an unknown name.

    Of several metrics of a diagnostic, the one that is named in full is meant, else the headline, else the one without
    a condition.

    Raises
    ------
    SpecError
        If it is not clear which metric of a diagnostic is meant; the message lists their names in full.
    """
    wanted = MetricKey.parse(name)
    matches = list[MetricKey]()
    for diagnostic, candidates in grouped(filter(wanted.may_mean, keys), lambda key: key.diagnostic).items():
        in_full = [key for key in candidates if wanted.similarity_function and key.condition == wanted.condition]
        of_headline = [key for key in candidates if key in headlines]
        without_condition = [key for key in candidates if not key.condition]
        meant = in_full or of_headline or without_condition or candidates
        names = dict.fromkeys(str(key.within_diagnostic) for key in meant)
        if len(names) > 1:
            raise SpecError(f"{diagnostic} has several metrics {name!r}; name one: {', '.join(names)}")
        matches += meant
    return matches


def shortest_name(key: MetricKey, keys: Collection[MetricKey], headlines: Collection[MetricKey] = ()) -> str:
    """Return the shortest name that means a metric and no other one of its diagnostic."""
    of_diagnostic = [other for other in keys if other.diagnostic == key.diagnostic]
    longest = key.within_diagnostic
    for shorter in (key.short, replace(longest, similarity_function="")):
        # The name may be that of several metrics.
        with suppress(SpecError):
            if key in matching(str(shorter), of_diagnostic, headlines):
                return str(shorter)
    return str(longest)
