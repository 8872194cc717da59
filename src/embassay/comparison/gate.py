"""The gate: has a candidate of a run become worse than in a baseline?

Each candidate is compared with the encoder of the same label in the baseline, on the items that both have. The headline
metrics are tested with the margins that ``bless`` wrote into the baseline, others with the margins that the user gives
(:func:`~embassay.comparison.differences.losses`); a floor is compared with the value of the run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.comparison.differences import MOST_UNDEFINED, Change, Pair, gate_units, losses, mismatch, paired
from embassay.comparison.gate_words import failures_of, lines_of, out_of_reach
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.columns import ItemColumn
from embassay.core.errors import InputError, SpecError, UnknownNameError
from embassay.core.formatting import POINTS, counted
from embassay.core.metric_key import MetricKey, matching, near_names, shortest_name
from embassay.core.result import Result, Row
from embassay.core.store.lists import FROM_CACHE
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
class CheckOptions:
    """What is checked beyond the headlines, and how.

    Attributes
    ----------
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
    SpecError
        For a margin or floor that is no usable number.
    """

    margins: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    on: tuple[str, ...] = ()
    strict: bool = False
    pages: Pages | None = None

    def __post_init__(self) -> None:
        """Refuse what no check can use."""
        for name, margin in self.margins.items():
            if not (math.isfinite(margin) and margin > 0):
                raise SpecError(f"the margin of {name} must be above 0, is {margin:g}; 0.02 is 2 {POINTS} of a share")
        for name, floor in self.floors.items():
            if not math.isfinite(floor):
                raise SpecError(f"the floor of {name} must be a number, is {floor:g}")
        if self.pages not in (None, "given", "sampled"):
            raise SpecError(f"pages must be 'given' or 'sampled', is {self.pages!r}")


@dataclass(frozen=True)
class Floor:
    """A value of the run beside the smallest value that it may have.

    Attributes
    ----------
    value
        None where undefined.
    floor
        The smallest allowed value, or the ceiling: the largest one, where lower is better.
    outcome
        ``regression`` where the floor is missed or the value is undefined, else ``pass``.
    reason
        Why the value is undefined; may be empty.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    value: float | None
    floor: float
    outcome: str
    lower_is_better: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Check:
    """The outcome of a check.

    Attributes
    ----------
    run, baseline
        The names of both.
    changes
        The tested metrics of the candidates.
    failures
        What failed in the run, one sentence each.
    notes
        What was not checked, and what does not match, one sentence each.
    strict
        Whether it must exclude a loss of each margin to pass.
    sampled
        The corpora whose documents are a sample.
    """

    run: str
    baseline: str
    changes: tuple[Change, ...]
    floors: tuple[Floor, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False
    sampled: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """``failed``, ``regression``, ``inconclusive`` or ``pass``: the first that any part has."""
        outcomes = {part.outcome for part in (*self.changes, *self.floors)}
        if self.failures:
            return "failed"
        return "regression" if "regression" in outcomes else "inconclusive" if "inconclusive" in outcomes else "pass"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 a candidate failed; where it is inconclusive 0, or 4 if it is strict."""
        return STRICT if self.outcome == "inconclusive" and self.strict else EXIT_CODES[self.outcome]

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each metric, floor and failure."""
        return (*failures_of(self), *(line.sentence for line in lines_of(self)))

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

    The headline metrics are tested with the margins that ``embassay bless`` wrote into the baseline.

    Parameters
    ----------
    run
        The folder of the run, or the result of :func:`embassay.assay`.
    baseline
        What ``embassay bless`` has written, or another run: its folder or its result.
    margins, floors, on, strict, pages
        See :class:`CheckOptions`.

    Raises
    ------
    InputError
        If the two cannot be compared, or an option names what they do not have; the message names both.
    """
    options = CheckOptions(margins or {}, floors or {}, tuple(on), strict, pages)
    shown, shown_baseline = ("the result" if isinstance(each, Result) else str(each) for each in (run, baseline))
    try:
        old = read_run(baseline, "baseline")
        anchor_folder = old.path / ANCHOR
        # A result in memory has no record, and no folder.
        anchor = read_run(anchor_folder, "anchor") if old.record and anchor_folder.is_dir() else None
        outcome = check_runs(read_run(run, "run", may_have_failed=True), old, options, anchor)
    except InputError as error:
        raise InputError(f"cannot check {shown} against {shown_baseline}: {error}") from None
    return replace(outcome, run=shown, baseline=shown_baseline)


def check_runs(new: StoredRun, old: StoredRun, options: CheckOptions, anchor: StoredRun | None = None) -> Check:
    """Check a run against a baseline, and against its anchor if it has one; see :func:`check`."""
    blessed = old.record.get("gate")
    if blessed and options.pages not in (None, blessed["pages"]):
        raise SpecError(f"the baseline was blessed with --pages {blessed['pages']}; bless it again for another choice")
    sampled = sampled_corpora(new, blessed["pages"] if blessed else options.pages or "given")
    tasks = _selected(options.on, [*new.tasks, *old.tasks])
    margins = {**blessed["margins"], **options.margins} if blessed else options.margins
    defaults = {(diagnostic, corpus): m for diagnostic, corpus, m in blessed["default_margins"]} if blessed else {}
    _check_complete(new, old, tasks)
    gate = _Gate(new, tasks, _of_selected(margins, new, tasks), defaults, sampled)
    pairs, notes = gate.pairs(old)
    notes += [f"{one} is not checked: the baseline does not have it" for one in new.candidates if one not in old.candidates]
    if anchor is not None:
        of_anchor, notes_on_anchor = gate.pairs_since(anchor, pairs)
        pairs += of_anchor
        notes += notes_on_anchor
    notes += _notes_on(pairs)
    changes = losses(pairs, Draws(new.result.seed, new.result.resamples), new.texts, strict=options.strict)
    floors = tuple(_floors(new, tasks, _of_selected(options.floors, new, tasks)))
    failures = tuple(_failures(new, old, tasks))
    if not changes and not floors and not failures:
        raise InputError("nothing to check: no diagnostic of both has a headline; name a metric with --margin")
    return Check(
        run=new.name,
        baseline=old.name,
        changes=changes,
        floors=floors,
        failures=failures,
        notes=tuple(dict.fromkeys(notes)),
        strict=options.strict,
        sampled=tuple(sorted(sampled)),
    )


Task = tuple[str, str]
"""Diagnostic and corpus, by their labels."""


def sampled_corpora(run: StoredRun, pages: Pages) -> set[str]:
    """Return the names of the corpora whose documents are a sample: the built-in ones, or all."""
    return {corpus.name for corpus in run.result.corpora if corpus.builtin or pages == "sampled"}


def headlines_of(run: StoredRun) -> list[ItemColumn]:
    """Return for each headline the column of the candidate that has the fewest values."""
    fewest: dict[Task, ItemColumn] = {}
    for column in run.columns:
        if column.is_headline and column.is_candidate:
            first = fewest.setdefault(column.task, column)
            fewest[column.task] = min(first, column, key=lambda one: one.defined)
    return list(fewest.values())


def default_margin(column: ItemColumn, *, sampled: bool) -> float:
    """Return the margin of a headline: of a share what the items can rule out, or what it declares if that is more.

    What the items can rule out is rounded up to a whole point.
    """
    unit = gate_units(column, sampled=sampled)[~np.isnan(column.value)]
    possible = whole_points(resolution(unit_codes(unit))) if column.of_shares and len(unit) else 0.0
    return max(possible, column.margin or 0.0)


# --- what is compared ------------------------------------------------------------------------------------


def _selected(on: Sequence[str], tasks: Sequence[Task]) -> set[Task]:
    """Return the tasks that ``--on`` names; without names of diagnostics or of corpora, all of these.

    Raises
    ------
    UnknownNameError
        If no task has a name.
    """
    diagnostics, corpora = {task[0] for task in tasks}, {task[1] for task in tasks}
    for name in on:
        if name not in diagnostics | corpora:
            raise UnknownNameError("diagnostic or corpus", name, diagnostics | corpora)
    chosen = diagnostics.intersection(on) or diagnostics, corpora.intersection(on) or corpora
    return {task for task in tasks if task[0] in chosen[0] and task[1] in chosen[1]}


def _of_selected(numbers: Mapping[str, float], run: StoredRun, tasks: Collection[Task]) -> dict[str, float]:
    """Return margins or floors without those of tasks that are not selected: a config file may name more tasks.

    A name that no row has is kept: it is refused later, with the names that exist.
    """
    kept = {}
    for name, number in numbers.items():
        wanted = MetricKey.parse(name)
        meant = {(row.diagnostic, row.corpus) for row in run.result.rows if wanted.may_mean(row.key)}
        if not meant or meant & set(tasks):
            kept[name] = number
    return kept


def _failures(new: StoredRun, old: StoredRun, tasks: Collection[Task]) -> Iterator[str]:
    """Yield the failures of candidates in the selected tasks, not those of baselines, one sentence each."""
    # An encoder that failed everywhere is missing from the result, but the settings have it.
    settings = new.record.get("settings", {}).get("encoders", ())
    others = {label for label, _, _, is_baseline in settings if is_baseline}
    others |= {record.name for record in new.result.encoders}.difference(new.candidates)
    for failure in new.result.failed:
        # A failure without a diagnostic concerns the encoder everywhere.
        is_on = not failure.diagnostic or (failure.diagnostic, failure.corpus) in tasks
        if is_on and (failure.encoder in old.candidates or failure.encoder not in others):
            yield failure.sentence


def _check_complete(new: StoredRun, old: StoredRun, tasks: Collection[Task]) -> None:
    """Refuse a run that lacks what the baseline has and did not fail: an encoder that was renamed would not be checked.

    Refuse a run as well in which a service was not asked, because the cache had its answers: they would be compared
    twice. What is known by its content, such as a local model, is the same model as before; of a service only the
    user's version is known.
    """
    present = {(row.encoder, row.diagnostic, row.corpus) for row in new.result.rows}
    missing: dict[str, None] = {}
    for row in old.result.rows:
        label, task = row.encoder, (row.diagnostic, row.corpus)
        # A failure without an encoder, diagnostic or corpus is one of all of them.
        has_failed = any(
            failure.encoder in ("", label) and failure.diagnostic in ("", task[0]) and failure.corpus in ("", task[1])
            for failure in new.result.failed
        )
        if label in old.candidates and task in tasks and (label, *task) not in present and not has_failed:
            where = " on ".join(task)
            missing[label if label not in new.candidates else f"{label} in {where}"] = None
    if missing:
        has = [*new.candidates, *map(" on ".join, new.tasks)]
        raise InputError(
            f"the baseline has {', '.join(missing)}, the run does not; it has {', '.join(has) or 'nothing'}. Give the "
            "encoder its old label (-e LABEL=SPEC), leave it out with --on, or bless a run without it"
        )
    of_old = {encoder.name: encoder.fingerprint for encoder in old.result.encoders}
    for encoder in new.result.encoders:
        answers = new.record.get("encoders", {}).get(encoder.name, {}).get("route", {}).get("answers")
        is_same = of_old.get(encoder.name) == encoder.fingerprint
        if answers == FROM_CACHE and ",version=" in encoder.spec and is_same:
            raise InputError(
                f"{encoder.name} was not asked: its answers are {FROM_CACHE}; run with --no-cache, or with another "
                "version="
            )


@dataclass(frozen=True)
class _Gate:
    """What of a run is tested, and with which margins.

    Attributes
    ----------
    tasks
        Those that are selected.
    margins
        Those of the user, by the name of the metric.
    defaults
        The margins of headlines that ``bless`` wrote, by diagnostic and corpus.
    sampled
        The corpora whose documents are a sample.
    """

    run: StoredRun
    tasks: Collection[Task]
    margins: Mapping[str, float]
    defaults: Mapping[Task, float]
    sampled: Collection[str]

    def pairs(self, old: StoredRun, since: str = "") -> tuple[list[Pair], list[str]]:
        """Return what is tested against an earlier run: the headlines, and the metrics that have a margin of the user.

        Returns
        -------
        The pairs, and what does not match, one sentence each.
        """
        columns: dict[MetricKey, list[tuple[ItemColumn, ItemColumn]]] = {}
        notes = list[str]()
        for task in old.tasks:
            of_old, of_new = ([one for one in run.columns if one.task == task] for run in (old, self.run))
            if task not in self.tasks or not of_old or not of_new:
                continue
            try:
                notes += mismatch(of_old[0], of_new[0])
            except InputError as error:
                raise InputError(f"{' on '.join(task)}: {error}") from None
            for column in of_old:
                other = self.run.column_of.get((column.key, column.encoder))
                if other is not None and column.is_candidate and other.is_candidate:
                    columns.setdefault(column.key, []).append((column, other))
        headlines = [key for key, both in columns.items() if both[0][1].is_headline]
        margins = self._user_margins({key: both[0][1] for key, both in columns.items()}, headlines)
        pairs = []
        for key in [key for key in columns if key in headlines or key in margins]:
            name, is_sampled = shortest_name(key, columns, headlines), key.corpus in self.sampled
            for both in columns[key]:
                before, after = paired(*both)
                margin = margins.get(key, 0.0)
                pair = Pair(before, after, after.encoder, name, margin, key in margins, is_sampled, since)
                if key not in margins:
                    default = max(whole_points(pair.resolution), after.margin or 0.0)
                    pair = replace(pair, margin=self.defaults.get(after.task, default))
                pairs.append(pair)
        return pairs, notes

    def pairs_since(self, anchor: StoredRun, pairs: Sequence[Pair]) -> tuple[list[Pair], list[str]]:
        """Return the metrics that are tested against the anchor as well, and what is not, one sentence each.

        Small losses, each within the margin, add up over releases whose baselines replace each other; the anchor stays.
        What does not fit the anchor any more is noted and not tested, as the baseline is what a run must match.

        Parameters
        ----------
        pairs
            Those of the baseline. Where it has the values of the anchor, a second test would say the same.
        """
        day = anchor.record.get("time", "").partition("T")[0]
        documents = {column.task: column.documents for column in self.run.columns}
        since_anchor, notes = list[Pair](), list[str]()
        for task in dict.fromkeys(column.task for column in anchor.columns):
            where, columns = " on ".join(task), tuple(one for one in anchor.columns if one.task == task)
            if task not in documents:
                notes.append(f"{where}: only the anchor has it")
            elif columns[0].documents != documents[task]:
                notes.append(f"{where}: the documents have changed since the anchor, so it is not tested against that")
            else:
                try:
                    of_task, mismatches = self.pairs(
                        replace(anchor, columns=columns), f"the anchor of {day}" if day else "the anchor"
                    )
                except InputError as error:
                    notes.append(f"{where}: not tested against the anchor ({error})")
                else:
                    since_anchor, notes = since_anchor + of_task, notes + mismatches
        of_baseline = {(pair.new.key, pair.encoder): pair.old.value for pair in pairs}
        changed = []
        for pair in since_anchor:
            value = of_baseline.get((pair.new.key, pair.encoder))
            if value is not None and not np.array_equal(pair.old.value, value, equal_nan=True):
                changed.append(pair)
        return changed, notes

    def _user_margins(self, columns: Mapping[MetricKey, ItemColumn], headlines: Sequence[MetricKey]) -> dict[MetricKey, float]:
        """Return the margins of the user by metric; a name may be that of several metrics.

        Raises
        ------
        InputError
            If a name is unknown, or its metric cannot be tested.
        """
        margin_of: dict[MetricKey, float] = {}
        others = [row.key for row in self.run.result.rows]
        # A name with its diagnostic or corpus, "retrieval/Success@5", is more precise, so it is read last and wins.
        for name in sorted(self.margins, key=_precision):
            margin = self.margins[name]
            for key in _meant(name, columns, headlines, others, "margin"):
                if columns[key].of_shares and margin >= 1:
                    raise SpecError(
                        f"the margin of {name} must be below 1, is {margin:g}; it is a share: 0.02 is 2 {POINTS}"
                    )
                margin_of[key] = margin
        return margin_of


def _precision(name: str) -> int:
    """Return how much of the place of a metric a name tells: 0, 1 or 2 of diagnostic and corpus."""
    key = MetricKey.parse(name)
    return (key.diagnostic != "") + (key.corpus != "")


def _meant(
    name: str,
    keys: Collection[MetricKey],
    headlines: Sequence[MetricKey],
    others: Sequence[MetricKey],
    limit: Literal["margin", "floor"],
) -> list[MetricKey]:
    """Return the metrics that a name means.

    Parameters
    ----------
    keys
        Those that can have the limit, but for their direction.
    others
        Those of the rows of the run, which have more metrics than can be tested.

    Raises
    ------
    InputError
        If the name is unknown, or its metric cannot have the limit; the message lists those that can.
    """
    wanted = MetricKey.parse(name)
    matches = matching(name, keys, headlines)
    named = matches or [key for key in others if key.metric == wanted.metric and wanted.diagnostic in ("", key.diagnostic)]
    with_direction = [key for key in keys if declared(key).better != "neither"]
    if named and any(declared(key).better == "neither" for key in matches or named[:1]):
        raise SpecError(f"{name} cannot have a {limit}: neither higher nor lower values of it are better")
    if matches:
        return matches
    suggestions = near_names(name, with_direction)
    if not any(wanted.may_mean(key) for key in named):
        raise UnknownNameError("metric", name, suggestions, f"A {limit} needs a metric with a value in this run.")
    raise SpecError(
        f"{name} cannot have a {limit}: encoders are not compared on it item by item; it can have a floor. Metrics that "
        f"can have a {limit}: {', '.join(suggestions)}"
    )


def _notes_on(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield which items have no value, and which margins are out of reach, one sentence each."""
    has_several = len({(pair.metric, pair.old.key.corpus) for pair in pairs}) > 1
    for pair in pairs:
        what = f"{pair.encoder}, {pair.metric} on {pair.old.key.corpus}"
        left_out, undefined = int((~pair.counted).sum()), int(pair.lost_value.sum())
        # A metric of a subset has no value for all others.
        if pair.new.is_headline and left_out:
            yield f"{what}: {counted(left_out, 'item')} without a value in either run left out"
        # Where there are more, the sentence of the metric says so.
        if 0 < undefined <= MOST_UNDEFINED * len(pair.gains):
            yield f"{what}: {counted(undefined, 'item')} without a value in this run counted as the worst"
        if pair.set_by_user and pair.margin < pair.resolution:
            yield out_of_reach(pair, with_name=has_several)


# --- floors ----------------------------------------------------------------------------------------------


def _floors(run: StoredRun, tasks: Collection[Task], floors: Mapping[str, float]) -> Iterator[Floor]:
    """Yield the value of each candidate beside each floor.

    Raises
    ------
    InputError
        If no row has the name, neither direction of the metric is better, or the floor is out of its range.
    """
    rows_of: dict[MetricKey, list[Row]] = {}
    for row in run.result.rows if floors else ():
        if row.encoder in run.candidates and (row.diagnostic, row.corpus) in tasks:
            rows_of.setdefault(row.key, []).append(row)
    headlines = [key for key in rows_of if any(verdict.key.covers(key) for verdict in run.result.verdicts)]
    # A run in which everything failed has no rows; the failures are reported then.
    for name, floor in floors.items() if rows_of else ():
        for key in _meant(name, rows_of, headlines, list(rows_of), "floor"):
            metric = declared(key)
            _, high = metric.range
            if high is not None and floor > high:
                hint = "; it is a share: 0.85 is 85%" if metric.is_share else ""
                raise SpecError(f"the floor of {name} must be at most {high:g}, is {floor:g}{hint}")
            is_lower = metric.better == "lower"
            for row in rows_of[key]:
                is_kept = row.value is not None and (row.value <= floor if is_lower else row.value >= floor)
                yield Floor(
                    row.encoder,
                    row.diagnostic,
                    row.corpus,
                    shortest_name(key, rows_of, headlines),
                    row.value,
                    floor,
                    "pass" if is_kept else "regression",
                    is_lower,
                    row.reason or "",
                )
