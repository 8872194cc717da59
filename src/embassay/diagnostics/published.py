"""Figures that papers print: stored rows with their source, joined with those of a run by metric, subset and model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from embassay.core.claims import INTERVAL, Template
from embassay.core.result import Finding, Row, Series, Verdict
from embassay.core.types import Origin
from embassay.diagnostics.findings import written

NOT_REPRODUCED = Template(
    "{encoder}: {paper} print {published}% for {what}; measured here: {measured}, an interval that does not "
    "contain it.",
    "the published share lies outside the interval",
    INTERVAL,
    title="A published figure is not reproduced",
    consequence="Compare with figures measured here, not with the published one.",
)


def published(name: str) -> Mapping[str, Any]:
    """Return what a paper prints, with its ``source``: the file ``papers/{name}.json``."""
    text = files("embassay.core.data").joinpath("papers", f"{name}.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def published_name(origin: Origin) -> str:
    """Return what papers call an encoder: as the user says, else as its spec does."""
    # Papers name models of sentence-transformers alone; one with options is another model.
    return origin.published or origin.spec.removeprefix("st:").removeprefix("sentence-transformers/")


def table(
    diagnostic: str,
    corpus: str,
    name: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[object]],
    source: str = "",
    note: str = "",
) -> Series:
    """Return a series that is drawn as a table.

    Parameters
    ----------
    columns
        The format of each column by its heading.
    source
        Source of the published figures in the table; empty if it has none.
    note
        What the table says on this corpus, in a sentence.
    """
    data = {"columns": tuple(columns), "formats": tuple(columns.values()), "rows": [list(row) for row in rows]}
    data |= {key: text for key, text in (("source", source), ("note", note)) if text}
    return Series(diagnostic, corpus, name, "table", data)


class Printed(NamedTuple):
    """A row of a paper; the model is empty where it describes a corpus."""

    corpus: str
    model: str
    metric: str
    subset: str
    value: float


@dataclass(frozen=True)
class Paper:
    """What a paper prints, beside the rows of a run.

    A row of the paper is a corpus, a model, a metric, a subset and a value; a condition follows its subset after a
    comma. One without a model describes a corpus; one of a model belongs to the paper's corpus and to no other, unless
    that corpus is not public.

    Attributes
    ----------
    name
        That of its file.
    verdict
        It names the corpus, and has the numbers of its items.
    rows
        All that is measured on the corpus.
    origins
        Those of the encoders that were asked for.
    """

    name: str
    verdict: Verdict
    rows: Sequence[Row]
    origins: Sequence[Origin]

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The file of the paper."""
        return published(self.name)

    @cached_property
    def corpus(self) -> str:
        """What the paper calls the corpus, by its content or the numbers of its items; empty where it has another."""
        known_by = {self.origins[0].corpus_fingerprint, f"{self.verdict.items} items in {self.verdict.units} units"}
        return next((name for name, marks in self.content["corpora"].items() if known_by & set(marks)), "")

    @cached_property
    def printed(self) -> list[Printed]:
        """Its rows of this corpus, those of corpora that are not public, and those that describe corpora."""
        # Nothing recognises a corpus that is not public.
        shown = {self.corpus, *(name for name, marks in self.content["corpora"].items() if not marks)}
        every = [Printed(*line) for line in self.content["rows"]]
        return [line for line in every if not line.model or line.corpus in shown]

    @cached_property
    def measured(self) -> dict[tuple[str, str, str], Row]:
        """The rows of the run by encoder, metric and subset; those of the corpus under an empty name."""
        row_of = dict[tuple[str, str, str], Row]()
        for row in self.rows:
            if row.value is not None:
                subset = f"{row.subset}, {row.condition}" if row.condition else row.subset
                row_of[row.encoder, row.metric, subset] = row
        return row_of

    @cached_property
    def models(self) -> dict[str, str]:
        """What the paper calls each encoder, if it has it."""
        called = self.content.get("models", {})
        return {o.encoder: called.get(o.spec) or published_name(o) for o in self.origins}

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of each of its models, and of each encoder: the user's own, else that of the paper; or empty."""
        group_of = {model: group for group, models in self.content.get("groups", {}).items() for model in models}
        return group_of | {o.encoder: o.group or group_of.get(self.models[o.encoder], "") for o in self.origins}

    def beside(self) -> Iterator[Series]:
        """Yield a line for each published figure, and for each that is measured and that the paper prints or draws."""
        drawn = [(metric, subset) for metric, subset in self.content.get("drawn", ())]
        printed = [(line.metric, line.subset) for line in self.printed]
        place = {figure: place for place, figure in enumerate([*printed, *drawn])}
        lines = list[tuple[Any, ...]]()
        for line in self.printed:
            lines.append((self.groups.get(line.model, line.corpus), *line[1:], "published"))
        for (name, metric, subset), row in self.measured.items():
            group = self.groups.get(name, "")
            is_requested = not name or name in self.models
            # What is drawn only says something by group.
            if is_requested and (metric, subset) in (place if group else printed):
                lines.append((group or self.corpus or row.corpus, name, metric, subset, row.value, "measured here"))
        lines.sort(key=lambda line: (place[line[2:4]], -line[4]))
        columns = dict.fromkeys(("group", "name", "metric", "subset"), "text")
        columns |= {"value": self.content["format"], "figure": "text"}
        if lines:
            source = self.content["source"]
            yield table(self.verdict.diagnostic, self.verdict.corpus, "published", columns, lines, source)
        if self.corpus and "by_group" in self.content:
            yield self.by_group(*self.content["by_group"])

    def by_group(self, metric: str, subset: str) -> Series:
        """Return the published values of a figure, a line for each group of models, the highest value first."""
        lines = []
        for group, models in self.content["groups"].items():
            of_group = [line for line in self.printed if line.model in models]
            values = [line.value for line in of_group if (line.metric, line.subset) == (metric, subset)]
            values.sort(reverse=True)
            lines.append({"encoder": "", "line": group, "at": list(range(1, len(values) + 1)), "y": values})
        data = {"x": "models of a group, the highest first", "y": metric, "at": [], "lines": lines}
        return Series(self.verdict.diagnostic, self.verdict.corpus, "published_by_group", "curve", data)

    def findings(self) -> Iterator[Finding]:
        """Yield the published figures that differ from those measured here."""
        value_of = {line[1:4]: line.value for line in self.printed if line.model}
        for (name, metric, subset), row in self.measured.items():
            model = self.models.get(name, "")
            value = value_of.get((model, metric, subset))
            if value is None or row.low is None or row.high is None or row.low <= value <= row.high:
                continue
            yield NOT_REPRODUCED.finding(
                row,
                encoder=row.encoder,
                paper=self.content["paper"],
                published=f"{100 * value:.4g}",
                what=f"{model} on {self.corpus}",
                measured=written(row),
            )
