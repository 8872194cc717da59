"""The best candidate as a config file that runs again, with all that it is built on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from embassay.core.errors import OutputError
from embassay.core.result import CHANGES, Result
from embassay.reports.findings.support import findings_of, use_of
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Export
from embassay.run.screenings import settings_of

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
    settings, sources = finished.record.get("settings"), finished.record.get("sources")
    if settings is None or sources is None or not sources["corpora"]:
        raise OutputError(
            "a config needs a run whose corpora are files and whose run.json is whole; repeat its command"
        )
    name, corpus = chosen(finished.result)
    # "m,passages=100" is the encoder "m" on the corpus "docs,passages=100".
    variants = [setting for _, _, setting in settings.get("variants", ()) if name.endswith(f",{setting}")]
    suffix = f",{variants[0]}" if variants else ""
    options_of_variant = dict(part.split("=", 1) for part in suffix.split(",") if part)
    # What weight=auto and an index have chosen on this corpus.
    chosen_on_corpus = dict[str, Mapping[str, object]]()
    for scores in finished.folder.stored(any_version=True):
        if scores.origin.corpus == corpus + suffix:
            weight = {"weight": scores.scalars["setting"]} if "setting" in scores.scalars else {}
            chosen_on_corpus[scores.origin.encoder] = {**weight, **settings_of(scores)}

    lines = [f"{MARKER}{name} of {finished.folder.path.name}. To repeat it: embassay run THIS_FILE"]
    lines += [f"seed = {settings['seed']}", f"resamples = {settings['resamples']}"]
    if sources["limit"] is not None:
        lines.append(f"limit = {sources['limit']}")
    if sources["follow_links"]:
        lines.append("follow_links = true")
    for source in sources["corpora"]:
        varied = {option: options_of_variant.get(option, value) for option, value in source["options"].items()}
        lines += entry("corpora", {"spec": source["head"], "name": source["label"], **varied})
    for diagnostic in dict.fromkeys(json.dumps([spec, options]) for spec, _, options, _ in settings["diagnostics"]):
        spec, options = json.loads(diagnostic)
        lines += entry("diagnostics", {"spec": spec, **options})
    notes = []
    specs = {label: spec for label, spec, _, _ in settings["encoders"]}
    # What a candidate is only derived from is not needed to run it.
    parts = {encoder.name: encoder.parts for encoder in finished.result.encoders if encoder.step not in CHANGES}
    for encoder in with_parts(name, parts):
        label = encoder.removesuffix(suffix)
        spec, given = specs[label], sources.get("encoders", {}).get(label)
        # Canonical specs leave out what changes no figure, such as the address of a service.
        if given is not None:
            spec = spec.split(",")[0]
        if spec.startswith("http"):
            notes.append(
                f"{label}: what follows ? in its address is not stored, and of headers and parameters only those that "
                "are $NAME; add them"
            )
        as_given = {option: value for option, value in (given or {}).items() if option != "original"}
        lines += entry("encoders", {"spec": spec, "name": label, **as_given, **chosen_on_corpus.get(label, {})})
    return Export({FILE: "\n".join(lines) + "\n"}, notes=notes)


def chosen(result: Result) -> tuple[str, str]:
    """Return the candidate to use by the first verdict that ranks any, and the corpus of that verdict.

    Raises
    ------
    OutputError
        If there is none.
    """
    for verdict in result.verdicts:
        if verdict.metric and verdict.candidates:
            return use_of(findings_of(result, verdict)) or verdict.candidates[0], verdict.corpus
    raise OutputError("no candidate of this run has a value, so there is no set-up to write")


def with_parts(name: str, parts_of: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of what a candidate is built on, each after its own parts, and its own name last."""
    names = [inner for part in parts_of.get(name, ()) for inner in with_parts(part, parts_of)]
    return list(dict.fromkeys([*names, name]))


def entry(kind: str, fields: Mapping[str, object]) -> list[str]:
    """Return the lines of an entry."""
    return ["", f"[[{kind}]]", *(f"{field} = {toml(value)}" for field, value in fields.items() if value is not None)]


def toml(value: object) -> str:
    """Write a value: texts, numbers and lists as JSON does, tables in braces."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
