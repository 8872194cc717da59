"""``run.json``: its content, and whether a run may continue that of a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from embassay._version import __version__
from embassay.core.store.canonical import plain
from embassay.core.types import JsonObject

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
    """How the corpora are read again (head, label and options of a spec), and by label the options of encoders.

    The options are as they were given, without secrets.
    """

    corpora: list[dict[str, Any]]
    limit: int | None
    follow_links: bool
    encoders: dict[str, JsonObject]


class GateRecord(TypedDict):
    """What ``embassay bless`` has fixed for each ``embassay check``.

    ``pages`` says whether the documents are all there are, or a sample; ``margins`` are those of the user by the name
    of the metric, and ``default_margins`` those of the headlines (diagnostic, corpus, margin).
    """

    pages: Literal["given", "sampled"]
    margins: dict[str, float]
    default_margins: list[tuple[str, str, float]]


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


def read_record(path: Path) -> RunRecord:
    """Return the content of ``run.json``; an empty record if there is none, or if it is damaged."""
    try:
        return TypeAdapter(RunRecord).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError):
        return {}


def changes(record: RunRecord, settings: RunSettings) -> list[str]:
    """Name what keeps a run from continuing that of a record, as ``seed`` or ``encoder bow``; empty if nothing does.

    Each score is stored with all that it depends on. So encoders and corpora may be added, the code of diagnostics may
    differ, and the content of encoders that had failed.
    """
    # A failure without a diagnostic is that of the encoder itself.
    failed = {failure.get("encoder", "") for failure in record.get("failures", ()) if not failure.get("diagnostic")}
    # As they are written to the file, and read from it.
    before: Any = plain(record["settings"])
    now: Any = plain(settings)
    changed = []
    for group, of_one in (("encoders", "encoder"), ("corpora", "corpus"), ("diagnostics", "diagnostics on")):
        facts, new_facts = before.pop(group), now.pop(group)
        for name, fact in facts.items():
            new = new_facts.get(name)
            if new != fact and not (group == "encoders" and name in failed and new and new[:2] == fact[:2]):
                changed.append(f"{of_one} {name}")
    changed = [name for name, value in before.items() if now.get(name) != value] + changed
    return changed if record.get("embassay") == __version__ else [*changed, "version of embassay"]
