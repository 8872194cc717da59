"""Figures that papers print: stored rows with their source, joined with those of a run by metric, subset and model."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from statistics import mean, stdev
from typing import Any

from embassay.core.claims import COUNT, INTERVAL, Template
from embassay.core.formatting import names
from embassay.core.result import Finding, Row, Series, Verdict
from embassay.core.types import Origin
from embassay.diagnostics.findings import written
from embassay.diagnostics.metrics.metric import metric_of

NOT_REPRODUCED = Template(
    "{encoder}: {paper} print {published}% for {what}; measured here: {measured}, an interval that does not contain it.",
    "the published share lies outside the interval",
    INTERVAL,
    title="A published figure is not reproduced",
    consequence="Compare with figures measured here, not with the published one.",
)
PUBLISHED = Template(
    "{paper} print {figures}.",
    "the paper has encoders of the run on this corpus",
    COUNT,
    title="Published figures beside those measured here",
    question="Published",
)
MEASURED = "measured here"
NAMES = ("group", "name", "metric", "subset")
"""What a figure is of, in the table of published figures; a corpus has no group, so its own name stands there."""


def published(name: str) -> Mapping[str, Any]:
    """Return what a paper prints, with its ``source``: the file ``papers/{name}.json``."""
    text = files("embassay.core.data").joinpath("papers", f"{name}.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def published_name(origin: Origin) -> str:
    """Return what papers call an encoder: as the user or its weights say, else as its spec does."""
    return origin.published or name_in_papers(origin.spec)


def name_in_papers(spec: str) -> str:
    """Return a spec as papers name a model of sentence-transformers; one with options is another model."""
    return spec.removeprefix("st:").removeprefix("sentence-transformers/")


def groups_of(encoder_set: str) -> dict[str, str]:
    """Return the paper's class of each model of a set of encoders, by :func:`name_in_papers` of its spec."""
    text = files("embassay.core.data").joinpath("encoder_sets.toml").read_text(encoding="utf-8")
    members = tomllib.loads(text)[encoder_set]["encoders"]
    # The price of a service is no property of the model.
    return {name_in_papers(re.sub(r",price=[^,]+", "", member["spec"])): member["group"] for member in members}


def grouped_lines(
    members: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[float | None]]
) -> list[list[object]]:
    """Return lines of group, encoder and values; a group of several ends with means and standard deviations.

    Both are None where an encoder of the group has no value: without it they would describe another group. Encoders
    under an empty name are no group.

    Parameters
    ----------
    members
        The encoders of each group.
    values
        The values of each encoder, a column each.
    """
    lines = list[list[object]]()
    for group, encoders in members.items():
        rows = [values[encoder] for encoder in encoders]
        lines += [[group, encoder, *row] for encoder, row in zip(encoders, rows, strict=True)]
        if group and len(encoders) > 1:
            for name, statistic in (("mean", mean), ("standard deviation", stdev)):
                figures = [None if None in column else statistic(column) for column in zip(*rows, strict=True)]
                lines.append([group, f"{name} of {len(encoders)}", *figures])
    return lines


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
    texts = {key: text for key, text in (("source", source), ("note", note)) if text}
    data = {"columns": tuple(columns), "formats": tuple(columns.values()), "rows": [list(row) for row in rows]}
    return Series(diagnostic, corpus, name, "table", data | texts)


@dataclass(frozen=True)
class Paper:
    """What a paper prints, beside the rows of a run.

    A row of the paper is a corpus, a model, a metric, a subset and a value. One without a model describes a corpus; one
    of a model belongs to the paper's corpus and to no other.

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
    def printed(self) -> list[list[Any]]:
        """Its rows of this corpus, and those that describe corpora."""
        return [line for line in self.content["rows"] if not line[1] or line[0] == self.corpus]

    @cached_property
    def models(self) -> dict[str, str]:
        """What the paper calls each encoder, if it has it."""
        names_of_specs = self.content.get("models", {})
        return {o.encoder: names_of_specs.get(o.spec) or published_name(o) for o in self.origins}

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of each of its models, and of each encoder: the user's own, else that of the paper; or empty."""
        group_of = {model: group for group, models in self.content.get("groups", {}).items() for model in models}
        return group_of | {o.encoder: o.group or group_of.get(self.models[o.encoder], "") for o in self.origins}

    def series(self) -> Iterator[Series]:
        """Yield the encoders by group, and a line for each published and each measured figure."""
        diagnostic, corpus, source = self.verdict.diagnostic, self.verdict.corpus, self.content["source"]
        value_of = {(row.encoder, row.metric, row.subset): row.value for row in self.rows if not row.condition}
        members: dict[str, list[str]] = {group: [] for group in (*self.content.get("groups", ()), *self.groups.values())}
        for origin in self.origins:
            members[self.groups[origin.encoder]].append(origin.encoder)
        members.pop("", None)
        figures = [figure for figure in self.content.get("by_group", ()) if any((o.encoder, *figure) in value_of for o in self.origins)]
        values = {o.encoder: [value_of.get((o.encoder, *figure)) for figure in figures] for o in self.origins}
        if figures and (lines := grouped_lines(members, values)):
            headings = [(subset if subset != "all" else metric).replace("_", " ") for metric, subset in figures]
            style = metric_of(diagnostic, *figures[0]).style
            yield table(diagnostic, corpus, "by_group", {"group": "text", "encoder": "text", **dict.fromkeys(headings, style)}, lines, source)

        order = {(metric, subset): place for place, (*_, metric, subset, _) in enumerate(self.printed)}
        lines = [[self.groups.get(model, of), model, *line, "published"] for of, model, *line in self.printed]
        for (name, *figure), value in value_of.items():
            if tuple(figure) in order and value is not None:
                lines.append([self.groups.get(name) or self.corpus or corpus, name, *figure, value, MEASURED])
        lines.sort(key=lambda line: (order[line[2], line[3]], -line[4]))
        if lines:
            columns = {**dict.fromkeys(NAMES, "text"), "value": self.content["format"], "figure": "text"}
            yield table(diagnostic, corpus, "published", columns, lines, source)

    def findings(self) -> Iterator[Finding]:
        """Yield the published figures beside those measured here, and those that differ."""
        value_of = {tuple(line[1:4]): line[4] for line in self.printed}
        joined = list[tuple[Row, str, float]]()
        for row in self.rows:
            model = self.models.get(row.encoder, "")
            value = value_of.get((model, row.metric, row.subset))
            if model and value is not None and row.value is not None:
                joined.append((row, model, value))
        paper = self.content["paper"]
        if joined:
            figures = names([_beside(*one) for one in joined])
            yield PUBLISHED.finding(self.origins[0], paper=paper, figures=figures)
        for row, model, value in joined:
            if row.low is not None and row.high is not None and not row.low <= value <= row.high:
                fields = {"published": f"{100 * value:.4g}", "what": f"{model} on {self.corpus}", "measured": written(row)}
                yield NOT_REPRODUCED.finding(row, encoder=row.encoder, paper=paper, **fields)


def _beside(row: Row, model: str, value: float) -> str:
    """Write a figure beside the published one: ``31.9% for all-mpnet-base-v2 (here 31.9% [29.3, 34.6], ./mpnet)``."""
    label = "" if row.encoder == model else f", {row.encoder}"
    return f"{100 * value:.4g}% for {model} (here {written(row)}{label})"
