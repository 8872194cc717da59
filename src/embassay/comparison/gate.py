"""The gate: has a candidate of a run become worse than in a baseline?

Each candidate is compared with the encoder of the same label in the baseline, on the items that both have. The headline
metrics are tested with the margins that ``bless`` wrote into the baseline, others with the margins that the user gives
(:mod:`embassay.comparison.losses`); a floor is compared with the value of the run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.comparison.gate_words import failures_of, lines_of, out_of_reach
from embassay.comparison.losses import MOST_UNDEFINED, LossTest, PairedMetric, changes_of
from embassay.comparison.margins import Pages, sampled_corpora, units_of
from embassay.comparison.runs import CommonTask, StoredRun, TaskName, common_tasks, read_run
from embassay.core.errors import InputError, SpecError, UnknownNameError
from embassay.core.formatting import POINTS, counted
from embassay.core.metric_key import MetricKey, matching, near_names, shortest_name
from embassay.core.result import Failure, Result, Row
from embassay.core.store.lists import FROM_CACHE
from embassay.core.types import Draws
from embassay.diagnostics.base import DeclaresMetrics
from embassay.diagnostics.metrics.item_metric import Headline, ItemMetric
from embassay.diagnostics.metrics.metric import WITHIN_ENCODER, declared
from embassay.stats.gate import whole_points

Outcome = Literal["pass", "regression", "inconclusive", "failed"]
Testable = Mapping[MetricKey, tuple[CommonTask, ItemMetric]]
"""The metrics that can be tested: means over items, and correlations, each of one task of both runs."""
ANCHOR = "anchor"
"""The folder in a baseline with the first baseline, which later ones do not replace."""
OLD, NEW = "old", "new"
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "regression": 1, "failed": 3, "inconclusive": 0}
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
    reason
        Why the value is undefined; may be empty.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    value: float | None
    floor: float
    lower_is_better: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """The metric."""
        return self.metric

    @property
    def outcome(self) -> Literal["pass", "regression"]:
        """``regression`` where the floor is missed or the value is undefined."""
        if self.value is None:
            return "regression"
        is_missed = self.value > self.floor if self.lower_is_better else self.value < self.floor
        return "regression" if is_missed else "pass"


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
    changes: tuple[LossTest, ...]
    floors: tuple[Floor, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    strict: bool = False
    sampled: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """``failed``, ``regression``, ``inconclusive`` or ``pass``: the first that any part has."""
        outcomes: set[Outcome] = {change.outcome for change in self.changes}
        outcomes |= {floor.outcome for floor in self.floors}
        if self.failures:
            outcomes.add("failed")
        worst_first: tuple[Outcome, ...] = ("failed", "regression", "inconclusive")
        return next((outcome for outcome in worst_first if outcome in outcomes), "pass")

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression, 3 a candidate failed; where it is inconclusive 0, or 4 if it is strict."""
        if self.outcome == "inconclusive" and self.strict:
            return STRICT
        return EXIT_CODES[self.outcome]

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
        new = read_run(run, "run", may_have_failed=True)
        outcome = check_runs(new, old, options, anchor)
    except InputError as error:
        raise InputError(f"cannot check {shown} against {shown_baseline}: {error}") from None
    return replace(outcome, run=shown, baseline=shown_baseline)


def check_runs(new: StoredRun, old: StoredRun, options: CheckOptions, anchor: StoredRun | None = None) -> Check:
    """Check a run against a baseline, and against its anchor if it has one; see :func:`check`."""
    # A task in which every encoder failed is missing from the run.
    known_tasks = [*new.tasks, *old.tasks]
    selection = _Selection.of(options.on, known_tasks)
    all_tasks, all_rows = list(new.tasks), new.result.rows
    new, old = selection.of_run(new), selection.of_run(old)
    rows = [row for row in all_rows if (row.diagnostic, row.corpus) in new.tasks]
    blessed = old.record.get("gate")
    if blessed and options.pages not in (None, blessed["pages"]):
        raise SpecError(f"the baseline was blessed with --pages {blessed['pages']}; bless it again for another choice")
    sampled = sampled_corpora(new, blessed["pages"] if blessed else options.pages or "given")
    user_margins = {**blessed["margins"], **options.margins} if blessed else options.margins
    margins = _of_selected(user_margins, all_rows, new)
    floor_values = _of_selected(options.floors, all_rows, new)
    failures = []
    for failure in new.result.failed:
        # A failure without a diagnostic concerns the encoder everywhere.
        is_on = not failure.diagnostic or selection.has((failure.diagnostic, failure.corpus))
        if is_on and _concerns_candidate(failure, new, old):
            failures.append(failure.sentence)

    labels, notes = _common_labels(new, old)
    _check_asked(new, old)
    tasks: Sequence[CommonTask] = ()
    _check_tasks(new, old, labels, all_tasks)
    if new.tasks:
        common = common_tasks([old, new], may_be_reduced=True)
        for (diagnostic, corpus), reason in common.incomparable.items():
            raise InputError(f"{diagnostic} on {corpus}: {reason}")
        tasks = common.tasks
        notes += common.notes

    default_margins = blessed["default_margins"] if blessed else ()
    tests = _Tests(new, rows, margins, {(diagnostic, corpus): m for diagnostic, corpus, m in default_margins}, sampled)
    pairs = tests.pairs(tasks, labels)
    if anchor is not None:
        since_anchor, notes_on_anchor = _since_anchor(tests, selection.of_run(anchor), pairs)
        pairs += since_anchor
        notes += notes_on_anchor
    notes += _notes_on(pairs)
    changes = changes_of(pairs, Draws(new.result.seed, new.result.resamples), strict=options.strict)
    floors = tuple(_floors(new, rows, floor_values))
    if not changes and not floors and not failures:
        raise InputError("nothing to check: no diagnostic of both has a headline; name a metric with --margin")
    return Check(
        run=new.name,
        baseline=old.name,
        changes=changes,
        floors=floors,
        failures=tuple(failures),
        notes=tuple(dict.fromkeys(notes)),
        strict=options.strict,
        sampled=tuple(sorted(sampled)),
    )


def _since_anchor(
    tests: _Tests, anchor: StoredRun, pairs: Sequence[PairedMetric]
) -> tuple[list[PairedMetric], list[str]]:
    """Return the metrics that are tested against the anchor as well, and what is not, one sentence each.

    Small losses, each within the margin, add up over releases whose baselines replace each other; the anchor stays.
    What does not fit the anchor any more is noted and not tested, as the baseline is what a run must match.

    Parameters
    ----------
    pairs
        Those of the baseline. Where it has the values of the anchor, a second test would say the same.
    """
    new = tests.run
    notes = []
    tasks = {}
    for name, task in anchor.tasks.items():
        where = " on ".join(name)
        if name not in new.tasks:
            notes.append(f"{where}: only the anchor has it")
        elif task.documents != new.tasks[name].documents:
            notes.append(f"{where}: the documents have changed since the anchor, so it is not tested against that")
        else:
            tasks[name] = task
    labels = [label for label in candidates_in(new) if label in candidates_in(anchor)]
    # Runs are told apart by their names, as the scores of both are joined.
    common = common_tasks([replace(anchor, tasks=tasks), new], may_be_reduced=True) if tasks else None
    if common is None or not labels:
        return [], notes
    for name, reason in common.incomparable.items():
        notes.append(f"{' on '.join(name)}: not tested against the anchor ({reason})")
    day, _, _ = anchor.record.get("time", "").partition("T")
    since = f"the anchor of {day}" if day else "the anchor"
    of_baseline = {(pair.encoder, pair.diagnostic, pair.corpus, pair.metric): pair for pair in pairs}
    since_anchor = []
    for pair in tests.pairs(common.tasks, labels):
        other = of_baseline.get((pair.encoder, pair.diagnostic, pair.corpus, pair.metric))
        if other is not None and not np.array_equal(pair.old, other.old, equal_nan=True):
            since_anchor.append(replace(pair, since=since))
    return since_anchor, notes


def _notes_on(pairs: Sequence[PairedMetric]) -> Iterator[str]:
    """Yield which items have no value, and which margins are out of reach, one sentence each."""
    has_several = len({(pair.metric, pair.corpus) for pair in pairs}) > 1
    for pair in pairs:
        what = f"{pair.encoder}, {pair.metric} on {pair.corpus}"
        left_out, undefined = int((~pair.counted).sum()), int(pair.lost_value.sum())
        # A metric of a subset has no value for all others.
        if pair.is_headline and left_out:
            yield f"{what}: {counted(left_out, 'item')} without a value in either run left out"
        # Where there are more, the sentence of the metric says so.
        if 0 < undefined <= MOST_UNDEFINED * len(pair.gains):
            yield f"{what}: {counted(undefined, 'item')} without a value in this run counted as the worst"
        if pair.set_by_user and pair.margin < pair.resolution:
            yield out_of_reach(pair, with_name=has_several)


def candidates_in(run: StoredRun) -> list[str]:
    """Return the labels of the encoders that the user named, except those with random vectors."""
    return [record.name for record in run.result.encoders if not record.baseline and not record.is_chance]


# --- what is compared ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Selection:
    """The diagnostics and corpora that ``--on`` names; without names of one kind, all of that kind."""

    diagnostics: Set[str]
    corpora: Set[str]

    @classmethod
    def of(cls, on: Sequence[str], tasks: Sequence[TaskName]) -> _Selection:
        """Tell the names of diagnostics from those of corpora.

        Raises
        ------
        UnknownNameError
            If no task has a name. A name that only the baseline has is accepted; :func:`_check_tasks` refuses a task
            that the run lacks.
        """
        diagnostics = {diagnostic for diagnostic, _ in tasks}
        corpora = {corpus for _, corpus in tasks}
        for name in on:
            if name not in diagnostics | corpora:
                raise UnknownNameError("diagnostic or corpus", name, diagnostics | corpora)
        return cls(diagnostics.intersection(on), corpora.intersection(on))

    def has(self, task: TaskName) -> bool:
        """Return whether a task is selected."""
        diagnostic, corpus = task
        if self.diagnostics and diagnostic not in self.diagnostics:
            return False
        return not self.corpora or corpus in self.corpora

    def of_run(self, run: StoredRun) -> StoredRun:
        """Return a run with only the selected tasks."""
        return replace(run, tasks={name: task for name, task in run.tasks.items() if self.has(name)})


def _of_selected(numbers: Mapping[str, float], rows: Sequence[Row], run: StoredRun) -> dict[str, float]:
    """Return margins or floors without those of tasks that are not selected: a config file may name more tasks.

    A name that no row has is kept: it is refused later, with the names that exist.

    Parameters
    ----------
    rows
        Of all tasks.
    run
        With the selected tasks.
    """
    kept = {}
    for name, number in numbers.items():
        wanted = MetricKey.parse(name)
        tasks = {(row.diagnostic, row.corpus) for row in rows if wanted.may_mean(row.key)}
        if not tasks or tasks & set(run.tasks):
            kept[name] = number
    return kept


def _concerns_candidate(failure: Failure, new: StoredRun, old: StoredRun) -> bool:
    """Return whether a failure of the run is one of a candidate, not of a baseline."""
    if failure.encoder in candidates_in(old):
        return True
    # An encoder that failed everywhere is missing from the result, but the settings have it.
    in_settings = new.record.get("settings", {}).get("encoders", ())
    baselines = {label for label, _, _, is_baseline in in_settings if is_baseline}
    others = {record.name for record in new.result.encoders}.difference(candidates_in(new))
    return failure.encoder not in baselines | others


def _common_labels(new: StoredRun, old: StoredRun) -> tuple[list[str], list[str]]:
    """Return the labels of the candidates that both have, and notes on those that only the run has.

    Raises
    ------
    InputError
        If the baseline has a candidate that the run does not have: an encoder that was renamed would not be checked.
    """
    in_new = candidates_in(new)
    in_old = candidates_in(old)
    failed = {failure.encoder for failure in new.result.failed}
    missing = [label for label in in_old if label not in in_new and label not in failed]
    if missing:
        present = ", ".join(in_new) or "no candidate"
        raise InputError(
            f"the baseline has {', '.join(missing)}, the run does not; it has {present}. "
            "Give the encoder its old label (-e LABEL=SPEC), or bless a run without it"
        )
    notes = [f"{label} is not checked: the baseline does not have it" for label in in_new if label not in in_old]
    return [label for label in in_new if label in in_old], notes


def _check_asked(new: StoredRun, old: StoredRun) -> None:
    """Refuse a run in which a service was not asked, because the cache had its answers: they would be compared twice.

    What is known by its content, such as a local model, is the same model as before; of a service only the user's
    version is known.
    """
    # Not those of the settings: they leave out what a retriever is built on.
    of_old = {encoder.name: encoder.fingerprint for encoder in old.result.encoders}
    for encoder in new.result.encoders:
        label = encoder.name
        answers = new.record.get("encoders", {}).get(label, {}).get("route", {}).get("answers")
        if answers == FROM_CACHE and ",version=" in encoder.spec and of_old.get(label) == encoder.fingerprint:
            raise InputError(
                f"{label} was not asked: its answers are {FROM_CACHE}; run with --no-cache, or with another version="
            )


def _check_tasks(new: StoredRun, old: StoredRun, labels: Sequence[str], all_tasks: Sequence[TaskName]) -> None:
    """Refuse a run that lacks a task of the baseline, or the scores of a candidate there: these would not be checked.

    Parameters
    ----------
    labels
        The candidates that both have. Without one, nothing is compared and so nothing can be missing.
    all_tasks
        Those of the run, also the ones that are not selected.
    """
    if not labels:
        return
    missing = []
    for task, old_task in old.tasks.items():
        where = " on ".join(task)  # "retrieval on docs"
        # What failed is reported as a failure.
        failed = [failure for failure in new.result.failed if (failure.diagnostic, failure.corpus) == task]
        if task not in new.tasks:
            if not failed:
                missing.append(where)
            continue
        # A failure without an encoder is one of the diagnostic, for all encoders.
        failed_labels = {failure.encoder for failure in failed}
        for label in labels:
            is_missing = label in old_task.scores and label not in new.tasks[task].scores
            if is_missing and label not in failed_labels and "" not in failed_labels:
                missing.append(f"{label} in {where}")
    if missing:
        present = ", ".join(" on ".join(task) for task in all_tasks)
        raise InputError(
            f"the baseline has {', '.join(missing)}, the run does not; it has {present}. Leave it out with --on"
        )


@dataclass(frozen=True)
class _Tests:
    """What of a run is tested, and with which margins.

    Attributes
    ----------
    rows
        Those of the selected tasks; they have more metrics than can be tested.
    margins
        Those of the user, by the name of the metric.
    default_margins
        Those that ``bless`` wrote, by diagnostic and corpus.
    sampled
        The corpora whose documents are a sample.
    """

    run: StoredRun
    rows: Sequence[Row]
    margins: Mapping[str, float]
    default_margins: Mapping[TaskName, float]
    sampled: Collection[str]

    def pairs(self, tasks: Sequence[CommonTask], labels: Sequence[str]) -> list[PairedMetric]:
        """Return what is tested: the headlines, and the metrics that have a margin of the user.

        Parameters
        ----------
        tasks
            Those of this run and an earlier one.
        labels
            The candidates that both runs have.
        """
        testable: dict[MetricKey, tuple[CommonTask, ItemMetric]] = {}
        for task in tasks:
            # Without margins of the user, only headlines are tested.
            testable |= _testable_metrics(task, labels, with_others=bool(self.margins))
        headlines = [key for key, (_, metric) in testable.items() if isinstance(metric, Headline)]
        user_margins = _user_margins(testable, headlines, self.margins, self.rows)
        pairs: list[PairedMetric] = []
        for key, (task, metric) in testable.items():
            if key in user_margins or metric.margin is not None:
                name = shortest_name(key, testable, headlines)
                pairs += self._pairs_of(key, task, metric, name, user_margins.get(key))
        return pairs

    def _pairs_of(
        self, key: MetricKey, task: CommonTask, metric: ItemMetric, name: str, user_margin: float | None
    ) -> Iterator[PairedMetric]:
        """Yield a metric for each candidate that has it in both runs.

        Parameters
        ----------
        name
            What the metric is called in the check.
        """
        old_scores, new_scores = task.scores.values()
        ids = next(iter(new_scores.values())).item.astype(str)
        items = {item.id: item for item in task.items or ()}
        is_sampled = task.corpus in self.sampled
        unit = units_of(metric, ids.tolist(), items, sampled=is_sampled)
        texts = self._texts(task)
        for label in new_scores:
            # The labels that both encoders have in the metric.
            old, new = f"{OLD} {label}", f"{NEW} {label}"
            if old not in metric.values or new not in metric.values:
                continue
            fingerprints = [scores[label].origin.encoder_fingerprint for scores in (old_scores, new_scores)]
            pair = PairedMetric(
                encoder=label,
                diagnostic=key.diagnostic,
                corpus=key.corpus,
                metric=name,
                margin=user_margin or metric.margin or 0.0,
                old=metric.values[old],
                new=metric.values[new],
                unit=unit,
                item=ids if metric.places is None else ids[metric.places],
                texts=texts,
                # The values of a correlation are influences, which its range says nothing about.
                ends=(None, None) if metric.correlated else declared(key).range,
                of_shares=metric.of_shares,
                lower_is_better=declared(key).better == "lower",
                is_headline=isinstance(metric, Headline),
                same_encoder=len(set(fingerprints)) == 1,
                set_by_user=user_margin is not None,
                sampled=is_sampled,
            )
            if user_margin is None:
                default = max(whole_points(pair.resolution), pair.margin)
                pair = replace(pair, margin=self.default_margins.get(task.name, default))
            yield pair

    def _texts(self, task: CommonTask) -> dict[str, str]:
        """Return the first text of each item that this run has, such as its question, by the id in a common task."""
        of_run = self.run.tasks[task.name].items.values()
        text_of = {item.hash: next(iter(item.texts.values()), "") for item in of_run}
        return {item.id: text_of.get(item.hash, "") for item in task.items or ()}


def _testable_metrics(task: CommonTask, labels: Sequence[str], *, with_others: bool) -> Testable:
    """Return the metrics of a task that can be tested, the headline first.

    Parameters
    ----------
    with_others
        Whether to yield also the metrics that are not the headline.
    """
    # A diagnostic takes the encoders of both runs together: "old e5", "new e5".
    scores = []
    for prefix, scores_of_run in zip((OLD, NEW), task.scores.values(), strict=True):
        for label in labels:
            if label in scores_of_run:
                origin = replace(scores_of_run[label].origin, encoder=f"{prefix} {label}")
                scores.append(replace(scores_of_run[label], origin=origin))
    if not scores:
        return {}
    if not isinstance(task.method, DeclaresMetrics):
        return {}
    figures = task.method.figures(scores)
    headline = figures.headline()
    metrics: list[ItemMetric] = [] if headline is None else [headline]
    if with_others:
        metrics += figures.item_metrics()
    testable: dict[MetricKey, tuple[CommonTask, ItemMetric]] = {}
    for metric in metrics:
        similarity_function = metric.similarity_function or scores[0].similarity_function
        key = replace(
            metric.key, similarity_function=similarity_function, diagnostic=task.diagnostic, corpus=task.corpus
        )
        # A diagnostic may have its headline among its other metrics.
        testable.setdefault(key, (task, metric))
    return testable


def _user_margins(
    testable: Testable, headlines: Sequence[MetricKey], margins: Mapping[str, float], rows: Sequence[Row]
) -> dict[MetricKey, float]:
    """Return the margins of the user by metric; a name may be that of several metrics.

    Raises
    ------
    InputError
        If a name is unknown, or its metric cannot be tested.
    """
    margin_of: dict[MetricKey, float] = {}
    # A name with its diagnostic or corpus, "retrieval/Success@5", is more precise, so it is read last and wins.
    for name in sorted(margins, key=_precision):
        margin = margins[name]
        matches = matching(name, testable, headlines)
        if not matches:
            raise _untestable(name, testable, rows)
        for key in matches:
            _, metric = testable[key]
            _refuse_without_direction(key, name, "a margin")
            if metric.of_shares and margin >= 1:
                raise SpecError(
                    f"the margin of {name} must be below 1, is {margin:g}; it is a share: 0.02 is 2 {POINTS}"
                )
            margin_of[key] = margin
    return margin_of


def _precision(name: str) -> int:
    """Return how much of the place of a metric a name tells: 0, 1 or 2 of diagnostic and corpus."""
    key = MetricKey.parse(name)
    return (key.diagnostic != "") + (key.corpus != "")


def _refuse_without_direction(key: MetricKey, name: str, limit: str) -> None:
    """Refuse a metric of which neither direction is better.

    Parameters
    ----------
    name
        As the user wrote it.
    limit
        What the user gave it: ``a margin`` or ``a floor``.
    """
    if declared(key).better == "neither":
        raise SpecError(f"{name} cannot have {limit}: neither higher nor lower values of it are better")


def _untestable(name: str, testable: Testable, rows: Sequence[Row]) -> InputError:
    """Return the error for a margin of a metric that cannot be tested.

    Its message depends on whether the run has such a metric at all, and on its direction.
    """
    suggestions = near_names(name, [key for key in testable if declared(key).better != "neither"])
    keys = [row.key for row in rows]
    wanted = MetricKey.parse(name)
    keys_of_name = [key for key in keys if wanted.may_mean(key)]
    of_metric = keys_of_name or _of_metric(name, keys)
    if of_metric and all(declared(key).better == "neither" for key in of_metric):
        _refuse_without_direction(of_metric[0], name, "a margin")
    if not keys_of_name:
        return UnknownNameError("metric", name, suggestions)
    why = f"{keys_of_name[0].diagnostic} does not compare it item by item"
    if declared(keys_of_name[0]).compared == WITHIN_ENCODER:
        why = "its values are comparable within one encoder only"
    return SpecError(
        f"{name} cannot have a margin: {why}; "
        f"it can have a floor. Metrics that can have a margin: {', '.join(suggestions)}"
    )


# --- floors ----------------------------------------------------------------------------------------------


def _floors(run: StoredRun, rows: Sequence[Row], floors: Mapping[str, float]) -> Iterator[Floor]:
    """Yield the value of each candidate beside each floor.

    Raises
    ------
    UnknownNameError
        If no row has the name.
    SpecError
        If neither higher nor lower values of the metric are better, or the floor of a share is above 1.
    """
    if not floors:
        return
    candidates = candidates_in(run)
    rows_of: dict[MetricKey, list[Row]] = {}
    for row in rows:
        if row.encoder in candidates:
            rows_of.setdefault(row.key, []).append(row)
    headlines = [key for key in rows_of if any(verdict.key.covers(key) for verdict in run.result.verdicts)]
    for name, floor in floors.items():
        matches = matching(name, rows_of, headlines)
        # A run in which everything failed has no rows; the failures are reported then.
        if not matches and rows_of:
            raise _without_value(name, list(rows_of))
        for key in matches:
            _refuse_without_direction(key, name, "a floor")
            _, high = declared(key).range
            if high is not None and floor > high:
                hint = "; it is a share: 0.85 is 85%" if declared(key).is_share else ""
                raise SpecError(f"the floor of {name} must be at most {high:g}, is {floor:g}{hint}")
            metric = shortest_name(key, rows_of, headlines)
            for row in rows_of[key]:
                yield Floor(
                    encoder=row.encoder,
                    diagnostic=row.diagnostic,
                    corpus=row.corpus,
                    metric=metric,
                    value=row.value,
                    floor=floor,
                    lower_is_better=declared(key).better == "lower",
                    reason=row.reason or "",
                )


def _without_value(name: str, keys: Sequence[MetricKey]) -> InputError:
    """Return the error for a floor of a name that no row has; it lists names that can have a floor.

    Raises
    ------
    SpecError
        If all metrics of that name have no direction.
    """
    of_metric = _of_metric(name, keys)
    with_direction = [key for key in of_metric or keys if declared(key).better != "neither"]
    if of_metric and not with_direction:
        _refuse_without_direction(of_metric[0], name, "a floor")
    if of_metric:
        listed = ", ".join(sorted({str(key.short) for key in with_direction}))
        return SpecError(f"{name} cannot have a floor: it has no value in this run; {listed} can have one")
    hint = "A floor needs a metric with a value in this run."
    return UnknownNameError("metric", name, near_names(name, with_direction), hint)


def _of_metric(name: str, keys: Iterable[MetricKey]) -> list[MetricKey]:
    """Return the keys of a name's metric, whatever the subset: those of ``tau`` for ``tau[recommended]``."""
    wanted = MetricKey.parse(name)
    return [key for key in keys if key.metric == wanted.metric and wanted.diagnostic in ("", key.diagnostic)]
