"""The best candidate as a config file that runs again, with all that it is built on."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence

from embassay.core.errors import OutputError
from embassay.core.result import CHANGES
from embassay.reports.findings.support import findings_of, use_of
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Export

FILE = "setup.toml"
HOLDS = "config"
MARKER = "# The set-up "


def export(finished: FinishedRun) -> Export:
    """Make the file.

    Raises
    ------
    OutputError
        If no candidate has a value, or the run's record does not say how it was made from files.
    """
    result, record = finished.result, finished.record
    settings, sources = record.get("settings"), record.get("sources")
    if settings is None or sources is None or not sources["corpora"]:
        raise OutputError("a config needs a run on corpora in files, and its whole run.json; repeat the run's command")
    verdict = next((one for one in result.verdicts if one.metric and one.candidates), None)
    if verdict is None:
        raise OutputError("no candidate of this run has a value, so there is no set-up to write")
    name = use_of(findings_of(result, verdict)) or verdict.candidates[0]
    # What a candidate is only derived from is not needed to run it.
    parts = {encoder.name: encoder.parts for encoder in result.encoders if encoder.step not in CHANGES}
    labels = {candidate: record["encoders"][candidate]["encoder"] for candidate in with_parts(name, parts)}
    encoders, notes = [], []
    for label in labels.values():
        source = sources["encoders"][label]
        if source["spec"].startswith("http"):
            notes.append(
                f"{label}: what follows ? in its address is not stored, and of headers and parameters only those that "
                "are $NAME; add them"
            )
        encoders.append({**source, "name": label, "original": None})
    # The candidate "m,passages=100" is the encoder "m" on documents that are cut so.
    cut = dict(option.split("=", 1) for option in name.removeprefix(labels[name]).split(",") if option)
    corpora = []
    for one in sources["corpora"]:
        options = {option: cut.get(option, value) for option, value in one["options"].items()}
        corpora.append({"spec": one["head"], "name": one["label"], **options})
    config = {
        "seed": settings["seed"],
        "resamples": settings["resamples"],
        "limit": sources["limit"],
        "corpora": corpora,
        # A diagnostic is listed for each corpus.
        "diagnostics": [
            {"spec": spec, **options} for spec, options in ChainMap(*settings["diagnostics"].values()).items()
        ],
        "encoders": encoders,
    }
    # A config cannot allow what a command has to allow.
    allowed = " --follow-links" if sources["follow_links"] else ""
    lines = [f"{MARKER}{name} of {finished.folder.path.name}: embassay run FILE{allowed}"]
    lines += [f"{field} = {toml(value)}" for field, value in config.items() if value is not None]
    return Export({FILE: "\n".join([*lines, ""])}, notes=notes)


def with_parts(name: str, parts_of: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the names of what a candidate is built on, each after its own parts, and its own name last."""
    for part in parts_of.get(name, ()):
        yield from with_parts(part, parts_of)
    yield name


def toml(value: object) -> str:
    """Return a value as TOML: texts and numbers are written as in JSON, and a table has no field without a value."""
    if isinstance(value, Mapping):
        # A name such as that of a header may need quotes.
        keys = {name: name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name) for name in value}
        fields = [f"{keys[name]} = {toml(inner)}" for name, inner in value.items() if inner is not None]
        return f"{{ {', '.join(fields)} }}"
    if isinstance(value, list):
        return "[" + ",\n  ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
