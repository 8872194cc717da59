"""The best candidate as a config file that runs again, with all that it is built on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from embassay.core.errors import OutputError
from embassay.core.result import CHANGES
from embassay.core.store.canonical import write as write_file
from embassay.reports.findings.support import findings_of, use_of
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Written
from embassay.run.runs.record import RunSettings, Sources
from embassay.run.screenings import settings_of

FILE = "setup.toml"
HOLDS = "config"
MARKER = "# The set-up "


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the file.

    Raises
    ------
    OutputError
        If the file exists and is not such a config, no candidate has a value, or ``run.json`` does not say how the run
        was made.
    """
    if place.exists() and not place.read_bytes().startswith(MARKER.encode()):
        raise OutputError(f"{place}: exists and is not a config that embassay wrote; name another file with -o")
    settings, sources = finished.record.get("settings"), finished.record.get("sources")
    if settings is None or sources is None:
        raise OutputError("this run's run.json does not say how it was made; repeat its command")
    if not sources["corpora"]:
        raise OutputError("the corpora of this run were made in Python; a config needs files")
    name, corpus = chosen(finished)
    # What a candidate is only derived from is not needed to run it.
    parts_of = {encoder.name: encoder.parts for encoder in finished.result.encoders if encoder.step not in CHANGES}
    spec_of = {label: spec for label, spec, _, _ in settings["encoders"]}
    variant = name.removeprefix(label_in(spec_of, name))
    setting = dict(part.split("=", 1) for part in variant.split(",") if part)
    # What weight=auto and an index have chosen on this corpus.
    on_corpus = [s for s in finished.folder.stored(any_version=True) if s.origin.corpus == corpus + variant]
    chosen_of = dict[str, Mapping[str, float]]()
    for scores in on_corpus:
        weight = {"weight": scores.scalars["setting"]} if "setting" in scores.scalars else {}
        chosen_of[scores.origin.encoder] = {**weight, **settings_of(scores)}

    lines = [f"{MARKER}{name} of {finished.folder.path.name}. To repeat it: embassay run {place}"]
    lines += run_options(settings, sources)
    for source in sources["corpora"]:
        options = {option: setting.get(option, value) for option, value in source["options"].items()}
        lines += table("corpora", source["head"], source["label"], options)
    tested = dict.fromkeys((diagnostic, json.dumps(options)) for diagnostic, _, options, _ in settings["diagnostics"])
    for diagnostic, of_diagnostic in tested:
        lines += table("diagnostics", diagnostic, None, json.loads(of_diagnostic))
    notes = []
    for encoder in with_parts(name, parts_of):
        label = label_in(spec_of, encoder)
        spec, given = spec_of[label], sources.get("encoders", {}).get(label)
        # Canonical specs leave out what changes no figure, such as the address of a service.
        if given is not None:
            spec = spec.split(",")[0]
        if spec.startswith("http"):
            notes.append(
                f"{label}: what follows ? in its address is not stored, and of headers and parameters only those that "
                "are $NAME; add them"
            )
        options = {option: value for option, value in (given or {}).items() if option != "original"}
        lines += table("encoders", spec, label, {**options, **chosen_of.get(label, {})})
    write_file(place, ("\n".join(lines) + "\n").encode())
    return Written(place, notes=notes)


def label_in(labels: Iterable[str], name: str) -> str:
    """Return the label of an encoder of the result: "m" for "m,passages=100", on a corpus that varies."""
    return max((label for label in labels if name == label or name.startswith(f"{label},")), key=len)


def run_options(settings: RunSettings, sources: Sources) -> Iterator[str]:
    """Yield the options of the run that its figures depend on."""
    yield f"seed = {settings['seed']}"
    yield f"resamples = {settings['resamples']}"
    if sources["limit"] is not None:
        yield f"limit = {sources['limit']}"
    if sources["follow_links"]:
        yield "follow_links = true"


def chosen(finished: FinishedRun) -> tuple[str, str]:
    """Return the candidate to use by the first verdict that ranks any, and the corpus of that verdict.

    Raises
    ------
    OutputError
        If there is none.
    """
    for verdict in finished.result.verdicts:
        if verdict.metric and verdict.candidates:
            use = use_of(findings_of(finished.result, verdict))
            return use or verdict.candidates[0], verdict.corpus
    raise OutputError("no candidate of this run has a value, so there is no set-up to write")


def with_parts(name: str, parts_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of what a candidate is built on, each after its own parts, and its own name last."""
    names = dict[str, None]()
    for part in parts_of.get(name, ()):
        names |= dict.fromkeys(with_parts(part, parts_of))
    return [*names, name]


def table(kind: str, spec: str, name: str | None, options: Mapping[str, object]) -> list[str]:
    """Return the lines of an entry."""
    fields = {"spec": spec, **({"name": name} if name else {}), **options}
    return ["", f"[[{kind}]]", *(f"{key} = {toml(value)}" for key, value in fields.items())]


def toml(value: object) -> str:
    """Write a value: texts, numbers and lists as JSON does, tables in braces."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
