"""The gate: has a candidate of a run become worse than in a baseline?

Each candidate is compared with the encoder of the same label in the baseline, on the items that both have. The headline
metrics are tested with the margins of the user, else with what the items of the baseline can rule out; other metrics
only where the user gives a margin (:func:`~embassay.comparison.differences.losses`). A floor is compared with the value
of the run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.comparison.differences import MOST_UNDEFINED, Change, ColumnPair, gate_units, losses
from embassay.comparison.gate_words import out_of_reach, sentence
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.columns import ItemColumn, paired
from embassay.core.errors import InputError, SpecError, UnknownNameError
from embassay.core.formatting import counted
from embassay.core.grouping import grouped
from embassay.core.metric_key import MetricKey, matching, shortest_name
from embassay.core.result import Result
from embassay.core.types import Draws
from embassay.diagnostics.metrics.metric import declared
from embassay.stats.gate import resolution, whole_points
from embassay.stats.units import unit_codes

Outcome = Literal["pass", "regression", "inconclusive", "failed"]
Pages = Literal["given", "sampled"]
"""Whether the documents are all there are, or a sample of documents like these."""
ANCHOR = "anchor"
"""The folder in a baseline with the first baseline, which later ones do not replace."""
EXIT_CODES: dict[str, int] = {"pass": 0, "regression": 1, "failed": 3, "inconclusive": 0}
STRICT = 4
"""The exit code of a strict check that is inconclusive."""


@dataclass(frozen=True)
class Check:
    """The outcome of a check.

    Attributes
    ----------
    run, baseline
        The names of both.
    changes
        The tested metrics of the candidates.
    floors
        The values of the run beside the smallest, or largest, that they may have, which are their margins.
    failures
        What failed in the run, one sentence each.
    notes
        What was not checked, and what does not match, one sentence each.
    strict
        Whether it must exclude a loss of each margin to pass.
    """

    run: str
    baseline: str
    changes: tuple[Change, ...]
    floors: tuple[Change, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False

    @property
    def parts(self) -> tuple[Change, ...]:
        """The tested metrics and the floors."""
        return (*self.changes, *self.floors)

    @property
    def outcome(self) -> Outcome:
        """``failed``, ``regression``, ``inconclusive`` or ``pass``: the first that any part has."""
        if self.failures:
            return "failed"
        outcomes = {part.outcome for part in self.parts}
        if "regression" in outcomes:
            return "regression"
        return "inconclusive" if "inconclusive" in outcomes else "pass"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 a candidate failed; where it is inconclusive 0, or 4 if it is strict."""
        return STRICT if self.outcome == "inconclusive" and self.strict else EXIT_CODES[self.outcome]

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence for each failure, and for each metric and floor that does not pass."""
        failed = [f"failed: {failure}" for failure in self.failures]
        return (*failed, *(sentence(part) for part in self.parts if part.outcome != "pass"))

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each failure, metric and floor, first for what does not pass."""
        return (*self.reasons, *(sentence(part) for part in self.parts if part.outcome == "pass"))

    def __str__(self) -> str:
        """Return the sentences, one on each line."""
        return "\n".join(self.sentences)


def check(
    run: str | Path | Result,
    baseline: str | Path | Result,
    *,
    margins: Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    on: Sequence[str] = (),
    strict: bool = False,
    pages: Pages | None = None,
) -> Check:
    """Check a finished run against a baseline, as ``embassay check`` does.

    The headline metrics are tested with the margins of the baseline: those that ``embassay bless`` wrote into it, else
    what its items can rule out.

    Parameters
    ----------
    run
        The folder of the run, or the result of :func:`embassay.assay`.
    baseline
        What ``embassay bless`` has written, or another run: its folder or its result.
    margins
        By the name of a metric, the smallest loss of it that matters: 0.02 is 2 points of a share.
    floors
        By the name of a metric, the smallest value that it may have; for a metric of which lower is better, the
        largest.
    on
        Labels of diagnostics and corpora; only these are checked. Empty for all.
    strict
        Whether a check must exclude a loss of each margin to pass.
    pages
        Whether the documents are all there are, or a sample of many more; by default as the baseline says, else all.

    Raises
    ------
    InputError
        If the two cannot be compared, or an option names what they do not have; the message names both.

    Examples
    --------
    >>> before = ea.assay("m=bow", "handbook", "retrieval", baselines=False)
    >>> after = ea.assay("m=hashing,dim=8", "handbook", "retrieval", baselines=False)
    >>> ea.check(after, before).outcome
    'regression'
    """
    shown, shown_baseline = ("the result" if isinstance(each, Result) else str(each) for each in (run, baseline))
    try:
        new, old = _selected(on, read_run(run, may_have_failed=True), read_run(baseline))
        _check_complete(new, old)
        gate = _Gate.of(new, old, margins or {}, pages)
        pairs, notes = gate.pairs(old)
        if old.record and (old.path / ANCHOR).is_dir():
            of_anchor, notes_on_anchor = gate.pairs_since(read_run(old.path / ANCHOR), old)
            pairs += of_anchor
            notes += notes_on_anchor
        of_floors = tuple(_floors(new, floors or {}))
    except InputError as error:
        raise InputError(f"cannot check {shown} against {shown_baseline}: {error}") from None
    notes += [f"{one} is not checked: the baseline lacks it" for one in new.candidates if one not in old.candidates]
    notes += _notes_on(pairs)
    changes = losses(pairs, Draws(new.result.seed, new.result.resamples), new.texts, strict=strict)
    failed = [one.sentence for one in new.result.failed if one.encoder in ("", *new.candidates, *old.candidates)]
    if not (changes or of_floors or failed):
        raise InputError("nothing to check: no diagnostic of both has a headline; name a metric with --margin")
    return Check(shown, shown_baseline, changes, of_floors, tuple(failed), tuple(dict.fromkeys(notes)), strict)


Task = tuple[str, str]
"""Diagnostic and corpus, by their labels."""


def sampled_corpora(run: StoredRun, pages: Pages) -> set[str]:
    """Return the names of the corpora whose documents are a sample: the built-in ones, or all."""
    return {corpus.name for corpus in run.result.corpora if corpus.builtin or pages == "sampled"}


def headlines_of(run: StoredRun) -> list[ItemColumn]:
    """Return for each headline the column of the candidate that has the fewest values."""
    candidates = [column for column in run.columns if column.is_headline and column.is_candidate]
    of_task = grouped(candidates, lambda column: column.task)
    return [min(columns, key=lambda column: column.defined) for columns in of_task.values()]


def default_margins(run: StoredRun, pages: Pages) -> dict[Task, float]:
    """Return the margin of each headline: of a share what the items can rule out, or what it declares if that is more.

    What the items can rule out is rounded up to a whole point.
    """
    margins = {}
    for column in headlines_of(run):
        unit = gate_units(column, sampled=column.key.corpus in sampled_corpora(run, pages))[~np.isnan(column.value)]
        possible = whole_points(resolution(unit_codes(unit))) if column.of_shares and len(unit) else 0.0
        margins[column.task] = max(possible, column.margin or 0.0)
    return margins


# --- what is compared ------------------------------------------------------------------------------------


def _selected(on: Sequence[str], *runs: StoredRun) -> list[StoredRun]:
    """Return runs with the tasks only that ``--on`` names; without names of diagnostics or of corpora, all of these.

    Raises
    ------
    UnknownNameError
        If no task has a name.
    """
    tasks = {task for run in runs for task in run.tasks}
    known = {name for task in tasks for name in task}
    for name in on:
        if name not in known:
            raise UnknownNameError("diagnostic or corpus", name, known)
    chosen = [{task[side] for task in tasks}.intersection(on) for side in (0, 1)]

    def is_on(task: Task) -> bool:
        # A failure of an encoder everywhere is in no task.
        return all(not names or name in ("", *names) for names, name in zip(chosen, task, strict=True))

    selected = []
    for run in runs:
        rows = tuple(row for row in run.result.rows if is_on((row.diagnostic, row.corpus)))
        failed = tuple(one for one in run.result.failed if is_on((one.diagnostic, one.corpus)))
        columns = tuple(column for column in run.columns if is_on(column.task))
        selected.append(replace(run, columns=columns, result=replace(run.result, rows=rows, failed=failed)))
    return selected


def _check_complete(new: StoredRun, old: StoredRun) -> None:
    """Refuse a run that lacks what the baseline has and did not fail: a renamed encoder would not be checked."""
    present, before = (
        {(row.encoder, row.diagnostic, row.corpus) for row in run.result.rows if row.encoder in run.candidates}
        for run in (new, old)
    )
    # A failure without an encoder is one of all of them.
    failed = {one.encoder for one in new.result.failed}
    missing = [
        f"{label} in {' on '.join(task)}" for label, *task in sorted(before - present) if not failed & {"", label}
    ]
    if missing:
        has = ", ".join([*new.candidates, *map(" on ".join, new.tasks)]) or "nothing"
        raise InputError(
            f"the baseline has {', '.join(missing)}, the run does not; it has {has}. Give the encoder its old label "
            "(-e LABEL=SPEC), leave it out with --on, or bless a run without it"
        )


@dataclass(frozen=True)
class _Gate:
    """What of a run is tested, and with which margins.

    Attributes
    ----------
    margins
        Those of the user, by the name of the metric.
    defaults
        The other margins of headlines, by diagnostic and corpus: what the items of the baseline can rule out.
    sampled
        The corpora whose documents are a sample.
    """

    run: StoredRun
    margins: Mapping[str, float]
    defaults: Mapping[Task, float]
    sampled: Collection[str]

    @classmethod
    def of(cls, new: StoredRun, old: StoredRun, margins: Mapping[str, float], pages: Pages | None) -> _Gate:
        """Return what is tested against a baseline, or against another run; see :func:`check`."""
        blessed = old.record.get("gate") or {"pages": pages or "given", "margins": {}}
        given = blessed["pages"]
        if pages not in (None, given):
            raise SpecError(f"the baseline was blessed with --pages {given}; bless it again for another choice")
        return cls(new, {**blessed["margins"], **margins}, default_margins(old, given), sampled_corpora(new, given))

    def pairs(self, old: StoredRun, since: str = "") -> tuple[list[ColumnPair], list[str]]:
        """Return what is tested against an earlier run: the headlines, and the metrics that have a margin of the user.

        Returns
        -------
        The pairs, and what does not match, one sentence each.
        """
        now = {(column.key, column.encoder): column for column in self.run.columns}
        both = [(one, now.get((one.key, one.encoder))) for one in old.columns if one.is_candidate]
        columns = {new.key: new for _, new in both if new is not None}
        headlines = [before.key for before, new in both if new is not None and before.is_headline]
        margins = self._user_margins(columns, headlines)
        pairs, notes = list[ColumnPair](), list[str]()
        for before, after in both:
            key = before.key
            if after is None or not (key in headlines or key in margins):
                continue
            try:
                before, after, differs = paired(before, after)
            except InputError as error:
                raise InputError(f"{key.diagnostic} on {key.corpus}: {error}") from None
            notes += differs
            margin = margins.get(key, self.defaults.get(before.task, before.margin or 0.0))
            name, sampled = shortest_name(key, columns, headlines), key.corpus in self.sampled
            pairs.append(ColumnPair(before, after, after.encoder, name, margin, sampled, since, key in margins))
        return pairs, notes

    def pairs_since(self, anchor: StoredRun, baseline: StoredRun) -> tuple[list[ColumnPair], list[str]]:
        """Return the metrics that are tested against the anchor as well, and what is not, one sentence each.

        Small losses, each within the margin, add up over releases whose baselines replace each other; the anchor stays.
        What does not fit the anchor any more is noted and not tested, as the baseline is what a run must match. Where
        the baseline has the values of the anchor, a second test would say the same.
        """
        documents = {column.task: column.documents for column in self.run.columns}
        kept = [column for column in anchor.columns if documents.get(column.task) == column.documents]
        others = {" on ".join(column.task) for column in anchor.columns if column not in kept}
        notes = [f"{task}: only the anchor has it on these documents" for task in sorted(others)]
        repeated = {(column.key, column.encoder, column.value.tobytes()) for column in baseline.columns}
        news = [column for column in kept if (column.key, column.encoder, column.value.tobytes()) not in repeated]
        day, _, _ = anchor.record.get("time", "").partition("T")
        try:
            pairs, mismatches = self.pairs(replace(anchor, columns=tuple(news)), f"the anchor of {day}")
        except InputError as error:
            return [], [*notes, f"nothing is tested against the anchor: {error}"]
        return pairs, notes + mismatches

    def _user_margins(
        self, columns: Mapping[MetricKey, ItemColumn], headlines: Sequence[MetricKey]
    ) -> dict[MetricKey, float]:
        """Return the margins of the user by metric; a name may be that of several metrics.

        Raises
        ------
        InputError
            If a name is unknown, or its metric cannot be tested.
        """
        margin_of: dict[MetricKey, float] = {}
        # A name with its diagnostic or corpus, "retrieval/Success@5", is more precise, so it is read last and wins.
        for name in sorted(self.margins, key=lambda name: name.count("/") + name.count(".")):
            margin = self.margins[name]
            for key in _meant(name, columns, headlines, "margin"):
                if not 0 < margin < (1 if columns[key].of_shares else math.inf):
                    raise SpecError(f"the margin of {name} must be above 0, of a share below 1; it is {margin:g}")
                margin_of[key] = margin
        return margin_of


def _meant(
    name: str, keys: Collection[MetricKey], headlines: Sequence[MetricKey], limit: Literal["margin", "floor"]
) -> list[MetricKey]:
    """Return the metrics that a name means.

    Parameters
    ----------
    keys
        Those that can have the limit, but for their direction.

    Raises
    ------
    InputError
        If the name is unknown, or its metric cannot have the limit; the message lists those that can.
    """
    matches = matching(name, keys, headlines)
    if not matches:
        known = {str(key.short) for key in keys if declared(key).better != "neither"}
        raise UnknownNameError("metric", name, known, f"A {limit} needs a metric with values to compare in this run.")
    if any(declared(key).better == "neither" for key in matches):
        raise SpecError(f"{name} cannot have a {limit}: neither higher nor lower values of it are better")
    return matches


def _notes_on(pairs: Sequence[ColumnPair]) -> Iterator[str]:
    """Yield which items have no value, and which margins are out of reach, one sentence each."""
    for pair in pairs:
        # A metric of a subset has no value for all others.
        left_out = int((~pair.counted).sum()) if pair.old.is_headline else 0
        # Where more have lost their value, the sentence of the metric says so.
        lost = pair.lost_values if pair.lost_values <= MOST_UNDEFINED * len(pair.gains) else 0
        reasons = {"in either run left out": left_out, "in this run counted as the worst": lost}
        for reason, count in reasons.items():
            if count:
                items = counted(count, "item")
                yield f"{pair.encoder}, {pair.metric} on {pair.new.key.corpus}: {items} without a value {reason}"
        if pair.set_by_user and pair.margin < pair.resolution:
            yield out_of_reach(pair)


def _floors(run: StoredRun, floors: Mapping[str, float]) -> Iterator[Change]:
    """Yield the value of each candidate beside each floor.

    Raises
    ------
    InputError
        If no row has the name, neither direction of the metric is better, or the floor is out of its range.
    """
    rows = [row for row in run.result.rows if row.encoder in run.candidates]
    keys = dict.fromkeys(row.key for row in rows)
    headlines = [key for key in keys if any(verdict.key.covers(key) for verdict in run.result.verdicts)]
    # A run in which everything failed has no rows; the failures are reported then.
    for name, floor in floors.items() if rows else ():
        meant = _meant(name, keys, headlines, "floor")
        for row in [row for row in rows if row.key in meant]:
            metric, shown = declared(row.key), shortest_name(row.key, keys, headlines)
            _, high = metric.range
            if not math.isfinite(floor) or (high is not None and floor > high):
                raise SpecError(f"the floor of {name} must be a number of at most {high}, is {floor:g}; 0.85 is 85%")
            reason = "ceiling" if metric.better == "lower" else "floor"
            is_kept = row.value is not None and (row.value <= floor if reason == "ceiling" else row.value >= floor)
            outcome = "pass" if is_kept else "regression"
            place = (row.encoder, row.diagnostic, row.corpus, shown, metric.style)
            yield Change(*place, outcome=outcome, reason=reason, margin=floor, new=row.value)
