"""Figures that papers print: stored rows with their source, joined with those of a run by metric, subset and model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from embassay.core.claims import COUNT, INTERVAL, Template
from embassay.core.formatting import names
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
PUBLISHED = Template(
    "{paper} print {figures}.",
    "the paper has encoders of the run on this corpus",
    COUNT,
    title="Published figures beside those measured here",
    question="Published",
)


def published(name: str) -> Mapping[str, Any]:
    """Return what a paper prints, with its ``source``: the file ``papers/{name}.json``."""
    text = files("embassay.core.data").joinpath("papers", f"{name}.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def published_name(origin: Origin) -> str:
    """Return what papers call an encoder: as the user says, else as its spec does."""
    return origin.published or name_in_papers(origin.spec)


def name_in_papers(spec: str) -> str:
    """Return a spec as papers name a model of sentence-transformers; one with options is another model."""
    return spec.removeprefix("st:").removeprefix("sentence-transformers/")


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
    def measured(self) -> dict[tuple[str, ...], Row]:
        """The rows of the run by encoder, metric and subset; those of the corpus under an empty name."""
        return {(r.encoder, r.metric, r.subset): r for r in self.rows if not r.condition and r.value is not None}

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
        of_groups = [(metric, subset) for metric, subset in self.content.get("drawn", ())]
        order = [*((metric, subset) for _, _, metric, subset, _ in self.printed), *of_groups]
        place = {figure: place for place, figure in enumerate(order)}
        lines = [[self.groups.get(model, of), model, *figure, "published"] for of, model, *figure in self.printed]
        for (name, *figure), row in self.measured.items():
            group = self.groups.get(name, "")
            # What is drawn only says something by group.
            if (
                tuple(figure) in place
                and (not name or name in self.models)
                and (group or tuple(figure) not in of_groups)
            ):
                lines.append([group or self.corpus or row.corpus, name, *figure, row.value, "measured here"])
        lines.sort(key=lambda line: (place[line[2], line[3]], -line[4]))
        columns = dict.fromkeys(("group", "name", "metric", "subset"), "text")
        columns |= {"value": self.content["format"], "figure": "text"}
        if lines:
            source = self.content["source"]
            yield table(self.verdict.diagnostic, self.verdict.corpus, "published", columns, lines, source)

    def findings(self) -> Iterator[Finding]:
        """Yield the published figures beside those measured here, and those that differ."""
        value_of = {tuple(line[1:4]): line[4] for line in self.printed}
        joined = list[tuple[Row, str, float]]()
        for (name, *figure), row in self.measured.items():
            model = self.models.get(name, "")
            if model and (model, *figure) in value_of:
                joined.append((row, model, value_of[model, *figure]))
        paper = self.content["paper"]
        if joined:
            figures = names([_beside(*one) for one in joined])
            yield PUBLISHED.finding(self.origins[0], paper=paper, figures=figures)
        for row, model, value in joined:
            if row.low is not None and row.high is not None and not row.low <= value <= row.high:
                yield NOT_REPRODUCED.finding(
                    row,
                    encoder=row.encoder,
                    paper=paper,
                    published=f"{100 * value:.4g}",
                    what=f"{model} on {self.corpus}",
                    measured=written(row),
                )


def _beside(row: Row, model: str, value: float) -> str:
    """Write a figure beside the published one: ``31.9% for all-mpnet-base-v2 (here 31.9% [29.3, 34.6], ./mpnet)``."""
    label = "" if row.encoder == model else f", {row.encoder}"
    return f"{100 * value:.4g}% for {model} (here {written(row)}{label})"
