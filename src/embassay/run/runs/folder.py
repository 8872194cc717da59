"""A run's folder: ``run.json``, ``scores/``, ``result.json``, ``values.npz``, ``items.json``, ``report.html``.

``run.json`` is written first (running) and last (finished), so a run that it calls finished is complete. Scores are
stored in one file per encoder, corpus and diagnostic; a later command in the same folder reuses them.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, NotRequired

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay._version import __version__
from embassay.core.columns import FILE as VALUES
from embassay.core.columns import ItemColumn, write_columns
from embassay.core.errors import OutputError, SourceError, begun
from embassay.core.plugins import FORMATS
from embassay.core.result import Result
from embassay.core.samples.base import Sample
from embassay.core.samples.shapes import Grouped
from embassay.core.store.arrays import read_arrays, write_arrays
from embassay.core.store.canonical import canonical, names_in, plain, write
from embassay.core.types import AnyCorpus, ItemScores, JsonObject, Origin, content_hash
from embassay.run.runs import results

RECORD = "run.json"
ITEMS = "items.json"
GROUPS = ("labels", "values")
"""The arrays of scores that have names of their own."""
FILES = ("result.json", VALUES, ITEMS, "report.html", "report.md")


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path):
        """Set the path of the folder; nothing is created or read yet."""
        self.path = path
        self.report = path / "report.html"

    def open(self, settings: RunSettings, overwrite: bool = False) -> None:
        """Create the folder, or continue the run that it holds, perhaps with encoders or corpora added.

        Raises
        ------
        OutputError
            If the folder cannot be written to, holds another run and ``overwrite`` is false, or holds files that are
            not from Embassay.
        """
        record = self.record()
        if names_in(self.path) and "settings" not in record:
            raise OutputError(f"{self.path}: is not empty and not an Embassay run; choose another folder with -o")
        if overwrite:
            self._clear()
            record = {}
        elif record and (changed := changes(record, settings)):
            what = f"contains a run with different settings ({', '.join(changed)})"
            raise OutputError(f"{self.path}: {what}; choose another folder with -o, or --overwrite")
        self.write_record({**record, "settings": settings, "state": "running", "embassay": __version__})

    def record(self) -> RunRecord:
        """Return the content of ``run.json``; an empty record if there is none, or if it is damaged."""
        try:
            return TypeAdapter(RunRecord).validate_json((self.path / RECORD).read_bytes(), strict=True)
        except (OSError, ValidationError):
            return {}

    def write_record(self, record: RunRecord) -> None:
        """Write ``run.json``."""
        write(self.path / RECORD, canonical(record))

    def write_result(self, result: Result) -> None:
        """Write ``result.json``."""
        write(self.path / "result.json", results.to_bytes(result))

    def save(self, scores: ItemScores) -> None:
        """Store the scores of one encoder, corpus and diagnostic.

        The arrays ``item``, ``unit``, ``unit_labels``, ``labels.NAME`` and ``values.NAME`` go into one .npz file. Its
        array ``head`` is a JSON text with everything that is not an array.
        """
        arrays: dict[str, Any] = {"item": scores.item, "unit": scores.unit, "unit_labels": scores.unit_labels}
        for group in GROUPS:
            arrays |= {f"{group}.{name}": array for name, array in getattr(scores, group).items()}
        head = {
            "embassay": __version__,
            "similarity_function": scores.similarity_function,
            "scalars": dict(scores.scalars),
            "origin": asdict(_identity(scores.origin)),
        }
        write_arrays(self._scores_path(scores.origin), {"head": np.array(json.dumps(head)), **arrays})

    def load(self, origin: Origin) -> ItemScores | None:
        """Return the stored scores; None if there are none, if they are damaged or of another origin or version."""
        scores = _read_scores(self._scores_path(origin))
        if scores is None or scores.origin != _identity(origin):
            return None
        return replace(scores, origin=origin)

    def write_items(self, columns: Iterable[ItemColumn], texts: Texts) -> None:
        """Write the item values of the metrics, and the texts of the items where they are stored."""
        write_columns(self.path, columns)
        (self.path / ITEMS).unlink(missing_ok=True)
        if texts:
            write(self.path / ITEMS, canonical(texts))

    def stored(self) -> Iterator[ItemScores]:
        """Yield all scores in the folder that this version wrote, in the order of their file names."""
        for path in sorted((self.path / "scores").glob("*.npz")):
            scores = _read_scores(path)
            # Damaged scores are missing here, and computed again by a run. A file under another name is a copy.
            if scores is not None and path == self._scores_path(scores.origin):
                yield scores

    def _scores_path(self, origin: Origin) -> Path:
        """Return the file of the scores of one encoder, corpus and diagnostic; what has changed replaces it.

        Its name is for people; a hash tells those apart whose shortened names are equal.
        """
        names = (origin.diagnostic, origin.corpus, origin.encoder)
        parts = [re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40] for name in names]
        return self.path / "scores" / f"{'.'.join(parts)}.{content_hash(names)[:8]}.npz"

    def _clear(self) -> None:
        """Remove the files and folders of a run, the folders of ``embassay report`` too; other files stay.

        Tables and figures of the run before would pass for those of the next.
        """
        formats = (name.replace("_", "-") for name in FORMATS.names())
        for folder in ("scores", "lists", *formats):
            shutil.rmtree(self.path / folder, ignore_errors=True)
        # Without the record, the folder is not known as that of a run: it is the last.
        for name in (*FILES, RECORD):
            (self.path / name).unlink(missing_ok=True)


def _identity(origin: Origin) -> Origin:
    """Return an origin with what identifies its scores.

    Whether the encoder is a baseline, or the reference of the comparisons, does not affect its scores.
    """
    return replace(origin, baseline=False, reference=False)


def _read_scores(path: Path) -> ItemScores | None:
    """Return the scores in a file; None if there are none, or if they are damaged or of another version."""
    arrays = read_arrays(path)
    groups: dict[str, dict[str, NDArray[Any]]] = {group: {} for group in GROUPS}
    for full_name, array in arrays.items():
        # An array of a group is stored as "values.cosine"; a name without a dot is a field of the scores.
        group, dot, name = full_name.partition(".")
        if dot:
            groups[group][name] = array
    try:
        head = json.loads(str(arrays["head"]))
        if head["embassay"] != __version__:
            return None
        return ItemScores(
            similarity_function=head["similarity_function"],
            item=arrays["item"],
            unit=arrays["unit"],
            scalars=head["scalars"],
            unit_labels=arrays["unit_labels"],
            origin=Origin(**{**head["origin"], "parts": tuple(head["origin"]["parts"])}),
            **groups,
        )
    except (ValueError, TypeError, KeyError):
        # Scores that are missing or damaged are computed again from the cached vectors.
        return None


OPEN = with_config(ConfigDict(extra="allow", allow_inf_nan=False))
"""Fields without a type are kept as they are."""


@OPEN
class RunSettings(TypedDict):
    """What identifies a run.

    ``encoders`` has (spec, route, fingerprint) by label, ``corpora`` the fingerprint by label with the cut, and
    ``diagnostics`` by corpus the options of each diagnostic.
    """

    encoders: dict[str, tuple[str, str, str]]
    corpora: dict[str, str]
    diagnostics: dict[str, dict[str, JsonObject]]
    seed: int
    resamples: int
    texts: NotRequired[bool]


class EncoderUse(TypedDict, total=False):
    """The work of one candidate: ``badges`` holds its robustness checks, ``route`` how its vectors were computed.

    ``encoder`` is its label without the cut of documents. ``milliseconds`` are those of one question by corpus, see
    docs/setups.md; without a name those of one text alone.
    """

    encoder: str
    texts: int
    encoded: int
    cached: int
    milliseconds: dict[str, float]
    route: JsonObject
    badges: JsonObject | None


class Sources(TypedDict):
    """How the corpora are read again (head, label and options of a spec), and the encoders by label, no secrets."""

    corpora: list[dict[str, Any]]
    limit: int | None
    follow_links: bool
    encoders: dict[str, JsonObject]


class GateRecord(TypedDict):
    """What ``embassay bless`` has fixed for each ``embassay check``.

    ``pages`` says whether the documents are all there are, or a sample; ``margins`` are those of the user by the name
    of the metric.
    """

    pages: Literal["given", "sampled"]
    margins: dict[str, float]


@OPEN
class RunRecord(TypedDict, total=False):
    """The content of ``run.json``.

    ``state`` is ``running``, ``finished`` or ``failed in part``.
    ``gate`` marks a baseline.
    """

    settings: RunSettings
    state: str
    embassay: str
    encoders: dict[str, EncoderUse]
    failures: list[dict[str, str]]
    notes: list[str]
    sources: Sources
    seconds: float
    peak_memory_mib: int | None
    python: str
    platform: str
    packages: dict[str, str]
    time: str
    gate: GateRecord


def changes(record: RunRecord, settings: RunSettings) -> list[str]:
    """Name what keeps a run from continuing that of a record, as ``seed`` or ``encoder bow``; empty if nothing does.

    Each score is stored with all that it depends on. So encoders and corpora may be added, the code of diagnostics may
    differ, and the content of encoders that had failed.
    """
    before, now = _named_facts(record["settings"]), _named_facts(settings)
    for failure in record.get("failures", ()):
        name = f"encoder {failure['encoder']}"
        # A failure without a diagnostic is that of the encoder itself.
        if not failure.get("diagnostic") and name in before and name in now:
            # Its spec and its route, without the fingerprint.
            before[name], now[name] = before[name][:2], now[name][:2]
    changed = [name for name, fact in before.items() if now.get(name) != fact]
    return changed if record.get("embassay") == __version__ else [*changed, "version of embassay"]


def _named_facts(settings: RunSettings) -> Any:
    """Return settings in one mapping, as they are written to the file and read from it: ``seed``, ``encoder bow``."""
    facts: Any = plain(settings)
    for group, of_one in (("encoders", "encoder"), ("corpora", "corpus"), ("diagnostics", "diagnostics on")):
        for name, fact in facts.pop(group).items():
            facts[f"{of_one} {name}"] = fact
    return facts


NOT_CONTENT = {"id", "unit", "units"}
"""The fields of a sample that its hash leaves out: a new line at the top of a file changes the numbers of all lines."""
UNIT_KEY = "group"
"""A field that the hash leaves out too, unless the group is the right answer (``Grouped``); elsewhere it is a unit."""
Texts = Mapping[str, str]
"""The first text of each item, such as its question, by the hash of its content, cut after 400 characters."""


def item_hash(sample: Sample) -> str:
    """Return a hash of a sample's content: the same for the same content, whatever its id and unit."""
    left_out = NOT_CONTENT if isinstance(sample, Grouped) else {*NOT_CONTENT, UNIT_KEY}
    content = {name: value for name, value in vars(sample).items() if name not in left_out}
    return content_hash([content, *sample.texts()])


def text_hash(sample: Sample) -> str:
    """Return a hash of a sample's texts: the same where they differ in case and white space only."""
    return content_hash([" ".join(text.casefold().split()) for _, text in sample.texts()])


def documents_hash(corpus: AnyCorpus) -> str:
    """Return a hash of the documents that are searched, as they are cut; empty where there are none."""
    if corpus.stored_documents is not None:
        return corpus.stored_documents.fingerprint
    if not corpus.documents:
        return ""
    return content_hash([[document.id, *document.passages] for document in corpus.documents])


def texts_of(corpora: Iterable[AnyCorpus]) -> Texts:
    """Return the first text of each item of some corpora."""
    samples = [sample for corpus in corpora for sample in corpus.samples]
    return {item_hash(sample): begun(next(iter(sample.fields().values()))) for sample in samples}


def read_texts(folder: Path) -> Texts:
    """Return the texts of the items of a run; empty where they are not stored.

    Raises
    ------
    SourceError
        If the file is damaged.
    """
    path = folder / ITEMS
    try:
        return TypeAdapter(dict[str, str]).validate_json(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValidationError):
        reason = "the texts of the items are damaged; repeat the run's command with --overwrite"
        raise SourceError(reason, path) from None
