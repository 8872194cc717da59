"""What a repository commits as a baseline: the item scores of a run's candidates and the main rows of its result.

A baseline is a run's folder without the report, texts, baselines that joined by themselves, names of folders and times,
except the day of the run, so that the same run gives the same bytes on every machine.
:func:`~embassay.comparison.runs.read_run` reads it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from embassay._version import __version__
from embassay.comparison.gate import ANCHOR, CheckOptions, candidates_in, check, check_runs
from embassay.comparison.gate_words import shown_by_baseline
from embassay.comparison.margins import Pages, headline_margins
from embassay.comparison.runs import StoredRun, StoredTask, TaskName, read_run
from embassay.core.errors import OutputError, SourceError
from embassay.core.formatting import counted
from embassay.core.result import Result, Row
from embassay.core.store.partial_files import names_in
from embassay.core.store.paths import output_path
from embassay.core.types import ItemScores, content_hash
from embassay.diagnostics.base import DeclaresMetrics
from embassay.run.resolve import load_diagnostic
from embassay.run.runs.folder import ITEMS, RECORD, RunFolder
from embassay.run.runs.items import CorpusItems
from embassay.run.runs.record import GateRecord, RunSettings
from embassay.run.specs import Spec

FEW = 20
"""With fewer items the loss that a test set can rule out is too large to be anybody's margin."""
LIMIT = 900_000
"""Bytes from which on scores are reduced to what a check reads."""
FILES = ("run.json", "result.json")
FOLDERS = ("scores", ITEMS, ANCHOR)
FOLDERS_OF_PATH = re.compile(
    r"(?<![\w/.])"  # no relative path and no URL
    r"(?:~/|[A-Za-z]:\\|/(?!/)|\\\\)"  # the start of an absolute path, also on Windows
    r"(?:[^,;\s\"']*[/\\])?"  # its folders
    r"(?=[^,;\s\"'/\\])"  # its last name, which is not part of the match
)
"""An absolute path without its last name; ``,`` and ``;`` end a path, because they separate the options of a spec."""


def bless(
    run: str | Path,
    out: str | Path,
    *,
    texts: bool = False,
    new_anchor: bool = False,
    margins: Mapping[str, float] | None = None,
    pages: Pages = "given",
) -> tuple[Path, int]:
    """Write a finished run as a baseline, and return its folder and its size in bytes.

    Only the encoders that the user named are kept. Of a baseline above ``LIMIT`` bytes, the largest scores are reduced
    to what a check reads.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write. A baseline in it is replaced; other files beside that baseline stay.
    texts
        Whether the texts of the items are kept, each cut after 400 characters.
    new_anchor
        Whether the anchor goes. Otherwise the first baseline stays in the folder ``anchor``, and a check compares with
        it, too.
    margins
        By the name of a metric, the smallest loss that matters. By default that of a headline is the loss that the
        test set can rule out if it is a share, else the one that it declares.
    pages
        Whether the documents are all there are (``given``), or a sample of many more (``sampled``).

    Raises
    ------
    SourceError
        If the run did not finish or failed in part, has no candidate, or has no texts where they are asked for.
    OutputError
        If the folder has files but no baseline, or cannot be written.
    InputError
        If a headline has too few items for a margin of its own, or a margin cannot be used.
    """
    stored = read_run(run)
    labels = _candidates_of_complete_run(stored)
    gate = _gate(stored, labels, margins or {}, pages)
    folder = output_path(out)
    _check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".embassay-", dir=folder.parent) as place:
            complete = RunFolder(Path(place))
            _write(stored, labels, gate, complete, texts=texts)
            if not new_anchor:
                _keep_anchor(folder, complete.path / ANCHOR)
            _replace(folder, complete.path)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder, _size(folder)


def what_a_baseline_shows(folder: Path) -> Iterator[str]:
    """Yield which loss a check can rule out for each headline, and which margins of the user are out of reach.

    Parameters
    ----------
    folder
        That of the baseline.
    """
    run = read_run(folder)
    gate = run.record["gate"]
    headlines = list(headline_margins(run, run.encoders, gate["pages"]))
    for headline in headlines:
        yield shown_by_baseline(headline, with_name=len(headlines) > 1)
    if gate["margins"]:
        yield from check(folder, folder).notes


def _candidates_of_complete_run(run: StoredRun) -> list[str]:
    """Return the labels of a run's candidates: the encoders that the user named, except those with random vectors.

    Raises
    ------
    SourceError
        If a part of the run failed, or it has no candidate.
    """
    if run.result.failed:
        failures = "; ".join(failure.sentence for failure in run.result.failed)
        raise SourceError(f"this run failed in part ({failures}); a baseline needs a complete run", run.path)
    labels = candidates_in(run)
    if not labels:
        raise SourceError("this run has no encoder that the user named, so there is nothing to compare with", run.path)
    return labels


def _check_replaceable(folder: Path) -> None:
    """Refuse a folder that has files but no baseline."""
    if names_in(folder) and not RunFolder(folder).record().get("gate"):
        raise OutputError(f"{folder}: is not empty and not a baseline; choose another folder with -o")


def _gate(run: StoredRun, labels: Sequence[str], margins: Mapping[str, float], pages: Pages) -> GateRecord:
    """Return what a baseline fixes for its checks.

    Raises
    ------
    InputError
        If a headline has too few items for a margin of its own, or a margin cannot be used.
    """
    if margins:
        # A check of the run against itself refuses what no check could use.
        check_runs(replace(run, name="run"), replace(run, name="baseline"), CheckOptions(margins, pages=pages))
    default_margins = []
    for headline in headline_margins(run, labels, pages):
        key = headline.key
        if headline.items < FEW and not margins:
            raise SourceError(
                f"{key.short} on {key.corpus} has {counted(headline.items, 'item')}, under {FEW}: say what you can "
                f"afford to lose, for example --margin {key.short}=0.3 for 30 points",
                run.path,
            )
        default_margins.append((key.diagnostic, key.corpus, headline.margin))
    return {"pages": pages, "margins": dict(margins), "default_margins": default_margins}


def _write(run: StoredRun, labels: Sequence[str], gate: GateRecord, folder: RunFolder, *, texts: bool) -> None:
    """Write all files of a baseline; where they are too large, the largest scores are reduced first."""
    folder.write_result(_main_result(run, labels))
    _write_items(run, folder, texts=texts)
    bytes_of: dict[TaskName, int] = {}
    for name, task in run.tasks.items():
        size_before = _size(folder.path)
        for scores in _scores_of(task, labels):
            folder.save(scores)
        bytes_of[name] = _size(folder.path) - size_before

    reduced = []
    largest_first = sorted(bytes_of, key=bytes_of.__getitem__, reverse=True)
    for name in largest_first:
        if _size(folder.path) <= LIMIT:
            break
        task = run.tasks[name]
        # The file of the whole scores is overwritten: it is named after their origin.
        for scores in _read_by_check(task, _scores_of(task, labels)):
            folder.save(scores)
        reduced.append(list(name))
    settings = _settings(run, labels)
    day, _, _ = run.record.get("time", "").partition("T")
    folder.write_record(
        {
            "key": content_hash(settings),
            "settings": settings,
            "state": "finished",
            "embassay": __version__,
            "time": day,
            "gate": gate,
            "reduced": sorted(reduced),
        }
    )


def _scores_of(task: StoredTask, labels: Sequence[str]) -> list[ItemScores]:
    """Return the scores of the candidates, without names of folders."""
    of_candidates = []
    for label in labels:
        # A candidate that is not for corpora of this shape has no scores.
        if label in task.scores:
            scores = task.scores[label]
            origin = replace(scores.origin, spec=without_folders(scores.origin.spec))
            of_candidates.append(replace(scores, origin=origin))
    return of_candidates


def _main_result(run: StoredRun, labels: Sequence[str]) -> Result:
    """Return the encoders, corpora and main rows of a result, for the candidates only."""
    result = run.result
    candidates = [record for record in result.encoders if record.name in labels]
    encoders = [replace(record, spec=without_folders(record.spec)) for record in candidates]
    corpora = [replace(corpus, source=without_folders(corpus.source)) for corpus in result.corpora]
    # The lexical baselines are not kept, so nothing is said of who may be the best.
    verdicts = []
    for verdict in result.verdicts:
        of_labels = tuple(one for one in verdict.differences if {one.a, one.b} <= {*labels})
        verdicts.append(
            replace(
                verdict,
                differences=of_labels,
                baseline="",
                best_set=(),
                out={},
                undecided=(),
                rank_low={},
                rank_high={},
            )
        )
    comparisons = [one for one in result.comparisons if one.a in labels and one.b in labels]
    return Result(
        result.seed,
        result.resamples,
        encoders=tuple(encoders),
        corpora=tuple(corpora),
        rows=tuple(_main_rows(result, labels)),
        comparisons=tuple(comparisons),
        verdicts=tuple(verdicts),
    )


def _main_rows(result: Result, labels: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of all items and of the headlines, and at least one of each encoder in each task."""
    seen = set()
    for row in result.rows:
        if row.encoder not in labels:
            continue
        encoder_and_task = (row.encoder, row.diagnostic, row.corpus)
        is_first = encoder_and_task not in seen
        seen.add(encoder_and_task)
        is_headline = any(verdict.ranks_by(row) for verdict in result.verdicts)
        # The first row of an encoder in a task is kept in any case: its signature says which scores belong to it.
        if row.subset == "all" or is_headline or is_first:
            yield row


def _write_items(run: StoredRun, folder: RunFolder, *, texts: bool) -> None:
    """Write the hashes of the items, with their texts if asked."""
    items_of: dict[str, CorpusItems] = {}
    for task in run.tasks.values():
        if task.items:
            items = tuple(task.items.values())
            items_of[task.corpus] = CorpusItems(task.corpus, task.fingerprint, items, task.documents)
    corpora = list(items_of.values())
    if not texts:
        folder.write_items([corpus.without_texts() for corpus in corpora])
        return
    has_texts = any(item.texts for corpus in corpora for item in corpus.items)
    if not has_texts:
        raise SourceError("this run has no texts to keep; repeat its command without --no-texts", run.path)
    folder.write_items(corpora)


def _settings(run: StoredRun, labels: Sequence[str]) -> RunSettings:
    """Return the ``settings`` in the ``run.json`` of a baseline: those of a run with nothing but the candidates.

    They have no ``variants``, also where a corpus of the run varies. The encoders are those of the result, in which a
    candidate on a variant is an encoder of its own (``e5,passages=100``), and the variants are one corpus.
    """
    settings = run.record["settings"]
    encoders = []
    for record in run.result.encoders:
        if record.name in labels:
            spec = without_folders(record.spec)
            encoders.append((record.name, spec, record.fingerprint, record.baseline))

    tasks = run.tasks.values()
    diagnostics = [(task.diagnostic, task.version, dict(task.options), task.corpus) for task in tasks]
    # Several diagnostics of one corpus have the same fingerprint.
    fingerprints = {task.corpus: task.fingerprint for task in tasks}
    corpora = list(fingerprints.items())

    reference = settings["reference"]
    if reference not in labels:
        # Empty stands for the first candidate.
        reference = ""
    return {
        "corpora": corpora,
        "diagnostics": diagnostics,
        "seed": settings["seed"],
        "resamples": settings["resamples"],
        "encoders": encoders,
        "reference": reference,
    }


def without_folders(text: str) -> str:
    """Return a spec or source with only the last name of each absolute path: ``st:/home/me/model`` → ``st:model``."""
    return FOLDERS_OF_PATH.sub("", text)


class _Recorder(dict[str, NDArray[Any]]):
    """Arrays by name that record which of them are read."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        super().__init__(arrays)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> NDArray[Any]:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an array, or the default where there is none; that of ``dict`` would not record it."""
        if name in self:
            return self[name]
        return default

    def only_read(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that were read."""
        return {name: array for name, array in self.items() if name in self.read}


def _read_by_check(task: StoredTask, all_scores: Sequence[ItemScores]) -> list[ItemScores]:
    """Return scores with only the arrays that the tests of a check read."""
    method = load_diagnostic(Spec(task.diagnostic, options=dict(task.options))).method
    values = [_Recorder(scores.values) for scores in all_scores]
    labels = [_Recorder(scores.labels) for scores in all_scores]
    recorded = []
    for place, scores in enumerate(all_scores):
        recorded.append(replace(scores, values=values[place], labels=labels[place]))
    # A check computes these. Here the results do not matter, only which arrays they are computed from.
    if isinstance(method, DeclaresMetrics):
        for _ in method.figures(recorded).item_metrics():
            pass
    reduced = []
    for place, scores in enumerate(all_scores):
        reduced.append(replace(scores, values=values[place].only_read(), labels=labels[place].only_read()))
    return reduced


def _keep_anchor(folder: Path, place: Path) -> None:
    """Copy the anchor of a baseline, or the baseline itself where it is the first; nothing where there is none."""
    anchor = folder / ANCHOR
    if anchor.is_dir():
        shutil.copytree(anchor, place)
    elif (folder / RECORD).is_file():
        place.mkdir()
        for name in FILES:
            shutil.copy2(folder / name, place / name)
        for name in FOLDERS[:-1]:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, place / name)


def _replace(folder: Path, complete: Path) -> None:
    """Move the files of a complete baseline into a folder, in place of those of an earlier one."""
    folder.mkdir(exist_ok=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    for name in FOLDERS:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
    for path in sorted(complete.iterdir()):
        shutil.move(str(path), folder / path.name)


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder and its folders."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(file.stat().st_size for file in files)
