"""One ``embassay run`` from request to report: what the command line asks for, carried out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from embassay.errors import EmbassayError, EncoderError, OutputError, SourceError, reason_of, say
from embassay.result import Result
from embassay.run.config import Settings, read
from embassay.run.execute import environment, execute, layouts, peak_memory
from embassay.run.plan import Plan, prepare
from embassay.run.score import Outcome, Progress, Quiet
from embassay.run.specs import Spec
from embassay.store import results
from embassay.store.cache import FileHashes, Remembered, VectorCache, default_folder, trouble_with
from embassay.store.paths import output_path, source_path
from embassay.store.runs import RunFolder
from embassay.types import Draws, Encoder, Runtime

FINE, FAILED_IN_PART = 0, 3
NO_TEXTS = "it failed; texts were not to be kept"
"""What is kept of a reason, which may quote texts, where none are to be kept."""
DEFAULT_OUT = Path("embassay-run")


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for, config file and command line merged."""

    encoders: Sequence[str | Spec] = ()
    corpora: Sequence[str | Spec] = ()
    diagnostics: Sequence[str | Spec] = ()
    out: Path = DEFAULT_OUT
    seed: int = 0
    resamples: int = 1000
    limit: int | None = None
    device: str = "auto"
    backend: str = "auto"
    baselines: bool = True
    texts: bool = True
    follow_links: bool = False
    cache: Path | None = None
    use_cache: bool = True
    overwrite: bool = False
    quiet: bool = False
    trusted: Sequence[str] = ()
    reference: str = ""

    @classmethod
    def of(cls, config: Path | None, **given: Any) -> RunRequest:
        """Merge a config file with what the command line gives; the latter goes first."""
        settings = read(config) if config else Settings()
        merged: dict[str, Any] = {}
        for name in ("encoders", "corpora", "diagnostics"):
            merged[name] = given.pop(name, ()) or settings.specs(name)
        for name in ("seed", "resamples", "limit", "device", "backend", "baselines", "texts", "out", "reference"):
            value = given.pop(name, None)
            value = getattr(settings, name) if value is None else value
            if value is not None:
                merged[name] = value
        given["cache"] = output_path(cache) if (cache := given.get("cache")) else None
        return replace(cls(**merged, **given), out=output_path(merged.get("out", DEFAULT_OUT)))

    @cached_property
    def cache_folder(self) -> Path | None:
        """The folder of the vector cache; None for none, also where the default one cannot be written to.

        Raises
        ------
        OutputError
            If the user named one that cannot be written to.
        """
        if not self.use_cache:
            return None
        folder = self.cache or default_folder()
        if reason := trouble_with(folder):
            if self.cache:
                raise OutputError(f"{folder}: cannot be used as a cache: {reason}")
            say(f"no cache: {folder}: {reason}; vectors are not kept")
            return None
        return folder

    @cached_property
    def draws(self) -> Draws:
        """The seed and the number of resamples."""
        return Draws(self.seed, self.resamples)

    def plan(self, looking: bool = False) -> Plan:
        """Resolve everything and check that it fits; without the last, where it is only looked at."""
        return prepare(
            self.encoders,
            self.corpora,
            self.diagnostics,
            runtime=Runtime(
                self.device,
                self.backend,
                sha256=FileHashes(self.cache_folder),
                remembered=Remembered(self.cache_folder),
                tell=(lambda line: None) if self.quiet else say,
            ),
            trusted=self.trusted,
            baselines=self.baselines,
            limit=self.limit,
            seed=self.seed,
            reference=self.reference,
            badges=True,
            looking=looking,
            follow_links=self.follow_links,
        )


def carry_out(request: RunRequest) -> int:
    """Run, write the folder, print tables and verdict, draw the report; return the exit code."""
    start = time.perf_counter()
    draws, plan, folder = request.draws, request.plan(), RunFolder(request.out)
    changed = folder.open(settings_of(request, plan), request.overwrite)
    tell = _silent if request.quiet else say
    for name in changed:
        tell(f"{name}: the code of this diagnostic has changed since; its scores are made anew")
    for note in plan.notes:
        tell(note)
    outcome = into(folder, request, plan, draws, start)
    for label in outcome.route:
        for note in outcome.notes(label):
            tell(f"{label}: {note}")
    result = outcome.result
    printed = print_tables(folder, result)
    if outcome.effort and not any(effort.texts for effort in outcome.effort.values()):
        tell(f"{folder.path} held all of this already: nothing was encoded or scored again")
    for failure in result.failures:
        say(f"failed: {failure.sentence}")
    if not result.rows:
        return FAILED_IN_PART if result.failures else FINE
    drawn = write_report(folder, result)
    if drawn:
        tell(f"report: {folder.report}")
    tell(f"result: {folder.path / 'result.json'}")
    return FINE if printed and drawn and not result.failures else FAILED_IN_PART


def _silent(message: str) -> None:
    """Say nothing."""


def print_tables(folder: RunFolder, result: Result) -> bool:
    """Print the tables and verdicts; where that fails, say why and return False."""
    from embassay.reports.terminal import show, stdout

    try:
        show(result, layouts(result), speeds(folder.record()), stdout())
    except BrokenPipeError:
        raise
    except Exception as error:
        say(f"failed: the tables cannot be printed: {reason_of(error)}; the figures are in {folder.path}/result.json")
        return False
    return True


def into(folder: RunFolder, request: RunRequest, plan: Plan, draws: Draws, start: float) -> Outcome:
    """Execute a plan, and write result and record into a folder that is open for it.

    Parameters
    ----------
    start
        When the work began, by ``time.perf_counter``.

    Returns
    -------
    What was done; its result is the one that was written.
    """
    outcome = _execute(request, plan, draws, folder)
    result = outcome.result if request.texts else without_texts(outcome.result)
    record = {**_record(folder.record(), outcome, time.perf_counter() - start), "notes": list(plan.notes)}
    if not request.texts:
        for known in trust(record).values():
            if known.get("reason"):
                known["reason"] = NO_TEXTS
    folder.write_result(result)
    folder.write_record({**record, "failures": [vars(failure) for failure in result.failures]})
    if not result.failures:
        folder.forget_encoding()
    return replace(outcome, result=result)


def write_report(folder: RunFolder, result: Result) -> bool:
    """Draw the page of the result that a folder holds by now; where that fails, say why and return False.

    The figures are in ``result.json`` by then: nothing that goes wrong with the page may take them away.
    """
    try:
        _draw(folder.report, result, folder.record())
    except Exception as error:
        reason = str(error) if isinstance(error, EmbassayError) else reason_of(error)
        say(f"failed: the report cannot be drawn: {reason}; the figures are in {folder.path / 'result.json'}")
        return False
    return True


def draw_again(run: Path, out: Path | None = None) -> Path:
    """Write the report of a run again from what its folder holds, and return where it is.

    Parameters
    ----------
    run
        The run's folder, or the ``result.json`` in it.
    out
        File to write; ``report.html`` in the folder by default.

    Raises
    ------
    SourceError
        If the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run, out = source_path(run), out and output_path(out)
    folder = RunFolder(run.parent if run.is_file() else run)
    record = folder.record()
    if record.get("state") == "running":
        raise SourceError("this run did not finish; give the same command again and it goes on", run)
    result = results.read(run / "result.json" if run.is_dir() else run)
    if not result.rows:
        failures = (f"failed: {failure.sentence}" for failure in result.failures)
        raise SourceError("; ".join(("nothing was scored in this run", *failures)), run)
    _draw(out or folder.report, result, record)
    return out or folder.report


def without_texts(result: Result) -> Result:
    """Return the result without any sentence of a corpus: not in examples, not in what a failure quotes."""
    examples = tuple(replace(example, texts={}) for example in result.examples)
    failures = tuple(replace(failure, reason=NO_TEXTS) for failure in result.failures)
    return replace(result, examples=examples, failures=failures)


def speeds(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the texts per second of each encoder, as ``run.json`` remembers them."""
    encoders: Mapping[str, Any] = record.get("encoders", {})
    return {name: e["texts_per_second"] for name, e in encoders.items() if e.get("texts_per_second")}


def trust(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return how far the vectors of each encoder can be trusted, as ``run.json`` remembers it."""
    encoders: Mapping[str, Any] = record.get("encoders", {})
    return {name: e["badges"] for name, e in encoders.items() if e.get("badges")}


def _draw(path: Path, result: Result, record: Mapping[str, Any]) -> None:
    from embassay.reports.page import render
    from embassay.store.canonical import write

    page = render(result, layouts(result), speeds(record), trust(record), record.get("notes", ()))
    write(path, page.encode("utf-8", "replace"))


def _execute(request: RunRequest, plan: Plan, draws: Draws, folder: RunFolder) -> Outcome:
    from embassay.run.progress import Bar

    progress: Progress = Quiet() if request.quiet else Bar()
    with VectorCache(request.cache_folder) if request.cache_folder else nullcontext() as vectors:
        outcome = execute(plan, draws, vectors, folder, progress)
        if vectors and vectors.trouble:
            say(f"the cache could not be written: {vectors.trouble}; no more vectors were kept")
    return outcome


def settings_of(request: RunRequest, plan: Plan) -> dict[str, Any]:
    """Return what makes a run this run and no other; the order of encoders is the order in the result."""
    return {
        "encoders": [[e.label, e.encoder.card.spec, _fingerprint(e.encoder), e.baseline] for e in plan.entries],
        "corpora": [[c.name, c.fingerprint] for c in plan.corpora],
        "diagnostics": [[t.name, t.version, dict(t.options), t.corpus.name] for t in plan.tasks],
        "seed": request.seed,
        "resamples": request.resamples,
        "texts": request.texts,
        "reference": request.reference,
    }


def _fingerprint(encoder: Encoder) -> str:
    """Return a fingerprint; of a service that does not answer the last one known: the run will say what is wrong.

    An encoder of unknown content has another fingerprint in each run. It is left out, so that the run goes on with what
    the other encoders have done.
    """
    if not getattr(encoder, "known", True):
        return ""
    try:
        return encoder.fingerprint
    except EncoderError:
        return getattr(encoder, "known_fingerprint", None) or ""


def _record(before: Mapping[str, Any], outcome: Outcome, seconds: float) -> dict[str, Any]:
    """Return ``run.json``: what is kept from before, and what this run took."""
    encoders: dict[str, Any] = dict(before.get("encoders", {}))
    for label, route in outcome.route.items():
        known, effort = encoders.get(label, {}), outcome.effort.get(label)
        if effort is None:
            encoders[label] = {**known, "route": route}  # it failed: what it took until then
            continue
        if effort.texts == 0 and known:
            continue  # all its scores were there: what they took is remembered from before
        encoders[label] = {
            "texts": effort.texts,
            "encoded": effort.encoded,
            "cached": effort.texts - effort.encoded,
            "seconds": round(effort.seconds, 3),
            "texts_per_second": outcome.speed.get(label, known.get("texts_per_second")),
            "route": route,
            "badges": asdict(found) if (found := outcome.badges.get(label)) else known.get("badges"),
        }
    return {
        **before,
        "state": "failed in part" if outcome.failures else "finished",
        "seconds": round(seconds, 3),
        "peak_memory_mib": peak_memory(),
        "encoders": encoders,
        **environment(),
    }
